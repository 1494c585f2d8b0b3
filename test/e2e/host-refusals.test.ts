/** The HTTP rules of the product spec's table: what stops a POST before any method runs. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, connectApp, openRelay, post, textOf, callTool } from "./harness.ts";
import type { HostAnswer, TestLink } from "./harness.ts";
import { assertMcpHeaders } from "./host-headers.ts";
import { exchange, requestText } from "./host-raw.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());
const project = await relay.project();
const link = await project.link();

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const PONG = '{"jsonrpc":"2.0","id":1,"result":{}}';
const BODY_MAX = 80 * 1024;
const VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"];

/** An answer that stops a request: its status, code and (in part) message; `id` as it was written. */
function assertRefused(
  answer: HostAnswer,
  status: number,
  code: number,
  message: RegExp,
  id?: unknown,
): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.message["jsonrpc"], "2.0");
  assert.equal(answer.message["error"].code, code, answer.text);
  assert.match(answer.message["error"].message, message);
  assert.deepEqual(answer.message["id"], id, answer.text);
  assert.equal("result" in answer.message, false);
}

test("an unknown, malformed, rotated or revoked URL token gets 404, never 401", async () => {
  const rotated = await project.link();
  const revoked = await project.link();
  const base = link.mcpUrl.slice(0, -35);
  const act = ({ linkId }: TestLink, action: string): Promise<{ status: number }> =>
    relay.rest("POST", `/v1/links/${linkId}/${action}`, project.secretKey);
  for (const { mcpUrl } of [rotated, revoked]) assert.equal((await post(mcpUrl, PING)).status, 200);
  assert.equal((await act(rotated, "rotate")).status, 200);
  assert.equal((await act(revoked, "revoke")).status, 200);
  const unknown = [
    "ut_",
    "ut_short",
    `ut_${"x".repeat(32)}`,
    `ut_${"x".repeat(33)}`,
    "x",
    "%00",
    "é",
  ];
  const linkToken = link.linkToken;
  const urls = [...unknown, linkToken, project.secretKey].map((token) => base + token);
  for (const url of [...urls, rotated.mcpUrl, revoked.mcpUrl, `${link.mcpUrl}/more`]) {
    const answer = await post(url, PING);
    assertRefused(answer, 404, -32600, /^Unknown MCP URL$/);
    assertMcpHeaders(answer.headers, url);
  }
});

test("an app's own rotate makes the old URL 404 and the new one work", async () => {
  const own = await relay.link();
  const app = await connectApp(own, ECHO);
  app.send({ type: "link.rotate", id: "r1" });
  const { mcpUrl } = await app.next("link.rotated");
  assertRefused(await post(own.mcpUrl, PING), 404, -32600, /Unknown MCP URL/);
  assert.equal(textOf(await callTool(mcpUrl)), '{"query":"invoices"}');
  app.send({ type: "link.revoke", id: "r2" });
  await app.next("link.revoked");
  assertRefused(await post(mcpUrl, PING), 404, -32600, /Unknown MCP URL/);
});

test("an Origin passes if it is https, or http on loopback while Relay itself is on http", async () => {
  const pass = ["https://claude.ai", "https://x.example:8443", "http://localhost:3000"];
  const local = ["http://127.0.0.1:5173", "http://127.9.9.9", "http://[::1]:80"];
  const refused = ["http://evil.example", "null", "", "http://localhost.evil.example", "file://"];
  const odd = [
    "vscode-webview://x",
    "ws://localhost",
    "httpsx://a",
    "http://127.0.0.1.evil.example",
  ];
  for (const origin of [...pass, ...local]) {
    assert.equal((await post(link.mcpUrl, PING, { Origin: origin })).text, PONG, origin);
  }
  for (const origin of [...refused, ...odd]) {
    const answer = await post(link.mcpUrl, PING, { Origin: origin });
    assertRefused(answer, 403, -32600, /Origin/);
  }
  await using behind = await openRelay({ RELAY_PUBLIC_URL: "https://relay.example.com" });
  const made = await exchangeLink(behind.port, behind.operatorToken);
  for (const origin of [...local, "http://localhost", ...refused]) {
    const headers = { "Content-Type": "application/json", Connection: "close", Origin: origin };
    const answer = await exchange(
      behind.port,
      requestText(behind.port, "POST", made, headers, PING),
    );
    assert.equal(answer.status, 403, origin);
  }
});

