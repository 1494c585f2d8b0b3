/** The second generation of MCP (2026-07-28) on the same URL as the first. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, JsonObject, TestLink } from "./harness.ts";
import { clientOf, rowsOf } from "./calls-rows.ts";
import { assertMcpHeaders } from "./host-headers.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

const VERSION = "2026-07-28";
const KEY = "io.modelcontextprotocol";
const META = {
  [`${KEY}/protocolVersion`]: VERSION,
  [`${KEY}/clientCapabilities`]: {},
  [`${KEY}/clientInfo`]: { name: "modern-host", version: "3" },
};

type Changes = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: JsonObject | null;
};

function ask(
  link: TestLink,
  method: string,
  params: JsonObject = {},
  { headers = {}, meta = META }: Changes = {},
): Promise<HostAnswer> {
  const name = typeof params["name"] === "string" ? { "Mcp-Name": params["name"] } : {};
  const own = { "MCP-Protocol-Version": VERSION, "Mcp-Method": method, ...name, ...headers };
  const whole = meta === null ? params : { ...params, _meta: meta };
  return post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method, params: whole }, own);
}

test("a modern host discovers, lists and calls on the URL a legacy host uses", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, { ...ECHO, instructions: "Search first." });
  const discovered = await ask(link, "server/discover");
  assert.equal(discovered.status, 200);
  const serverInfo = { [`${KEY}/serverInfo`]: { name: "Notes", version: "1.4.2" } };
  assert.deepEqual(discovered.message["result"], {
    resultType: "complete",
    supportedVersions: [VERSION],
    capabilities: { tools: {} },
    instructions: "Search first.",
    ttlMs: 10_000,
    cacheScope: "private",
    _meta: serverInfo,
  });
  const listed = (await ask(link, "tools/list")).message["result"];
  assert.equal(listed.tools[0].name, "search_notes");
  assert.deepEqual(listed["_meta"], serverInfo);
  const called = await ask(link, "tools/call", { name: "search_notes", arguments: { query: "x" } });
  assert.match(called.headers.get("content-type") ?? "", /^text\/event-stream/);
  assert.equal(textOf(called), '{"query":"x"}');
  assert.equal(called.message["result"].resultType, "complete");
  const legacy = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.deepEqual(Object.keys(legacy.message["result"]), ["tools"]);
  const [row] = await rowsOf(project, 1);
  assert.deepEqual(row?.["client"], { name: "modern-host", version: "3" });
  assert.deepEqual(await clientOf(project, link, "modern-host"), {
    name: "modern-host",
    version: "3",
  });
  await app.close();
});

test("the Mcp-Method header alone makes no request modern", async () => {
  const link = await relay.link();
  const body = { jsonrpc: "2.0", id: 1, method: "ping" };
  for (const headers of [
    { "Mcp-Method": "tools/list" },
    { "Mcp-Method": "ping", "MCP-Protocol-Version": "2025-11-25" },
  ]) {
    assert.equal(
      (await post(link.mcpUrl, body, headers)).text,
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    );
  }
});

test("a date from 2026-07-28 on in the header makes a request modern; initialize stays legacy", async () => {
  const link = await relay.link();
  for (const version of [VERSION, "2026-07-29", "2031-01-01"]) {
    const headers = { "MCP-Protocol-Version": version };
    const bare = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "ping" }, headers);
    assert.equal(bare.status, 400, version);
    assert.equal(bare.message["error"].code, -32602, version);
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };
    const legacy = await post(link.mcpUrl, initialize, headers);
    assert.equal(legacy.message["result"].protocolVersion, "2025-11-25", version);
  }
});

test("modern refusals have codes of their own: a version nobody speaks, and headers that differ", async () => {
  const link = await relay.link();
  const later = { ...META, [`${KEY}/protocolVersion`]: "2027-01-01" };
  const newer = { "MCP-Protocol-Version": "2027-01-01" };
  const unsupported = await ask(link, "tools/list", {}, { headers: newer, meta: later });
  assert.equal(unsupported.status, 400);
  assert.equal(unsupported.message["error"].code, -32022);
  assert.match(unsupported.message["error"].message, /2026-07-28/);
  assert.deepEqual(unsupported.message["error"].data, {
    supported: [VERSION],
    requested: "2027-01-01",
  });
  const differing: [JsonObject, Readonly<Record<string, string>>][] = [
    [{}, { "MCP-Protocol-Version": "2027-01-01" }],
    [{}, { "Mcp-Method": "tools/call" }],
    [{ name: "search_notes" }, { "Mcp-Name": "other" }],
  ];
  for (const [params, headers] of differing) {
    const method = "name" in params ? "tools/call" : "tools/list";
    const answer = await ask(link, method, params, { headers });
    assert.equal(answer.status, 400, JSON.stringify(headers));
    assert.equal(answer.message["error"].code, -32020, answer.text);
    assert.equal(answer.message["id"], 1);
    assertMcpHeaders(answer.headers, "mismatch");
  }
  const pathless = await ask(
    link,
    "tools/list",
    {},
    { meta: { [`${KEY}/protocolVersion`]: VERSION } },
  );
  assert.equal(pathless.message["error"].code, -32602);
});

test("a modern host is told of invalid arguments by a tool error, of an unknown tool by -32602", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  const invalid = await ask(link, "tools/call", { name: "search_notes", arguments: { query: 5 } });
  assert.equal(invalid.status, 200);
  assert.equal(
    textOf(invalid),
    "Invalid arguments for tool search_notes: arguments/query must be string",
  );
  assert.equal(invalid.message["result"].isError, true);
  const unknown = await ask(link, "tools/call", { name: "nothing", arguments: {} });
  assert.equal(unknown.status, 200);
  assert.deepEqual(unknown.message["error"], { code: -32602, message: "Unknown tool: nothing" });
  const rows = await rowsOf(project, 2);
  const outcomes = new Set(rows.map((row) => row["outcome"]));
  assert.deepEqual(outcomes, new Set(["invalid_input", "unknown_tool"]));
  await app.close();
});

test("a method modern does not have gets 404 with -32601, initialize and ping too", async () => {
  const link = await relay.link();
  for (const method of ["ping", "resources/list", "initialize", "nonsense"]) {
    const answer = await ask(link, method);
    assert.equal(answer.status, 404, method);
    assert.deepEqual(answer.message["error"], {
      code: -32601,
      message: `Method not found: ${method}`,
    });
    assertMcpHeaders(answer.headers, method);
  }
});

test("a parameter that a modern header must repeat is held to it, and the refusal is no call", async () => {
  const project = await relay.project();
  const link = await project.link();
  const properties = { region: { type: "string", "x-mcp-header": "Region" } };
  const tool = { name: "deploy", inputSchema: { type: "object", properties } };
  const app = await connectApp(link, { ...ECHO, tools: [tool] });
  const call = { name: "deploy", arguments: { region: "eu" } };
  const wrong = await ask(link, "tools/call", call, { headers: { "Mcp-Param-Region": "us" } });
  assert.equal(wrong.status, 400);
  assert.equal(wrong.message["error"].code, -32020);
  const right = await ask(link, "tools/call", call, { headers: { "Mcp-Param-Region": "eu" } });
  assert.equal(textOf(right), '{"region":"eu"}');
  assert.equal((await rowsOf(project, 1)).length, 1);
  await app.close();
});
