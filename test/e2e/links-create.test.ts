/** `POST /v1/links`: what it gives, whom it refuses and in which order (SPEC 4). */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { connectApp, openRelay, post } from "./harness.ts";
import type { JsonObject, TestLink, TestRelay } from "./harness.ts";

const relay = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "100000" });
after(() => relay[Symbol.asyncDispose]());

const FACE = "\u{1f600}";
const HOUR_MS = 3_600_000;
const APP_ORIGIN = "https://app.example.com";

type Answer = Awaited<ReturnType<TestRelay["rest"]>>;

function create(
  key: string | null,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  at: TestRelay = relay,
): Promise<Answer> {
  return at.rest("POST", "/v1/links", key, body, headers);
}

/** Checks a refusal as a whole: status, code, message, and that a browser may read it. */
function refused(answer: Answer, status: number, code: string, message: string | RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  const { error } = answer.body;
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  assert.deepEqual(error, {
    code,
    message: error.message,
    requestId: answer.headers.get("x-request-id"),
  });
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.equal(answer.headers.get("access-control-allow-credentials"), null);
}

test("a link is its ids, tokens and addresses, and nothing more", async () => {
  const { publishableKey } = await relay.project();
  const made = await create(publishableKey, { label: "Ada's laptop" });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("access-control-allow-origin"), "*");
  assert.equal(made.headers.get("cache-control"), "no-store");
  const { linkId, linkToken, mcpUrl, socketUrl, label, createdAt, ...more } = made.body;
  assert.deepEqual(more, {});
  assert.match(linkId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(linkToken, /^lt_[0-9A-Za-z]{32}$/);
  assert.match(mcpUrl.slice(`${relay.url}/v1/mcp/`.length), /^ut_[0-9A-Za-z]{32}$/);
  assert.ok(mcpUrl.startsWith(`${relay.url}/v1/mcp/`));
  assert.equal(socketUrl, `${relay.url.replace("http", "ws")}/v1/socket`);
  assert.equal(label, "Ada's laptop");
  assert.equal(new Date(createdAt).toISOString(), createdAt);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  const again = await create(publishableKey, { label: "Ada's laptop" });
  for (const field of ["linkId", "linkToken", "mcpUrl"]) {
    assert.notEqual(again.body[field], made.body[field]);
  }
});

test("MCP URLs begin with the base that is set for them, and the rest with the public one", async () => {
  await using split = await openRelay({
    RELAY_PUBLIC_URL: "https://api.example.com/relay/",
    RELAY_MCP_PUBLIC_URL: "https://mcp.example.com",
  });
  const base = `http://127.0.0.1:${split.port}`;
  const made = await fetch(`${base}/v1/operator/projects`, {
    method: "POST",
    headers: { Authorization: `Bearer ${split.operatorToken}`, "Content-Type": "application/json" },
    body: '{"name":"Notes"}',
  });
  const { publishableKey } = (await made.json()) as JsonObject;
  const link = await fetch(`${base}/relay/v1/links`, {
    method: "POST",
    headers: { Authorization: `Bearer ${publishableKey}` },
  });
  const { mcpUrl, socketUrl } = (await link.json()) as TestLink;
  assert.match(mcpUrl, /^https:\/\/mcp\.example\.com\/v1\/mcp\/ut_/);
  assert.equal(socketUrl, "wss://api.example.com/relay/v1/socket");
});

test("the label is optional, up to 64 code points; unknown fields are ignored", async () => {
  const { publishableKey: key } = await relay.project();
  const bodies: readonly (readonly [unknown, string | null])[] = [
    [undefined, null],
    ["", null],
    [" \n", null],
    ["{}", null],
    [{ label: FACE.repeat(64) }, FACE.repeat(64)],
    [{ label: "a", mcpUrl: "x", linkId: "y", extra: [1] }, "a"],
    ['{"__proto__":{"label":5},"label":"b"}', "b"],
  ];
  for (const [body, label] of bodies) {
    const made = await create(key, body);
    assert.equal(made.status, 201, JSON.stringify([body, made.body]));
    assert.equal(made.body["label"], label);
  }
  const typed = await create(key, '{"label":"c"}', {
    "Content-Type": "Application/JSON; charset=utf-8",
  });
  assert.equal(typed.body["label"], "c");
  const untyped = await fetch(`${relay.url}/v1/links`, {
    method: "POST",
    headers: { Authorization: `bearer ${key}` },
  });
  assert.equal(untyped.status, 201, "an empty body needs no type, and schemes no case");
  await untyped.body?.cancel();
});

