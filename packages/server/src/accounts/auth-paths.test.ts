import assert from "node:assert/strict";
import { test } from "node:test";
import { AUTH_PATHS, findAuthPath } from "./auth-paths.ts";
import { authOptions, openAuthDatabase } from "./auth-options.ts";
import { featuresOf } from "./auth-settings.ts";
import { isOwnPath } from "./own-path.ts";
import { ANN, TestAccounts, cookieOf } from "./test/open-accounts.ts";

const GITHUB = { clientId: "client", clientSecret: "secret" } as const;

/** Where a browser would be led from a page of ours; null where it is nowhere. */
function landingOf(path: string): string | null {
  const from = "https://relay.example.com/sign-in";
  return URL.canParse(path, from) ? new URL(path, from).origin : null;
}

const FOREIGN = [
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "\\\\evil.example",
  "/..//evil.example",
  "javascript:alert(1)",
  "https:evil.example",
  "evil.example",
  "",
  "/a\nb",
  "/ä",
  " /",
  "https://relay.example.com.evil.example/",
  "https://relay.example.com@evil.example/",
  `/${"a".repeat(2_000)}`,
] as const;

const OWN = [
  "/",
  "/sign-in",
  "/projects/01?tab=calls&from=2026-01-01",
  "/invitation#joined",
] as const;

test("only paths of this Relay's own are led to", () => {
  for (const path of FOREIGN) assert.equal(isOwnPath(path), false, path);
  for (const path of OWN) {
    assert.equal(isOwnPath(path), true, path);
    assert.equal(landingOf(path), "https://relay.example.com");
  }
});

test("a place to go on to that is not this Relay's own is refused, in every field that names one", async (t) => {
  const people = new TestAccounts(t, { github: GITHUB, mails: true });
  const fields = AUTH_PATHS.flatMap(({ path, paths = [] }) => paths.map((field) => [path, field]));
  assert.ok(fields.length >= 6);
  for (const [path = "", field = ""] of fields) {
    for (const value of ["https://evil.example", "//evil.example", 7]) {
      const answer = await people.post(path, { ...ANN, [field]: value });
      assert.equal(answer.status, 400, `${path} ${field}`);
      assert.match(JSON.stringify(answer.body), new RegExp(`${field}: must be a path`));
    }
  }
});

test("a letter's link leads on to this Relay's own pages alone", async (t) => {
  const people = new TestAccounts(t, { mails: true });
  for (const next of ["https://evil.example", "//evil.example"]) {
    const search = `?token=wrong&callbackURL=${encodeURIComponent(next)}`;
    const { location, status } = await people.get("/verify-email", "", search);
    assert.equal(status, 302);
    assert.match(location ?? "", /^\/\?error=/);
  }
});

test("of all addresses that better-auth has, those of the table are served and no other", async (t) => {
  const { betterAuth } = await import("better-auth");
  const people = new TestAccounts(t, { github: GITHUB, mails: true });
  await people.post("/sign-up/email", ANN);
  const deps = people.deps;
  const features = featuresOf(deps);
  const database = openAuthDatabase(people.dataDir);
  t.after(() => database.close());
  const auth = betterAuth(authOptions(deps, features, database));
  const known = Object.values(auth.api).flatMap((endpoint) => {
    const { path, options } = endpoint as { path?: string; options?: { method?: unknown } };
    return path === undefined ? [] : [{ path, methods: [options?.method].flat() }];
  });
  assert.ok(known.length > 40, `${known.length}`);
  const paths = new Set(known.map(({ path }) => path));
  for (const { path } of AUTH_PATHS) {
    if (path !== "/callback/github") assert.ok(paths.has(path), path);
  }
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  const table = new Set(AUTH_PATHS.map(({ path }) => path));
  for (const path of [...paths].filter((name) => !table.has(name))) {
    const place = path.replace(":token", "x").replace(":id", "google");
    assert.equal((await people.post(place, {}, { cookie })).status, 404, path);
    assert.equal((await people.get(place, cookie)).status, 404, path);
    assert.equal(people.accounts.serves("POST", place), false);
  }
});

test("what is not configured is not served", () => {
  const features = { signUp: "invited", mail: false, github: false, passkeys: false } as const;
  for (const { method, path, needs } of AUTH_PATHS) {
    assert.equal(findAuthPath(features, method, path) !== null, needs === undefined, path);
  }
});

test("passkeys are offered where browsers give them: by name, over https or on this machine", () => {
  const offered = (publicUrl: string): boolean =>
    featuresOf({ publicUrl, signUp: "invited", github: null, mail: null }).passkeys;
  for (const url of ["https://relay.example.com", "http://localhost:8787", "http://a.localhost"]) {
    assert.equal(offered(url), true, url);
  }
  for (const url of [
    "http://127.0.0.1:8787",
    "http://192.168.1.7",
    "https://192.168.1.7",
    "https://[::1]:8787",
    "http://relay.example.com",
  ]) {
    assert.equal(offered(url), false, url);
  }
});

test("GitHub gets the address to come back to, and a script gets no redirect", async (t) => {
  const people = new TestAccounts(t, { github: GITHUB });
  const asked = { callbackURL: "/projects", provider: "google", disableRedirect: false };
  const { status, location, body } = await people.post("/sign-in/social", asked);
  assert.deepEqual([status, location], [200, null]);
  const url = new URL(String(body !== null && "url" in body ? body["url"] : ""));
  assert.equal(url.origin, "https://github.com");
  assert.equal(
    url.searchParams.get("redirect_uri"),
    "https://relay.example.com/base/api/auth/callback/github",
  );
});

test("a name has one line of at most 64 characters", async (t) => {
  const people = new TestAccounts(t);
  for (const name of ["", " ", "a\nb", "x".repeat(65), "\ud800", 7, null]) {
    const { status } = await people.post("/sign-up/email", { ...ANN, name });
    assert.equal(status, 400, JSON.stringify(name));
  }
  assert.equal(await people.accounts.hasUsers(), false);
});

test("passwords have 10 to 128 characters", async (t) => {
  const people = new TestAccounts(t);
  for (const length of [9, 129]) {
    const password = "x".repeat(length);
    assert.equal((await people.post("/sign-up/email", { ...ANN, password })).status, 400);
  }
  assert.equal(people.passwords.spent(), 0);
});

test("settings of better-auth's own in the environment change nothing", async (t) => {
  process.env["BETTER_AUTH_TELEMETRY"] = "1";
  process.env["BETTER_AUTH_SECRET"] = "somebody else's secret, long enough to be taken for one";
  const people = new TestAccounts(t);
  await people.accounts.hasUsers();
  assert.equal(process.env["BETTER_AUTH_TELEMETRY"], undefined);
  assert.equal(process.env["BETTER_AUTH_SECRET"], undefined);
});
