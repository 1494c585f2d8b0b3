/** What is pushed to pages that used to ask again and again: the checklist, and how this Relay is. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { EventReader } from "./event-reader.ts";
import { ECHO, SEARCH_TOOL, TestApp, callTool, connectApp, helloOf, post } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard();
after(() => desk[Symbol.asyncDispose]());
let oona: Visitor;
let ada: Visitor;

before(async () => {
  oona = await desk.operator();
  ada = await desk.visitor("ada");
});

async function project() {
  const { body } = await ada.ask("POST", "/api/projects", { name: "Notes" });
  return { path: `/api/projects/${body["projectId"]}`, key: String(body["publishableKey"]) };
}

async function linkOf(key: string): Promise<TestLink> {
  return (await desk.relay.rest("POST", "/v1/links", key, {})).body as TestLink;
}

function watch(path: string, visitor: Visitor): Promise<EventReader> {
  return EventReader.open(`${desk.relay.url}${path}/events`, { headers: visitor.headers() });
}

/** The next checklist that fits; the ones before it are passed over. */
async function checklistWith(
  reader: EventReader,
  fits: (checklist: JsonObject) => boolean,
): Promise<JsonObject> {
  for (;;) {
    const checklist = await reader.nextOf("checklist");
    if (fits(checklist)) return checklist;
  }
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

test("each step of the checklist is pushed as it happens, as the checklist's own address has it", async () => {
  const { path, key } = await project();
  const reader = await watch(path, ada);
  const asked = async () => (await ada.ask("GET", `${path}/checklist`)).body;
  const first = await reader.next();
  assert.deepEqual(first, { event: "checklist", data: await asked() });
  const link = await linkOf(key);
  assert.deepEqual(await checklistWith(reader, (list) => list["linkCreated"]), await asked());
  await connectApp(link, ECHO);
  const connected = await checklistWith(reader, (list) => list["socketReady"]);
  assert.deepEqual(connected, await asked());
  assert.deepEqual(connected["tools"], [SEARCH_TOOL.name]);
  await post(link.mcpUrl, INITIALIZE);
  const hosted = await checklistWith(reader, (list) => list["firstHost"] !== null);
  assert.deepEqual(hosted, { ...connected, firstHost: { name: "claude-ai", version: "3" } });
  await callTool(link.mcpUrl, "nope");
  const tried = await checklistWith(reader, (list) => list["firstCall"] !== null);
  assert.equal(tried["firstCall"].outcome, "unknown_tool");
  await callTool(link.mcpUrl);
  const done = await checklistWith(reader, (list) => list["firstCall"].outcome === "ok");
  assert.deepEqual(done, await asked());
  // Of a project that is done the calls are told, and no checklist any more.
  for (let count = 0; count < 5; count += 1) await callTool(link.mcpUrl);
  await ada.ask("DELETE", path, { name: "Notes" });
  const rest = await reader.rest();
  assert.deepEqual(
    rest.filter(({ event }) => event === "checklist"),
    [],
  );
});

test("why an app could not connect is pushed too, and what the project did before comes first", async () => {
  const { path, key } = await project();
  const link = await linkOf(key);
  await ada.ask("PATCH", path, { allowedOrigins: ["https://app.example.com"] });
  const reader = await watch(path, ada);
  assert.equal((await reader.nextOf("checklist"))["linkCreated"], true);
  const app = new TestApp(link.socketUrl, { headers: { Origin: "https://evil.example" } });
  await app.opened();
  app.send(helloOf(link, {}));
  assert.equal((await app.closed).code, 4403);
  const { lastFault } = await checklistWith(reader, (list) => list["lastFault"] !== null);
  assert.deepEqual([lastFault.what, lastFault.origin], ["origin", "https://evil.example"]);
  reader.leave();
});

test("the operator is told how this Relay is, at once and again, by session and by token alike", async () => {
  const { operatorToken, url } = desk.relay;
  const bySession = await watch("/api/operator", oona);
  const byToken = await EventReader.open(`${url}/v1/operator/events`, {
    headers: { Authorization: `Bearer ${operatorToken}` },
  });
  const { health, stats } = await bySession.nextOf("health");
  for (const [name, told] of Object.entries({ health, stats })) {
    const { body } = await desk.relay.rest("GET", `/v1/operator/${name}`, operatorToken);
    assert.deepEqual(Object.keys(told).toSorted(), Object.keys(body).toSorted(), name);
  }
  const { key } = await project();
  await connectApp(await linkOf(key), ECHO);
  for (const reader of [bySession, byToken]) {
    for (;;) {
      const { health: newer, stats: all } = await reader.nextOf("health");
      if (newer.connectedLinks < health.connectedLinks + 1) continue;
      assert.deepEqual([newer.ready, all.links], [true, stats.links + 1]);
      break;
    }
    reader.leave();
  }
});

test("the operator's stream is for the operator alone, eight at once", async () => {
  assert.equal((await ada.ask("GET", "/api/operator/events")).status, 404);
  for (const key of [null, "op_nobody"]) {
    assert.equal((await desk.relay.rest("GET", "/v1/operator/events", key)).status, 401);
  }
  const readers = [];
  for (let count = 0; count < 8; count += 1) readers.push(await watch("/api/operator", oona));
  const { response: ninth } = await watch("/api/operator", oona);
  assert.deepEqual([ninth.status, ninth.headers.get("retry-after")], [429, "15"]);
  for (const reader of readers) reader.leave();
});

test("the operator's stream ends within 15 seconds of the right to look", async () => {
  const bob = await desk.visitor("bob");
  bob.become("admin", oona.accountId);
  const reader = await watch("/api/operator", bob);
  await reader.nextOf("health");
  bob.become(null, oona.accountId);
  await reader.rest();
  assert.equal((await bob.ask("GET", "/api/operator/events")).status, 404);
});

test("the operator's stream ends when Relay stops, and does not hold it up", async () => {
  const other = await openDashboard();
  const reader = await EventReader.open(`${other.relay.url}/v1/operator/events`, {
    headers: { Authorization: `Bearer ${other.relay.operatorToken}` },
  });
  await reader.nextOf("health");
  await Promise.all([reader.rest(), other[Symbol.asyncDispose]()]);
});
