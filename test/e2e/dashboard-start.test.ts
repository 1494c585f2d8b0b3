/** A project's way to its first call, what stood in the way, and its charts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { ECHO, SEARCH_TOOL, TestApp, callTool, connectApp, helloOf, post } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard();
after(() => desk[Symbol.asyncDispose]());
let ada: Visitor;

before(async () => {
  ada = await desk.visitor("ada");
});

async function project(name = "Notes") {
  const { body } = await ada.ask("POST", "/api/projects", { name });
  const path = `/api/projects/${body["projectId"]}`;
  return { path, key: String(body["publishableKey"]), secret: String(body["secretKey"]) };
}

async function linkOf(key: string): Promise<TestLink> {
  return (await desk.relay.rest("POST", "/v1/links", key, {})).body as TestLink;
}

async function checklist(path: string): Promise<JsonObject> {
  const { status, body } = await ada.ask("GET", `${path}/checklist`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "claude-ai", version: "3" },
  },
};

test("the checklist ticks itself from the first link to the first call", async () => {
  const { path, key } = await project();
  const steps: JsonObject = {
    linkCreated: false,
    socketReady: false,
    tools: [],
    firstHost: null,
    firstCall: null,
    lastFault: null,
  };
  assert.deepEqual(await checklist(path), steps);
  const link = await linkOf(key);
  assert.deepEqual(await checklist(path), { ...steps, linkCreated: true });
  await connectApp(link, {
    ...ECHO,
    tools: [SEARCH_TOOL, { ...SEARCH_TOOL, name: 'say "hi" \\ /'.replaceAll(/[^a-z]/g, "_") }],
  });
  const connected = { ...steps, linkCreated: true, socketReady: true };
  const named = { ...connected, tools: ["search_notes", "say__hi_____"] };
  assert.deepEqual(await checklist(path), named);
  await post(link.mcpUrl, INITIALIZE);
  await callTool(link.mcpUrl, "nope");
  // The host is noted late.
  let last = await checklist(path);
  for (let tries = 0; last["firstHost"] === null && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = await checklist(path);
  }
  const firstHost = { name: "claude-ai", version: "3" };
  const { at } = last["firstCall"];
  assert.deepEqual(last, { ...named, firstHost, firstCall: { outcome: "unknown_tool", at } });
  await callTool(link.mcpUrl);
  const done = await checklist(path);
  assert.equal(done["firstCall"].outcome, "ok");
  const [row] = (await ada.ask("GET", `${path}/calls?outcome=ok`)).body["items"] as JsonObject[];
  assert.equal(done["firstCall"].at, row?.["startedAt"]);
});

test("why an app could not connect is said in words, with what mends it", async () => {
  const { path, key } = await project();
  const link = await linkOf(key);
  await refusedHello(link, { tools: [{ ...SEARCH_TOOL, inputSchema: { type: "string" } }] });
  const { lastFault: broken } = await checklist(path);
  assert.deepEqual([broken.what, broken.closeCode], ["hello", 4400]);
  assert.match(broken.text, /^An app could not connect: tools\[0\]\.inputSchema /);
  assert.match(broken.fix, /Mend/);
  assert.ok(Math.abs(Date.parse(broken.at) - Date.now()) < 60_000);
  await ada.ask("PATCH", path, { allowedOrigins: ["https://app.example.com"] });
  await refusedHello(link, { headers: { Origin: "https://evil.example" } });
  const { lastFault: foreign } = await checklist(path);
  assert.deepEqual(foreign, {
    what: "origin",
    at: foreign.at,
    text: "Requests from https://evil.example were refused: the project does not allow this origin.",
    fix: "Add https://evil.example to the allowed origins.",
    origin: "https://evil.example",
    closeCode: 4403,
  });
  await ada.ask("PATCH", path, { allowedOrigins: [], stopped: true });
  await refusedHello(link);
  const { lastFault: stopped } = await checklist(path);
  assert.equal(stopped.text, "An app could not connect: the project is suspended.");
});

test("refused origins are listed with their count, the newest first, 20 at most", async () => {
  const { path, key } = await project();
  await ada.ask("PATCH", path, { allowedOrigins: ["https://app.example.com"] });
  const create = (origin: string) =>
    desk.relay.rest("POST", "/v1/links", key, {}, { Origin: origin });
  assert.equal((await create("https://app.example.com")).status, 201);
  for (const origin of ["https://a.example", "https://b.example", "https://a.example"]) {
    assert.equal((await create(origin)).status, 403);
  }
  const listed = async (): Promise<JsonObject[]> =>
    (await ada.ask("GET", `${path}/refused-origins`)).body["items"];
  assert.deepEqual(
    (await listed()).map(({ origin, count }) => [origin, count]),
    [
      ["https://a.example", 2],
      ["https://b.example", 1],
    ],
  );
  for (let at = 0; at < 30; at += 1) await create(`https://${at}.example`);
  const many = await listed();
  assert.deepEqual([many.length, many[0]?.["origin"]], [20, "https://29.example"]);
  await create(`https://${"x".repeat(2_000)}.example`);
  assert.equal((await listed())[0]?.["origin"].length, 256);
  assert.deepEqual((await ada.ask("GET", `${(await project()).path}/refused-origins`)).body, {
    items: [],
  });
});

test("hours and latencies add up what was called, by session and by key alike", async () => {
  const { path, key, secret } = await project();
  const link = await linkOf(key);
  await connectApp(link, ECHO);
  for (let count = 0; count < 3; count += 1) await callTool(link.mcpUrl);
  await callTool(link.mcpUrl, "nope");
  // Nobody waits for the row of a call that was refused.
  let hours: JsonObject[] = [];
  for (let tries = 0; !JSON.stringify(hours).includes("unknown_tool"); tries += 1) {
    assert.ok(tries < 200, "the refused call was not counted");
    await new Promise((resolve) => setTimeout(resolve, 20));
    hours = (await ada.ask("GET", `${path}/hours`)).body["items"] as JsonObject[];
  }
  const sums: Record<string, number> = {};
  for (const { hour, byOutcome } of hours) {
    assert.match(hour, /:00:00\.000Z$/);
    for (const [outcome, calls] of Object.entries(byOutcome)) {
      sums[outcome] = (sums[outcome] ?? 0) + Number(calls);
    }
  }
  assert.deepEqual(sums, { ok: 3, unknown_tool: 1 });
  const one = (await ada.ask("GET", `${path}/hours?tool=search_notes`)).body["items"];
  assert.ok(one.every(({ byOutcome }: JsonObject) => byOutcome["unknown_tool"] === undefined));
  const [latency, ...others] = (await ada.ask("GET", `${path}/latency`)).body["items"];
  assert.deepEqual(others, []);
  assert.deepEqual([latency.tool, latency.calls], ["search_notes", 3]);
  assert.ok(latency.p50Ms > 0 && latency.p50Ms <= latency.p95Ms && latency.p95Ms <= latency.p99Ms);
  assert.equal(
    latency.buckets.reduce((sum: number, { calls }: JsonObject) => sum + calls, 0),
    3,
  );
  assert.equal(latency.buckets.at(-1).upToMs, null);
  assert.equal((await desk.relay.rest("GET", "/v1/latency", secret)).body["items"].length, 1);
});

test("a span that is upside down, too long or no time at all is refused in words", async () => {
  const { path } = await project();
  for (const [query, message] of [
    ["from=2026-01-02&to=2026-01-01", "from: must be before to"],
    ["from=2026-01-01&to=2026-02-02", "from: must be at most 31 days before to"],
    ["from=yesterday", "from: must be an ISO 8601 time"],
  ]) {
    for (const chart of ["hours", "latency"]) {
      const { status, body } = await ada.ask("GET", `${path}/${chart}?${query}`);
      assert.deepEqual([status, body["error"].message], [400, message]);
    }
  }
});

test("a link's manifest is shown as the app sent it, with what it was warned about", async () => {
  const { path, key, secret } = await project();
  const link = await linkOf(key);
  const empty = { hash: null, app: null, instructions: null, tools: [], warnings: [] };
  assert.deepEqual((await ada.ask("GET", `${path}/links/${link.linkId}/manifest`)).body, empty);
  const tools = `[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":9007199254740993}}}}]`;
  const app = new TestApp(link.socketUrl);
  await app.opened();
  const hello = JSON.stringify(helloOf(link, { tools: [], instructions: "Ask first." }));
  app.send(hello.replace('"tools":[]', `"tools":${tools}`));
  await app.next("ready");
  const response = await fetch(`${desk.relay.url}/v1/links/${link.linkId}/manifest`, {
    headers: { Authorization: `Bearer ${secret}` },
  });
  const text = await response.text();
  assert.ok(text.includes(`"tools":${tools}`), text);
  const manifest = JSON.parse(text) as JsonObject;
  assert.deepEqual(manifest["app"], { name: "Notes", version: "1.4.2" });
  assert.equal(manifest["instructions"], "Ask first.");
  assert.ok(manifest["warnings"].length > 0);
  assert.match(manifest["hash"], /^[0-9a-f]{64}$/);
});

/** Says hello and waits until Relay has closed the socket. */
async function refusedHello(link: TestLink, behaviour: AppBehaviour = {}): Promise<void> {
  const app = new TestApp(link.socketUrl, behaviour);
  await app.opened();
  app.send(helloOf(link, behaviour));
  assert.ok((await app.closed).code >= 4400);
}