test("a body that is no object with a fitting label is refused", async () => {
  const { publishableKey: key } = await relay.project();
  const bodies: readonly (readonly [unknown, string | RegExp])[] = [
    ["{", "The body is not valid JSON"],
    ["label=a", "The body is not valid JSON"],
    ["[]", /must be a JSON object/],
    ["null", /must be a JSON object/],
    ['"a"', /must be a JSON object/],
    ["5", /must be a JSON object/],
    [{ label: 5 }, "label: must be a string"],
    [{ label: null }, "label: must be a string"],
    [{ label: ["a"] }, "label: must be a string"],
    [{ label: `${FACE.repeat(64)}x` }, "label: must be 1 to 64 characters"],
    ['{"label":"\\ud800"}', "label: must not hold half a surrogate pair"],
    ['{"label":"a\\u0000b"}', "label: must not hold a NUL character"],
  ];
  for (const [body, message] of bodies) {
    refused(await create(key, body), 400, "VALIDATION_ERROR", message);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
    const answer = await create(key, '{"label":"a"}', { "Content-Type": type });
    refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json");
  }
  const large = await create(key, { label: "a", x: "y".repeat(70_000) });
  refused(large, 413, "PAYLOAD_TOO_LARGE", /^The body is over \d+ bytes$/);
});

test("a key that is missing, unknown, of another kind, revoked or expired gets 401", async () => {
  const project = await relay.project();
  const link = await project.link();
  const keys = `/v1/operator/projects/${project.projectId}/keys`;
  const revoked = await relay.rest("POST", keys, relay.operatorToken, { kind: "pk" });
  await relay.rest("DELETE", `${keys}/${revoked.body["keyId"]}`, relay.operatorToken);
  const expired = await relay.rest("POST", keys, relay.operatorToken, {
    kind: "pk",
    expiresAt: "2020-01-01T00:00:00Z",
  });
  assert.equal(expired.status, 201);
  const wrong = [
    null,
    "",
    `pk_${"0".repeat(32)}`,
    `sk_${"0".repeat(32)}`,
    project.publishableKey.slice(0, -1),
    relay.operatorToken,
    link.linkToken,
    revoked.body["key"],
    expired.body["key"],
  ];
  for (const key of wrong) {
    refused(await create(key), 401, "UNAUTHORIZED", "Missing or invalid publishable key");
  }
  const basic = await create(null, undefined, { Authorization: `Basic ${project.publishableKey}` });
  refused(basic, 401, "UNAUTHORIZED", "Missing or invalid publishable key");
  assert.equal((await create(project.secretKey)).status, 201, "a secret key works too");
});

test("an Origin must be on the project's list; an empty list takes every one", async () => {
  const listed = await relay.project({ allowedOrigins: [APP_ORIGIN, "capacitor://localhost"] });
  for (const origin of [
    "https://evil.example",
    "null",
    `${APP_ORIGIN}:444`,
    APP_ORIGIN.slice(0, -1),
  ]) {
    const answer = await create(listed.publishableKey, {}, { Origin: origin });
    refused(answer, 403, "ORIGIN_NOT_ALLOWED", "The project does not allow this Origin");
  }
  for (const headers of [{ Origin: APP_ORIGIN }, { Origin: "capacitor://localhost" }, {}]) {
    assert.equal((await create(listed.publishableKey, {}, headers)).status, 201);
  }
  const open = await relay.project();
  assert.equal((await create(open.publishableKey, {}, { Origin: "null" })).status, 201);
});