/** Makes a link where the public URL leads nowhere; returns the path of its MCP URL. */
async function exchangeLink(port: number, token: string): Promise<string> {
  const at = async (path: string, key: string, body: string): Promise<string> => {
    const headers = { Authorization: `Bearer ${key}`, Connection: "close" };
    const json = { ...headers, "Content-Type": "application/json" };
    return (await exchange(port, requestText(port, "POST", path, json, body))).body;
  };
  const made = JSON.parse(await at("/v1/operator/projects", token, '{"name":"Notes"}'));
  const { mcpUrl } = JSON.parse(await at("/v1/links", String(made.publishableKey), "{}"));
  return new URL(String(mcpUrl)).pathname;
}

test("a Content-Type that is not application/json gets 415", async () => {
  for (const type of [
    "text/plain",
    "application/json-rpc",
    "application/jsonx",
    "text/json",
    " ",
  ]) {
    const answer = await post(link.mcpUrl, PING, { "Content-Type": type });
    assertRefused(answer, 415, -32600, /application\/json/);
  }
  const { pathname } = new URL(link.mcpUrl);
  const none = requestText(relay.port, "POST", pathname, { Connection: "close" }, PING);
  assert.equal((await exchange(relay.port, none)).status, 415);
  for (const type of [
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/json;x=y",
  ]) {
    assert.equal((await post(link.mcpUrl, PING, { "Content-Type": type })).text, PONG, type);
  }
});

test("a body over 80 KiB gets 413, declared or counted while it comes; one of 80 KiB passes", async () => {
  const fits = PING + " ".repeat(BODY_MAX - PING.length);
  assert.equal((await post(link.mcpUrl, fits)).text, PONG);
  for (const size of [BODY_MAX + 1, 2_000_000]) {
    const answer = await post(link.mcpUrl, PING + " ".repeat(size - PING.length));
    assertRefused(answer, 413, -32600, /81920 bytes/);
  }
  const { pathname } = new URL(link.mcpUrl);
  const headers = {
    "Content-Type": "application/json",
    "Transfer-Encoding": "chunked",
    Connection: "close",
  };
  const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
  const send = async (body: string): Promise<string> => {
    const text = requestText(relay.port, "POST", pathname, headers, body);
    const { status, body: answer } = await exchange(relay.port, text);
    return `${status} ${answer}`;
  };
  assert.equal(await send(`${chunked(fits)}0\r\n\r\n`), `200 ${PONG}`);
  // Never ended by its sender, and refused all the same.
  assert.match(await send(chunked(`${fits} `)), /^413 .*-32600/);
});

test("what is not JSON in UTF-8 gets 400 with -32700 and no id", async () => {
  const bad = ["", " ", "{", "x", "{'a':1}", PING.slice(0, -1), `${PING}x`, "NaN", `\ufeff${PING}`];
  for (const body of bad) assertRefused(await post(link.mcpUrl, body), 400, -32700, /^Parse error/);
  const { pathname } = new URL(link.mcpUrl);
  const invalid: number[][] = [
    [0xff],
    [0xc3],
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
  ];
  for (const bytes of invalid) {
    const head = '{"jsonrpc":"2.0","id":1,"method":"';
    const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('"}')]);
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": String(body.length),
      Connection: "close",
    };
    const text = Buffer.from(requestText(relay.port, "POST", pathname, headers));
    const answer = await exchange(relay.port, Buffer.concat([text, body]));
    assert.equal(answer.status, 400, bytes.join());
    assert.equal(JSON.parse(answer.body).error.code, -32700, answer.body);
    assert.equal("id" in JSON.parse(answer.body), false);
  }
});

