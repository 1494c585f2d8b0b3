import assert from "node:assert/strict";
import { test } from "node:test";
import { AUTH_PATHS } from "../../packages/server/src/accounts/auth-paths.ts";
import { Browser, PASSWORD, developerOf, operatorOf } from "./accounts-browser.ts";
import { openRelay } from "./harness.ts";

/** A path with an id that is nobody's in each place. */
function placed(path: string): string {
  return path.replaceAll(/\{\w+\}/g, "01a22e4f-b549-7c77-872b-7c0ba5b507e6");
}

test("every address under /api that changes something refuses a foreign Origin, and none at all", async () => {
  await using relay = await openRelay();
  const operator = await operatorOf(relay);
  const changes = [
    ...relay.relay.api.operations.filter(({ path }) => path.startsWith("/api/")),
    ...AUTH_PATHS.map(({ method, path }) => ({
      method: method.toLowerCase(),
      path: `/api/auth${path}`,
    })),
  ].filter(({ method }) => method !== "get");
  assert.ok(changes.length > 40, `${changes.length}`);
  for (const { method, path } of changes) {
    for (const origin of ["https://evil.example", "null", "", `${relay.url}.evil.example`]) {
      const headers = { Origin: origin };
      const {
        status,
        body,
        headers: answered,
      } = await operator.ask(method.toUpperCase(), placed(path), {}, headers);
      const code = body["error"]?.code;
      assert.deepEqual([status, code], [403, "ORIGIN_NOT_ALLOWED"], `${path} ${origin}`);
      assert.equal(answered.get("access-control-allow-origin"), null);
    }
    const cookie = { Cookie: operator.cookie };
    const absent = await relay.rest(method.toUpperCase(), placed(path), null, {}, cookie);
    assert.equal(absent.body["error"]?.code, "ORIGIN_NOT_ALLOWED", path);
  }
  assert.equal((await operator.ask("GET", "/api/me")).status, 200);
});

test("every address under /api but those for anyone refuses who is not signed in", async () => {
  await using relay = await openRelay();
  const nobody = new Browser(relay);
  const operations = relay.relay.api.operations.filter(
    ({ path, by }) => path.startsWith("/api/") && by !== "anyone",
  );
  assert.ok(operations.length > 40, `${operations.length}`);
  for (const { method, path } of operations) {
    const body = method === "get" ? undefined : {};
    const { status } = await nobody.ask(method.toUpperCase(), placed(path), body);
    assert.equal(status, 401, `${method} ${path}`);
  }
  const open = relay.relay.api.operations.filter(
    ({ path, by }) => path.startsWith("/api/") && by === "anyone",
  );
  assert.deepEqual(
    open.map(({ method, path }) => `${method} ${path}`),
    ["get /api/features", "post /api/setup", "post /api/invitations/look"],
  );
});

test("another account's ids answer 404 on every address, as if they were not there", async () => {
  await using relay = await openRelay();
  const ann = await developerOf(relay, "Ann");
  const ben = await developerOf(relay, "Ben");
  const made = await ann.browser.ask("POST", "/api/projects", { name: "Notes" });
  const projectId = String(made.body["projectId"]);
  const link = await relay.rest("POST", "/v1/links", String(made.body["publishableKey"]), {});
  const ids: Readonly<Record<string, string>> = {
    accountId: ann.accountId,
    userId: ann.userId,
    projectId,
    linkId: String(link.body["linkId"]),
  };
  const operations = relay.relay.api.operations.filter(
    ({ path }) => path.startsWith("/api/projects/{") || path.startsWith("/api/accounts/{"),
  );
  assert.ok(operations.length > 25, `${operations.length}`);
  for (const { method, path } of operations) {
    const place = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? "x");
    const body = method === "get" ? undefined : {};
    const { status } = await ben.browser.ask(method.toUpperCase(), place, body);
    assert.equal(status, 404, `${method} ${place}`);
  }
  const mine = await ann.browser.ask("GET", `/api/projects/${projectId}/links/${ids["linkId"]}`);
  assert.equal(mine.status, 200);
});

test("under https cookies are this host's alone, and browsers are told to stay with https", async () => {
  await using relay = await openRelay({ RELAY_PUBLIC_URL: "https://relay.example.com/base" });
  const base = `http://127.0.0.1:${relay.port}`;
  const browser = await operatorOf(relay, base);
  assert.match(browser.cookie, /^__Host-relay\.session_token=/);
  const signedIn = await browser.signIn("op@example.com");
  const [cookie = ""] = signedIn.headers.getSetCookie();
  for (const part of ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"]) {
    assert.ok(cookie.split("; ").includes(part), part);
  }
  assert.doesNotMatch(cookie, /Domain=/i);
  for (const answer of [signedIn, await browser.ask("GET", "/api/me")]) {
    assert.equal(answer.headers.get("strict-transport-security"), "max-age=31536000");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
  }
  // With the prefix of the public URL, as a proxy may pass it on.
  assert.equal((await browser.ask("GET", "/base/api/me")).status, 200);
});

test("under http the cookie is for scripts' eyes neither, and nothing is said of https", async () => {
  await using relay = await openRelay();
  const browser = await operatorOf(relay);
  const { headers } = await browser.signIn("op@example.com");
  assert.match(
    headers.getSetCookie()[0] ?? "",
    /^relay\.session_token=\S+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  assert.equal(headers.get("strict-transport-security"), null);
});

test("what is refused under /api/auth has the API's shape, and says when to come back", async () => {
  await using relay = await openRelay();
  const browser = new Browser(relay);
  const wrong = await browser.signIn("nobody@example.com", PASSWORD);
  assert.equal(wrong.status, 401);
  assert.equal(wrong.body["error"].code, "INVALID_EMAIL_OR_PASSWORD");
  assert.equal(wrong.body["error"].requestId, wrong.headers.get("x-request-id"));
  assert.equal(wrong.body["code"], "INVALID_EMAIL_OR_PASSWORD");
  // Asks that cost no hash: a body that is not one.
  let last = wrong;
  for (let n = 0; n < 20 && last.status !== 429; n += 1) {
    last = await browser.ask("POST", "/api/auth/sign-in/email", { email: 1, password: 2 });
  }
  assert.equal(last.status, 429);
  assert.equal(last.body["error"].code, "RATE_LIMITED");
  assert.match(last.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  const missing = await browser.ask("POST", "/api/auth/admin/create-user", {});
  assert.equal(missing.status, 404);
  const large = await browser.ask("POST", "/api/auth/sign-out", { x: "x".repeat(70_000) });
  assert.equal(large.status, 413);
});