test("a browser's preflight is answered, for any origin and without credentials", async () => {
  const response = await fetch(`${relay.url}/v1/links`, {
    method: "OPTIONS",
    headers: {
      Origin: "https://anyone.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type",
    },
  });
  assert.equal(response.status, 204);
  assert.equal(await response.text(), "");
  const { headers } = response;
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.match(headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
  assert.match(headers.get("access-control-allow-headers") ?? "", /authorization/i);
  assert.match(headers.get("access-control-allow-headers") ?? "", /content-type/i);
  assert.equal(headers.get("access-control-max-age"), "86400");
  assert.equal(headers.get("access-control-allow-credentials"), null);
  assert.match(headers.get("x-request-id") ?? "", /^req_/);
  const { publishableKey } = await relay.project();
  const made = await create(publishableKey, {}, { Origin: "https://anyone.example" });
  assert.match(
    made.headers.get("access-control-expose-headers") ?? "",
    /X-Request-Id, Retry-After/,
  );
});

test("the first that applies refuses: key, rate, suspended, origin, body", async () => {
  await using small = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "1" });
  const project = await small.project({ allowedOrigins: [APP_ORIGIN] });
  const evil = { Origin: "https://evil.example" };
  const large = JSON.stringify({ x: "y".repeat(70_000) });
  const ask = async (key: string, body: string, headers = {}): Promise<unknown> =>
    (await create(key, body, headers, small)).body["error"]?.code ?? "created";

  await project.change({ suspended: true });
  const unknown = `pk_${"0".repeat(32)}`;
  for (const body of ["{", large]) {
    assert.equal(await ask(unknown, body, evil), "UNAUTHORIZED");
    assert.equal(await ask(project.publishableKey, body, evil), "PROJECT_SUSPENDED");
  }
  await project.change({ suspended: false });
  for (const body of ["{", large]) {
    assert.equal(await ask(project.publishableKey, body, evil), "ORIGIN_NOT_ALLOWED");
  }
  assert.equal(await ask(project.publishableKey, "{"), "VALIDATION_ERROR");
  assert.equal(await ask(project.publishableKey, large), "PAYLOAD_TOO_LARGE");
  assert.equal(await ask(project.publishableKey, "{}"), "created", "none of those used it up");
  await project.change({ suspended: true });
  for (const body of ["{", large]) {
    assert.equal(await ask(project.publishableKey, body, evil), "RATE_LIMITED");
    assert.equal(await ask(unknown, body, evil), "UNAUTHORIZED");
  }
});

test("an address may create so many links a minute; only created ones use it up", async () => {
  await using small = await openRelay({
    RELAY_LINKS_PER_IP_PER_MINUTE: "3",
    RELAY_LINKS_PER_PROJECT: "1",
    RELAY_TRUST_PROXY: "1",
  });
  const from = (ip: string) => ({ "X-Forwarded-For": `198.51.100.9, ${ip}` });
  const [full, second, third, fourth] = [
    await small.project(),
    await small.project(),
    await small.project(),
    await small.project(),
  ];
  const ip = from("203.0.113.1");
  assert.equal((await create(full.publishableKey, {}, ip, small)).status, 201);
  for (let count = 0; count < 5; count += 1) {
    const answer = await create(full.publishableKey, {}, ip, small);
    refused(answer, 403, "LIMIT_REACHED", "The project has 1 links");
    assert.equal((await create(second.publishableKey, "{", ip, small)).status, 400);
    assert.equal((await create(null, {}, ip, small)).status, 401);
  }
  assert.equal((await create(second.publishableKey, {}, ip, small)).status, 201);
  assert.equal((await create(third.publishableKey, {}, ip, small)).status, 201);
  const over = await create(fourth.publishableKey, {}, ip, small);
  refused(over, 429, "RATE_LIMITED", /^Too many requests; try again in \d+ s$/);
  const wait = Number(over.headers.get("retry-after"));
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `${wait}`);
  const other = await create(fourth.publishableKey, {}, from("203.0.113.2"), small);
  assert.equal(other.status, 201, "another address has its own minute");
});