test("JSON that is no JSON-RPC request gets 400 with -32600, and its id where one can be read", async () => {
  const refused = async (body: string, message: RegExp, id?: unknown): Promise<void> =>
    assertRefused(await post(link.mcpUrl, body), 400, -32600, message, id);
  for (const batch of ["[]", `[${PING}]`, `[${PING},${PING}]`]) {
    await refused(batch, /batch.*one message per request/);
  }
  for (const scalar of ["1", '"x"', "null", "true"]) await refused(scalar, /object/);
  await refused('{"id":"a","method":"ping"}', /jsonrpc/, "a");
  await refused('{"jsonrpc":"1.0","id":7,"method":"ping"}', /jsonrpc/, 7);
  await refused('{"jsonrpc":2.0,"id":7,"method":"ping"}', /jsonrpc/, 7);
  await refused('{"jsonrpc":"2.0","id":7}', /method/, 7);
  await refused('{"jsonrpc":"2.0","id":7,"method":5}', /method/, 7);
  for (const id of ["null", "true", "[1]", '{"a":1}']) {
    await refused(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, /id must be/);
  }
  for (const params of ["[]", "1", '"x"', "null"]) {
    await refused(`{"jsonrpc":"2.0","id":7,"method":"ping","params":${params}}`, /params/, 7);
  }
});

test("a repeated key, or more than 128 levels, gets 400 with -32600 and the id", async () => {
  const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const withParams = (params: string): string =>
    `{"jsonrpc":"2.0","id":"d","method":"ping","params":{"x":${params}}}`;
  // The body and its params are two of the levels.
  assert.equal((await post(link.mcpUrl, withParams(nested(126)))).status, 200);
  for (const levels of [127, 5_000, 40_000]) {
    const answer = await post(link.mcpUrl, withParams(nested(levels)));
    assertRefused(answer, 400, -32600, /128 levels/, "d");
  }
  for (const repeated of [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"__proto__":1,"__proto__":2}]',
  ]) {
    assertRefused(await post(link.mcpUrl, withParams(repeated)), 400, -32600, /repeat/, "d");
  }
  assert.equal((await post(link.mcpUrl, withParams('{"__proto__":{"a":1}}'))).status, 200);
});

test("a version Relay does not speak gets 400 naming those it speaks; none at all is 2025-03-26", async () => {
  for (const version of VERSIONS) {
    const answer = await post(link.mcpUrl, PING, { "MCP-Protocol-Version": version });
    assert.equal(answer.text, PONG, version);
  }
  assert.equal((await post(link.mcpUrl, PING)).text, PONG);
  const named = new RegExp(`Supported versions: ${[...VERSIONS, "2026-07-28"].join(", ")}$`);
  for (const version of [
    "2024-11-05",
    "2025-11-26",
    "1.0",
    "latest",
    "draft",
    "2025-03-26, 2025-06-18",
  ]) {
    const headers = { "MCP-Protocol-Version": version };
    assertRefused(await post(link.mcpUrl, PING, headers), 400, -32600, named, 1);
    const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    assertRefused(await post(link.mcpUrl, notification, headers), 400, -32600, named);
    // The body decides there.
    const params = { protocolVersion: "2025-06-18" };
    const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    const { message } = await post(link.mcpUrl, hello, headers);
    assert.equal(message["result"].protocolVersion, "2025-06-18", version);
  }
});

test("a notification or a response gets 202 with nothing in it", async () => {
  const oneWay = [
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":"notifications/foo","params":[1]}',
    '{"jsonrpc":"2.0","method":""}',
    '{"jsonrpc":"2.0","method":"tools/call","params":null}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
  ];
  for (const accept of ["application/json, text/event-stream", "text/event-stream", "text/html"]) {
    for (const body of oneWay) {
      const answer = await post(link.mcpUrl, body, { Accept: accept });
      assert.equal(answer.status, 202, body);
      assert.equal(answer.text, "");
      assert.equal(answer.headers.get("content-type"), null, body);
      assert.equal(answer.headers.get("content-length"), "0");
      assertMcpHeaders(answer.headers, body);
    }
  }
  assert.deepEqual(await project.calls(), []);
});

test("Relay never gives a session id and ignores one it is given", async () => {
  for (const session of ["", "abc", "x".repeat(500)]) {
    const answer = await post(link.mcpUrl, PING, { "Mcp-Session-Id": session });
    assert.equal(answer.text, PONG);
    assertMcpHeaders(answer.headers, "session");
  }
});

test("nothing of all this is worth a warning in the log", () => {
  assert.deepEqual(
    relay.log.filter((line) => /"level":"(warn|error)"/.test(line)),
    [],
  );
});
