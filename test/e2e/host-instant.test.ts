/** What Relay answers at once by itself: initialize, tools/list, ping, and methods it does not have. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SEARCH_TOOL, callTool, connectApp, helloOf, openRelay, post, TestApp } from "./harness.ts";
import type { HostAnswer, JsonObject, TestLink } from "./harness.ts";
import { clientOf } from "./calls-rows.ts";

const relay = await openRelay({ RELAY_META_REQUESTS_PER_MINUTE: "6" });
after(() => relay[Symbol.asyncDispose]());

const ask = (
  link: TestLink,
  method: string,
  params?: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): Promise<HostAnswer> => post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method, params }, headers);

test("initialize echoes a version Relay speaks and answers 2025-11-25 to every other", async () => {
  const told = [
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2024-11-05", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["nonsense", "2025-11-25"],
    [7, "2025-11-25"],
    [undefined, "2025-11-25"],
  ];
  const links = [await relay.link(), await relay.link()];
  for (const [at, [protocolVersion, expected]] of told.entries()) {
    const link = links[at % 2];
    assert.ok(link);
    const { status, headers, message } = await ask(link, "initialize", { protocolVersion });
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/json");
    assert.equal(message["result"].protocolVersion, expected, String(protocolVersion));
  }
});

test("initialize names the project and exactly the tools capability, before the first hello and after the last", async () => {
  const project = await relay.project({ name: "Field notes" });
  const link = await project.link();
  const { message } = await ask(link, "initialize", { protocolVersion: "2025-11-25" });
  assert.deepEqual(message, {
    jsonrpc: "2.0",
    id: 1,
    result: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "Field notes", version: "0" },
      instructions:
        "Field notes has not connected yet; open it on your device and its tools appear.",
    },
  });
  const described = {
    app: { name: "Notes", version: "2.1" },
    instructions: "Search \u2028 first.",
  };
  const app = await connectApp(link, described);
  for (const isOpen of [true, false]) {
    if (!isOpen) await app.close();
    const { result } = (await ask(link, "initialize", {})).message;
    assert.deepEqual(result.serverInfo, { name: "Field notes", version: "2.1" });
    assert.equal(result.instructions, "Search \u2028 first.");
  }
  const silent = await connectApp(link, {});
  await project.change({ name: "Renamed" });
  const { result } = (await ask(link, "initialize", {})).message;
  assert.equal("instructions" in result, false);
  assert.equal(result.serverInfo.name, "Renamed");
  await silent.close();
});

test("the client of initialize is kept on the link, name and version cut to 64 code points", async () => {
  const project = await relay.project();
  const link = await project.link();
  await ask(link, "initialize", { clientInfo: { name: "example-host", version: "1.0.0" } });
  assert.deepEqual(await clientOf(project, link, "example-host"), {
    name: "example-host",
    version: "1.0.0",
  });
  const long = { name: "😀".repeat(65), version: "9".repeat(70) };
  await ask(link, "initialize", { clientInfo: long });
  // Neither says who asks, so the last one that did stays.
  await ask(link, "ping");
  await ask(link, "initialize", { clientInfo: { name: 5 } });
  const cut = { name: "😀".repeat(64), version: "9".repeat(64) };
  assert.deepEqual(await clientOf(project, link, cut.name), cut);
});

test("tools/list is empty before the first hello, then has every field as it came, open or closed, also after a restart", async () => {
  await using first = await openRelay();
  const link = await first.link();
  assert.equal(
    (await ask(link, "tools/list")).text,
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}',
  );
  const toolsText =
    '[{"name":"a/b.c-D_9","x-own":{"2":1,"1":[1.0,1E400,-0,9007199254740993]},\r\n"inputSchema" : {"type":"object","properties":{"é\\u00e9":{"const":12345678901234567890}}},"title":"\\ud83d\\ude00\u2028","_meta":{"__proto__":1}}]';
  const hello = JSON.stringify(helloOf(link, { tools: [] }));
  const app = new TestApp(link.socketUrl);
  await app.opened();
  app.send(hello.replace('"tools":[]', `"tools":${toolsText}`));
  await app.next("ready");
  const expected = `{"jsonrpc":"2.0","id":1,"result":{"tools":${toolsText.replaceAll(/[\r\n]/g, " ")}}}`;
  assert.equal((await ask(link, "tools/list")).text, expected);
  await app.close();
  assert.equal((await ask(link, "tools/list")).text, expected);
  await first.stop();
  const second = await openRelay({}, first.dataDir);
  const moved = link.mcpUrl.replace(String(first.port), String(second.port));
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  assert.equal((await post(moved, body)).text, expected);
  const { message } = await callTool(moved, "a/b.c-D_9", { éé: 12345678901234567000 });
  assert.match(message["result"].content[0].text, /^Notes is not running on your device/);
  await second.stop();
});

test("ping answers an empty result", async () => {
  const { text, headers } = await ask(await relay.link(), "ping");
  assert.equal(text, '{"jsonrpc":"2.0","id":1,"result":{}}');
  assert.equal(headers.get("content-type"), "application/json");
});

test("a method Relay does not offer gets -32601 with its name, cut to 64 code points", async () => {
  const methods = [
    "resources/list",
    "prompts/list",
    "sampling/createMessage",
    "server/discover",
    "",
  ];
  const link = await relay.link();
  for (const method of methods) {
    const { status, message } = await ask(link, method);
    assert.equal(status, 200, method);
    assert.deepEqual(message["error"], { code: -32601, message: `Method not found: ${method}` });
  }
  const long = (await ask(link, "😀".repeat(65))).message["error"].message;
  assert.equal(long, `Method not found: ${"😀".repeat(64)}`);
});

test("a suspended project answers every method with -32000, and the app's calls leave no row", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  const { callsPerMinute } = await project.change({ suspended: true });
  assert.equal(callsPerMinute, 60);
  assert.equal((await app.closed).code, 4423);
  for (const method of ["initialize", "tools/list", "ping", "tools/call", "resources/list"]) {
    const { status, message } = await ask(link, method, { name: "search_notes" });
    assert.equal(status, 200, method);
    const error = { code: -32000, message: "This connector is disabled" };
    assert.deepEqual(message, { jsonrpc: "2.0", id: 1, error }, method);
  }
  await project.change({ suspended: false });
  assert.equal((await ask(link, "ping")).status, 200);
  assert.deepEqual(await project.calls(), []);
});

test("a tools/call without a name gets -32602 and leaves no row", async () => {
  const project = await relay.project();
  const link = await project.link();
  for (const params of [{}, { name: 5 }, { name: null, arguments: {} }]) {
    const { status, message } = await ask(link, "tools/call", params);
    assert.equal(status, 200);
    const error = { code: -32602, message: "Invalid params: name must be a string" };
    assert.deepEqual(message, { jsonrpc: "2.0", id: 1, error });
  }
  assert.deepEqual(await project.calls(), []);
});

test("initialize, tools/list, ping, discover and unknown methods share a minute of a link; past it 429 with the id", async () => {
  const project = await relay.project();
  const [link, other] = [await project.link(), await project.link()];
  const app = await connectApp(link, { onCall: () => ({ type: "result", content: [] }) });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const discover = "server/discover";
  const modern = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": discover };
  const uncounted = async (): Promise<void> => {
    assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
    assert.equal((await callTool(link.mcpUrl, "nothing")).message["error"].code, -32602);
    assert.equal(
      (await post(link.mcpUrl, { jsonrpc: "2.0", method: "notifications/x" })).status,
      202,
    );
    assert.equal((await post(link.mcpUrl, "[]")).status, 400);
    assert.equal((await fetch(link.mcpUrl)).status, 405);
    assert.equal((await fetch(link.mcpUrl, { method: "OPTIONS" })).status, 204);
  };
  await uncounted();
  for (const method of ["initialize", "tools/list", "ping", "resources/list", "ping"]) {
    assert.equal((await ask(link, method)).status, 200, method);
  }
  assert.equal((await ask(link, discover, { _meta: meta }, modern)).status, 200);
  await uncounted();
  for (const method of ["initialize", "tools/list", "ping", "resources/list"]) {
    const body = { jsonrpc: "2.0", id: "mine", method };
    const answer = await post(link.mcpUrl, body);
    assert.equal(answer.status, 429, method);
    assert.equal(answer.message["id"], "mine");
    assert.equal(answer.message["error"].code, -32600);
    assert.match(answer.headers.get("retry-after") ?? "", /^([1-9]|[1-5]\d|60)$/);
  }
  assert.equal((await ask(link, discover, { _meta: meta }, modern)).status, 429);
  assert.equal((await ask(other, "ping")).status, 200);
  await app.close();
});

test("an instant answer is JSON unless Accept takes only an event stream; then it is one event", async () => {
  const link = await relay.link();
  const told: [string | null, "json" | "stream"][] = [
    ["text/event-stream", "stream"],
    ["text/event-stream, application/json;q=0", "stream"],
    ["application/json", "json"],
    ["application/json, text/event-stream", "json"],
    ["*/*", "json"],
  ];
  for (const [accept, kind] of told) {
    const answer = await ask(link, "ping", {}, accept === null ? {} : { Accept: accept });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.message, { jsonrpc: "2.0", id: 1, result: {} });
    const type = kind === "json" ? "application/json" : "text/event-stream; charset=utf-8";
    assert.equal(answer.headers.get("content-type"), type, accept ?? "none");
  }
  const { text } = await ask(link, "tools/list", {}, { Accept: "text/event-stream" });
  assert.equal(text, 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n');
});

test("the tool of the product spec's example is listed as it was registered", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const { message } = await ask(link, "tools/list");
  assert.deepEqual(message["result"], { tools: [SEARCH_TOOL] });
  await app.close();
});
