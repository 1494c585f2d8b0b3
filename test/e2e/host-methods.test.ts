/** What the MCP endpoint answers before it reads a message, and the headers of all its answers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post } from "./harness.ts";
import type { TestRelay } from "./harness.ts";
import { assertMcpHeaders, assertNoSignIn } from "./host-headers.ts";
import { exchange, requestText } from "./host-raw.ts";
import type { RawAnswer } from "./host-raw.ts";

const relay = await openRelay({ RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1" });
after(() => relay[Symbol.asyncDispose]());
const { pathname } = new URL((await relay.link()).mcpUrl);

const UNKNOWN = `/v1/mcp/ut_${"x".repeat(32)}`;
const json = { "Content-Type": "application/json" };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

const askAt = (
  { port }: TestRelay,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): Promise<RawAnswer> =>
  exchange(port, requestText(port, method, target, { Connection: "close", ...headers }, body));

const ask = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> => askAt(relay, method, target, headers);

test("every method but POST and OPTIONS gets 405 with Allow: POST and a text, before the token is looked up", async () => {
  const targets = [pathname, `${pathname}/`, UNKNOWN, "/v1/mcp/x", "/v1/mcp/", "/v1/mcp/a/b"];
  for (const method of ["GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE"]) {
    for (const target of targets) {
      const answer = await ask(method, target, { Origin: "http://evil.example" });
      const what = `${method} ${target}`;
      assert.equal(answer.status, 405, what);
      assert.equal(answer.headers.get("allow"), "POST", what);
      assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8", what);
      assert.match(answer.body, method === "HEAD" ? /^$/ : /^.{10,100}\n$/, what);
      assertMcpHeaders(answer.headers, what);
    }
  }
});

test("OPTIONS gets 204 before any check and reflects the headers a browser asks for", async () => {
  const asked =
    "authorization, content-type, mcp-method, mcp-name, mcp-param-x, mcp-protocol-version";
  for (const target of [pathname, `${pathname}/`, UNKNOWN, UNKNOWN, UNKNOWN]) {
    const answer = await ask("OPTIONS", target, {
      Origin: "http://evil.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": asked,
      "MCP-Protocol-Version": "1999-01-01",
    });
    assert.equal(answer.status, 204, target);
    assert.equal(answer.headers.get("access-control-allow-headers"), asked);
    assert.equal(answer.headers.get("access-control-allow-methods"), "POST, OPTIONS");
    assert.equal(answer.headers.get("access-control-max-age"), "86400");
    assert.equal(answer.body, "");
    assertMcpHeaders(answer.headers, target);
  }
  const plain = await ask("OPTIONS", pathname);
  assert.equal(plain.headers.get("access-control-allow-headers"), undefined);
});

test("every answer under /v1/mcp, errors too, carries the CORS and privacy headers and its own request id", async () => {
  await using strict = await openRelay({
    RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1",
    RELAY_META_REQUESTS_PER_MINUTE: "1",
  });
  const link = await strict.link();
  const app = await connectApp(link, ECHO);
  const unknownUrl = `http://localhost:${strict.port}${UNKNOWN}`;
  const answers: [number, () => Promise<{ status: number; headers: Headers }>][] = [
    [200, () => post(link.mcpUrl, PING)],
    [429, () => post(link.mcpUrl, PING)],
    [200, () => callTool(link.mcpUrl)],
    [200, () => callTool(link.mcpUrl, "nothing")],
    [202, () => post(link.mcpUrl, { jsonrpc: "2.0", method: "notifications/initialized" })],
    [400, () => post(link.mcpUrl, "{")],
    [403, () => post(link.mcpUrl, PING, { Origin: "http://evil.example" })],
    [404, () => post(unknownUrl, PING)],
    [429, () => post(unknownUrl, PING)],
    [413, () => post(link.mcpUrl, " ".repeat(90_000))],
    [415, () => post(link.mcpUrl, PING, { "Content-Type": "text/plain" })],
  ];
  const ids = new Set<string | null>();
  for (const [status, run] of answers) {
    const answer = await run();
    assert.equal(answer.status, status);
    assertMcpHeaders(answer.headers, String(status));
    ids.add(answer.headers.get("x-request-id"));
  }
  assert.equal(ids.size, answers.length);
  await app.close();
});

test("on loopback a Host that is neither loopback's nor a public URL's gets 421", async () => {
  await using named = await openRelay({
    RELAY_PUBLIC_URL: "https://relay.example.com/api",
    RELAY_MCP_PUBLIC_URL: "https://mcp.example.com",
  });
  const post1 = (host: string): Promise<RawAnswer> =>
    askAt(named, "POST", UNKNOWN, { Host: host, "Content-Type": "application/json" }, "{}");
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "10.0.0.1",
    "",
  ]) {
    const answer = await post1(host);
    assert.equal(answer.status, 421, host);
    assert.match(String(JSON.parse(answer.body).error.message), /Host/);
    assertMcpHeaders(answer.headers, host);
  }
  const own = [
    "relay.example.com",
    "mcp.example.com:443",
    "MCP.example.com",
    "127.0.0.1:1",
    "[::1]",
  ];
  for (const host of [...own, "localhost"]) assert.equal((await post1(host)).status, 404, host);
});

test("bound to anything but loopback, Relay answers for every Host", async () => {
  await using open = await openRelay({ RELAY_HOST: "0.0.0.0" });
  const answer = await askAt(open, "POST", UNKNOWN, { Host: "relay.example.com" }, "{}");
  assert.equal(answer.status, 404);
});

test("an MCP URL works with a trailing slash, a query, under /relay and under each public URL's path", async () => {
  await using deep = await openRelay({
    RELAY_PUBLIC_URL: "http://localhost:1/base",
    RELAY_MCP_PUBLIC_URL: "https://mcp.example.com/base/mcp",
  });
  const given = new URL(await linkAt(deep));
  assert.equal(given.origin, "https://mcp.example.com");
  assert.match(given.pathname, /^\/base\/mcp\/v1\/mcp\/ut_[0-9A-Za-z]{32}$/);
  const plain = given.pathname.slice("/base/mcp".length);
  const body = JSON.stringify(PING);
  for (const prefix of ["", "/relay", "/base", "/base/mcp"]) {
    for (const suffix of ["", "/", "?x=1", "/?x=1"]) {
      const answer = await askAt(deep, "POST", `${prefix}${plain}${suffix}`, json, body);
      assert.equal(answer.status, 200, `${prefix}…${suffix}`);
      assert.equal(answer.body, '{"jsonrpc":"2.0","id":1,"result":{}}');
    }
    assert.equal((await askAt(deep, "GET", `${prefix}${plain}`)).status, 405, prefix);
  }
  assert.equal((await askAt(deep, "POST", `/other${plain}`, json, body)).status, 404);
});

/** The MCP URL of a link of a Relay whose public URL leads nowhere in a test. */
async function linkAt(deep: TestRelay): Promise<string> {
  const at = (path: string, key: string, body: string): Promise<RawAnswer> => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    return askAt(deep, "POST", path, headers, body);
  };
  const project = await at("/v1/operator/projects", deep.operatorToken, '{"name":"Notes"}');
  const link = await at("/v1/links", String(JSON.parse(project.body).publishableKey), "{}");
  return String(JSON.parse(link.body).mcpUrl);
}

