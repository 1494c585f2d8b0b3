/** What every REST request has in common: addresses, methods, bodies, the shape of a refusal (SPEC 4). */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { openRelay } from "./harness.ts";
import type { JsonObject } from "./harness.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

const REQUEST_ID = /^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const PROJECTS = "/v1/operator/projects";
const NOBODY = "01990000-0000-7000-8000-000000000000";

type Answer = Awaited<ReturnType<typeof relay.rest>>;

function assertRefusal(answer: Answer, status: number, code: string): void {
  const requestId = answer.headers.get("x-request-id") ?? "";
  assert.match(requestId, REQUEST_ID);
  assert.equal(answer.headers.get("content-type"), "application/json");
  const message: unknown = answer.body["error"]?.message;
  assert.ok(typeof message === "string" && message !== "", JSON.stringify(answer.body));
  assert.deepEqual([answer.status, answer.body], [status, { error: { code, message, requestId } }]);
}

/** Writes a request by hand and reads everything that comes back, then the connection's end. */
async function raw(request: string): Promise<{ head: string; body: JsonObject }> {
  const tcp = connect(relay.port, "127.0.0.1");
  tcp.write(request);
  const [head = "", body = ""] = (await text(tcp)).split(/\r\n\r\n(.*)/s);
  return { head, body: JSON.parse(body) as JsonObject };
}

function headOf(method: string, path: string, lines: readonly string[]): string {
  const common = ["Host: localhost", "Connection: close", ...lines];
  return `${[`${method} ${path} HTTP/1.1`, ...common].join("\r\n")}\r\n\r\n`;
}

test("an address that is not there gets 404, whoever asks", async () => {
  const project = await relay.project();
  for (const path of ["/v1", "/v1/nope", "/v2/links", "/v1/links/", "/v1/project/x", "/%", "//"]) {
    for (const key of [null, project.secretKey, relay.operatorToken]) {
      assertRefusal(await relay.rest("GET", path, key), 404, "NOT_FOUND");
    }
  }
});

test("a method that an address does not take gets 405 and those it takes", async () => {
  const link = `/v1/links/${NOBODY}`;
  const methods: readonly (readonly [string, string, string])[] = [
    ["/v1/links", "GET, OPTIONS, POST", "DELETE"],
    [link, "GET, PATCH", "POST"],
    [`${link}/rotate`, "POST", "GET"],
    [`${link}/pause`, "POST", "DELETE"],
    [`${link}/resume`, "POST", "PUT"],
    [`${link}/revoke`, "POST", "PATCH"],
    ["/v1/project", "GET, PATCH", "DELETE"],
    ["/v1/calls", "GET", "POST"],
    ["/v1/usage", "GET", "OPTIONS"],
    [PROJECTS, "GET, POST", "PATCH"],
    [`${PROJECTS}/${NOBODY}`, "GET, PATCH", "DELETE"],
    [`${PROJECTS}/${NOBODY}/keys`, "GET, POST", "PUT"],
    [`${PROJECTS}/${NOBODY}/keys/${NOBODY}`, "DELETE", "GET"],
    ["/healthz", "GET", "POST"],
    ["/readyz", "GET", "DELETE"],
  ];
  for (const [path, allow, method] of methods) {
    const answer = await relay.rest(method, path, null);
    assertRefusal(answer, 405, "METHOD_NOT_ALLOWED");
    const allowed = answer.headers.get("allow")?.split(", ").toSorted().join(", ");
    assert.equal(allowed, allow, `${method} ${path}`);
  }
});

test("every answer has its own request id, and tells caches and browsers to keep off", async () => {
  const project = await relay.project();
  const answers = [
    await relay.rest("GET", "/healthz", null),
    await relay.rest("GET", "/v1/project", project.secretKey),
    await relay.rest("GET", "/v1/project", null),
    await relay.rest("POST", "/v1/links", project.publishableKey),
    await relay.rest("GET", "/nope", null),
  ];
  const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "");
  for (const id of ids) assert.match(id, REQUEST_ID);
  assert.equal(new Set(ids).size, ids.length);
  for (const { headers } of answers) {
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("www-authenticate"), null);
  }
  const head = await fetch(`${relay.url}/healthz`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.match(head.headers.get("x-request-id") ?? "", REQUEST_ID);
});