test("IPv6 addresses are counted by their /64, and the header only where a proxy is trusted", async () => {
  const env = { RELAY_LINKS_PER_IP_PER_MINUTE: "1" };
  await using behind = await openRelay({ ...env, RELAY_TRUST_PROXY: "1" });
  const { publishableKey } = await behind.project();
  const statusFrom = async (ip: string, at = behind, key = publishableKey): Promise<number> =>
    (await create(key, {}, { "X-Forwarded-For": ip }, at)).status;
  assert.equal(await statusFrom("2001:db8:1:2::1"), 201);
  assert.equal(await statusFrom("2001:db8:1:2:ffff:ffff:ffff:ffff"), 429);
  assert.equal(await statusFrom("2001:db8:1:3::1"), 201);
  assert.equal(await statusFrom("192.0.2.1"), 201);
  assert.equal(await statusFrom("::ffff:192.0.2.1"), 429, "the same address written as IPv6");
  await using direct = await openRelay(env);
  const project = await direct.project();
  assert.equal(await statusFrom("192.0.2.1", direct, project.publishableKey), 201);
  assert.equal(await statusFrom("192.0.2.2", direct, project.publishableKey), 429);
});

test("requests that come at once can't pass a limit together", async () => {
  await using small = await openRelay({
    RELAY_LINKS_PER_IP_PER_MINUTE: "8",
    RELAY_LINKS_PER_PROJECT: "5",
  });
  const [one, two] = [await small.project(), await small.project()];
  const statuses = async (key: string): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create(key, { label: "at once" }, {}, small)),
    );
    return answers.filter(({ status }) => status === 201).length;
  };
  assert.equal(await statuses(one.publishableKey), 5, "links of the project");
  assert.equal(await statuses(two.publishableKey), 3, "links of the address");
});

test("requests whose bodies come late can't pass a limit together either", async () => {
  await using small = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "2" });
  const { publishableKey } = await small.project();
  const lines = [
    "POST /v1/links HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    `Authorization: Bearer ${publishableKey}`,
    "Content-Type: application/json",
    "Content-Length: 2",
  ];
  const slow = Array.from({ length: 6 }, () => {
    const tcp = connect(small.port, "127.0.0.1");
    tcp.write(`${lines.join("\r\n")}\r\n\r\n{`);
    return tcp;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const tcp of slow) tcp.write("}");
  const answers = await Promise.all(slow.map((tcp) => text(tcp)));
  assert.equal(answers.filter((answer) => answer.startsWith("HTTP/1.1 201 ")).length, 2);
  assert.equal(answers.filter((answer) => answer.startsWith("HTTP/1.1 429 ")).length, 4);
});

test("at the project's limit the oldest link that was never used gives way after an hour", async () => {
  await using small = await openRelay({ RELAY_LINKS_PER_PROJECT: "3" });
  const project = await small.project();
  const [used, oldest, older] = [await project.link(), await project.link(), await project.link()];
  const app = await connectApp(used);
  await app.close();
  const full = (answer: Answer): void =>
    refused(answer, 403, "LIMIT_REACHED", "The project has 3 links");
  full(await create(project.publishableKey, {}, {}, small));
  age(small, used, 5 * HOUR_MS);
  full(await create(project.publishableKey, {}, {}, small));
  age(small, oldest, 2 * HOUR_MS);
  age(small, older, HOUR_MS + 60_000);
  assert.equal((await create(project.publishableKey, {}, {}, small)).status, 201);
  assert.equal((await post(oldest.mcpUrl, PING)).status, 404, "it is gone");
  assert.equal((await post(older.mcpUrl, PING)).status, 200);
  assert.equal((await post(used.mcpUrl, PING)).status, 200);
  assert.equal((await create(project.publishableKey, {}, {}, small)).status, 201);
  assert.equal((await post(older.mcpUrl, PING)).status, 404);
  full(await create(project.publishableKey, {}, {}, small));
  await small.rest("POST", `/v1/links/${used.linkId}/revoke`, project.secretKey);
  assert.equal(
    (await create(project.publishableKey, {}, {}, small)).status,
    201,
    "a revoked one does not count",
  );
  full(await create(project.publishableKey, {}, {}, small));
});

const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** Makes a link older than it is. */
function age(at: TestRelay, link: TestLink, ms: number): void {
  const db = new DatabaseSync(join(at.dataDir, "relay.db"), { timeout: 1000 });
  const sql = "UPDATE links SET created_at = created_at - ? WHERE link_id = ?";
  assert.equal(db.prepare(sql).run(ms, link.linkId).changes, 1);
  db.close();
}