test("nothing is found where hosts look for a sign-in: 404 with a small JSON body", async () => {
  const names = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"];
  const targets = names.flatMap((name) => [
    `/.well-known/${name}`,
    `/.well-known/${name}${pathname}`,
    `/relay/.well-known/${name}`,
    `/.well-known/${name}/relay${pathname}`,
    `${pathname}/.well-known/${name}`,
    `/relay${pathname}/.well-known/${name}`,
  ]);
  for (const target of targets) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await ask(method, target);
      assert.equal(answer.status, 404, `${method} ${target}`);
      if (method === "GET") assertSmallJson(answer, target);
      if (target.includes(`${pathname}/`)) assertMcpHeaders(answer.headers, target);
    }
  }
  for (const path of ["/register", "/relay/register"]) {
    const answer = await askAt(relay, "POST", path, json, "{}");
    assert.equal(answer.status, 404, path);
    assertSmallJson(answer, path);
  }
});

function assertSmallJson(answer: RawAnswer, what: string): void {
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, what);
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_[0-9a-f]{32}$/, what);
  assert.ok(answer.body.length < 300, what);
  assert.equal(typeof JSON.parse(answer.body), "object", what);
  assertNoSignIn(answer.headers, what);
}

test("a host that offers to upgrade to HTTP/2 gets its answer over HTTP/1.1", async () => {
  const body = JSON.stringify(PING);
  // What Java's own HTTP client sends with the first request to an http: address.
  const text = requestText(
    relay.port,
    "POST",
    pathname,
    {
      Connection: "Upgrade, HTTP2-Settings, close",
      Upgrade: "h2c",
      "HTTP2-Settings": "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
      "Content-Type": "application/json",
    },
    body,
  );
  const answer = await exchange(relay.port, text);
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '{"jsonrpc":"2.0","id":1,"result":{}}');
});

test("a WebSocket that is opened at an MCP URL gets 405 like every GET", async () => {
  const text = requestText(relay.port, "GET", pathname, {
    Connection: "Upgrade, close",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  });
  const answer = await exchange(relay.port, text);
  assert.equal(answer.status, 405);
  assertMcpHeaders(answer.headers, "upgrade");
});