test("bodies of every kind of sender are read: chunked, without a length, with an odd type", async () => {
  const type = "Content-Type: application/json;charset=UTF-8";
  const auth = `Authorization: Bearer ${relay.operatorToken}`;
  const chunked = await raw(
    `${headOf("POST", PROJECTS, [auth, type, "Transfer-Encoding: chunked"])}a\r\n{"name":"A\r\n2\r\n"}\r\n0\r\n\r\n`,
  );
  assert.match(chunked.head, /^HTTP\/1\.1 201 /);
  const { projectId, name } = chunked.body;
  assert.equal(name, "A");
  const { publishableKey } = chunked.body;
  const bare = await raw(headOf("POST", "/v1/links", [`Authorization: Bearer ${publishableKey}`]));
  assert.match(bare.head, /^HTTP\/1\.1 201 /, "neither length nor type");
  const keys = `${PROJECTS}/${projectId}/keys`;
  const listed = await relay.rest("GET", keys, relay.operatorToken);
  const [{ keyId }] = listed.body["items"];
  const gone = await raw(headOf("DELETE", `${keys}/${keyId}`, [auth]));
  assert.match(gone.head, /^HTTP\/1\.1 200 /);
});

test("a body that is too large, of the wrong type or no JSON is refused everywhere", async () => {
  const project = await relay.project();
  const large = JSON.stringify({ x: "y".repeat(65_536) });
  const places: readonly (readonly [string, string, string])[] = [
    ["POST", PROJECTS, relay.operatorToken],
    ["PATCH", `${PROJECTS}/${project.projectId}`, relay.operatorToken],
    ["POST", `${PROJECTS}/${project.projectId}/keys`, relay.operatorToken],
    ["PATCH", "/v1/project", project.secretKey],
    ["POST", "/v1/links", project.publishableKey],
  ];
  for (const [method, path, key] of places) {
    const send = (body: string, headers = {}): Promise<Answer> =>
      relay.rest(method, path, key, body, headers);
    assertRefusal(await send(large), 413, "PAYLOAD_TOO_LARGE");
    assertRefusal(
      await send("{}", { "Content-Type": "text/plain" }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    );
    for (const body of ["{", "[]", "null", "5", '"a"', "\ufeff{}"]) {
      assertRefusal(await send(body), 400, "VALIDATION_ERROR");
    }
  }
  const fits = JSON.stringify({ name: "a", x: "y".repeat(65_536 - 19) });
  assert.equal(Buffer.byteLength(fits), 65_536);
  assert.equal((await relay.rest("POST", PROJECTS, relay.operatorToken, fits)).status, 201);
});

test("a body without a length is counted as it comes, and one that is not UTF-8 is refused", async () => {
  const head = (lines: readonly string[]): string =>
    headOf("POST", PROJECTS, [
      `Authorization: Bearer ${relay.operatorToken}`,
      "Content-Type: application/json",
      ...lines,
    ]);
  const chunk = `2000\r\n${"y".repeat(0x2000)}\r\n`;
  const large = await raw(`${head(["Transfer-Encoding: chunked"])}${chunk.repeat(20)}`);
  assert.match(large.head, /^HTTP\/1\.1 413 /);
  assert.equal(large.body["error"].code, "PAYLOAD_TOO_LARGE");
  const tcp = connect(relay.port, "127.0.0.1");
  tcp.write(head(["Content-Length: 12"]));
  tcp.write(Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]));
  assert.match(await text(tcp), /^HTTP\/1\.1 400 .*"The body is not valid UTF-8"/s);
});

test("while the store is away what needs it gets 503, and what only reads goes on", async () => {
  const project = await relay.project();
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"));
  db.exec("BEGIN IMMEDIATE");
  const answers = await Promise.all([
    relay.rest("POST", "/v1/links", project.publishableKey),
    relay.rest("PATCH", "/v1/project", project.secretKey, { name: "b" }),
    relay.rest("GET", "/readyz", null),
    relay.rest("GET", "/v1/project", project.secretKey),
    relay.rest("GET", "/healthz", null),
  ]);
  db.exec("ROLLBACK");
  db.close();
  for (const answer of answers.slice(0, 3)) {
    assertRefusal(answer, 503, "UNAVAILABLE");
    assert.equal(answer.headers.get("retry-after"), "5");
  }
  assert.equal(answers[2]?.body["error"].message, "the store can't be written");
  assert.deepEqual(
    answers.slice(3).map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await relay.rest("GET", "/readyz", null)).status, 200);
  assert.equal((await relay.rest("POST", "/v1/links", project.publishableKey)).status, 201);
});
