/** Trying a tool from the dashboard: on links made for it alone, frame by frame. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { EventReader } from "./event-reader.ts";
import type { StreamEvent } from "./event-reader.ts";
import { ECHO, SEARCH_TOOL, callTool, connectApp } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard({ RELAY_CALL_TIMEOUT_SECONDS: "1" });
after(() => desk[Symbol.asyncDispose]());
let ada: Visitor;
let path: string;
let keys: JsonObject;

before(async () => {
  ada = await desk.visitor("ada");
  keys = (await ada.ask("POST", "/api/projects", { name: "Notes" })).body;
  path = `/api/projects/${keys["projectId"]}`;
});

async function trialLink(): Promise<TestLink> {
  const made = await ada.ask("POST", `${path}/trial-links`, { label: "Trial" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body as TestLink;
}

/** `body` as raw text, so that numbers stay as they are written. */
function tryTool(link: TestLink, body: string): Promise<EventReader> {
  return EventReader.open(`${desk.relay.url}${path}/links/${link.linkId}/try`, {
    method: "POST",
    headers: ada.headers(),
    body,
  });
}

const SEARCH = '{"tool":"search_notes","arguments":{"query":"invoices"}}';

async function outcomeOf(reader: EventReader): Promise<JsonObject> {
  return reader.nextOf("outcome");
}

function framesOf(events: readonly StreamEvent[]): JsonObject[] {
  return events.filter(({ event }) => event === "frame").map(({ data }) => data);
}

test("a trial link is shown whole once, marked in lists, and rotated with its new URL", async () => {
  const link = await trialLink();
  assert.match(link.linkToken, /^lt_/);
  assert.match(link.mcpUrl, /\/v1\/mcp\/ut_/);
  const shown = await ada.ask("GET", `${path}/links/${link.linkId}`);
  assert.deepEqual([shown.body["trial"], shown.body["label"]], [true, "Trial"]);
  const rotated = await ada.ask("POST", `${path}/links/${link.linkId}/rotate`);
  assert.match(rotated.body["mcpUrl"], /\/v1\/mcp\/ut_/);
  const persons = await desk.relay.rest("POST", "/v1/links", keys["publishableKey"], {});
  const { body } = await ada.ask("GET", `${path}/links`);
  const marks = new Map(body["items"].map((one: JsonObject) => [one["linkId"], one["trial"]]));
  assert.deepEqual([marks.get(link.linkId), marks.get(persons.body["linkId"])], [true, false]);
});

test("a try shows the frames exactly as they were sent and received, then its outcome", async () => {
  const link = await trialLink();
  const answer = `"type":"result","content":[{"type":"text","text":"one"}],"structuredContent":{"n":9007199254740993}`;
  const app = await connectApp(link, {
    onCall: (call, self) => {
      self.send(`{"type":"progress", "id":"${call["id"]}","progress":1.50}`);
      self.send(`{ "id":"${call["id"]}",${answer} }`);
      return null;
    },
  });
  const text = '{"tool":"search_notes","arguments":{"query":"a","n":9007199254740993,"f":1.0}}';
  const reader = await tryTool(link, text);
  assert.equal(reader.response.status, 200);
  assert.match(reader.response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const events = await reader.rest();
  assert.deepEqual(
    events.map(({ event }) => event),
    ["frame", "frame", "frame", "outcome"],
  );
  const [sent, progress, result] = framesOf(events);
  assert.equal(sent?.["direction"], "to_app");
  assert.equal(
    sent?.["text"],
    app.texts.find((one) => one.includes('"call"')),
  );
  assert.match(String(sent?.["text"]), /\{"query":"a","n":9007199254740993,"f":1\.0\}/);
  assert.deepEqual([progress?.["direction"], result?.["direction"]], ["from_app", "from_app"]);
  const { callId, durationMs, ...outcome } = events.at(-1)?.data ?? {};
  assert.equal(progress?.["text"], `{"type":"progress", "id":"${callId}","progress":1.50}`);
  assert.equal(result?.["text"], `{ "id":"${callId}",${answer} }`);
  assert.ok(Date.parse(sent?.["at"]) <= Date.parse(result?.["at"]));
  assert.ok(durationMs >= 0);
  assert.deepEqual(outcome, {
    outcome: "ok",
    isError: false,
    content: [{ type: "text", text: "one" }],
    // Read by JSON.parse, which can't hold it; the text itself has the last digit.
    structuredContent: { n: 9007199254740992 },
  });
});

test("a try is a call like any other: counted, listed, as from the dashboard", async () => {
  const link = await trialLink();
  await connectApp(link, ECHO);
  const { callId } = await outcomeOf(await tryTool(link, SEARCH));
  const { items } = (await ada.ask("GET", `${path}/calls?linkId=${link.linkId}`)).body;
  assert.equal(items.length, 1);
  const [row] = items as JsonObject[];
  assert.deepEqual(
    [row?.["id"], row?.["outcome"], row?.["counted"], row?.["client"]?.name],
    [callId, "ok", true, "dashboard"],
  );
  // It is not a host that the link's person brought.
  const shown = await ada.ask("GET", `${path}/links/${link.linkId}`);
  assert.equal(shown.body["client"], null);
});

test("a call that never reaches the app ends in the words its host would read", async () => {
  const link = await trialLink();
  const texts = async (body: string): Promise<readonly unknown[]> => {
    const events = await (await tryTool(link, body)).rest();
    assert.deepEqual(framesOf(events), []);
    const { outcome, isError, content, callId } = events.at(-1)?.data ?? {};
    assert.match(callId, /^c_/);
    return [outcome, isError, content[0].text];
  };
  assert.deepEqual(await texts(SEARCH), ["unknown_tool", true, "Unknown tool: search_notes"]);
  const app = await connectApp(link, ECHO);
  assert.deepEqual(await texts('{"tool":"nope"}'), ["unknown_tool", true, "Unknown tool: nope"]);
  const [outcome, , text] = await texts('{"tool":"search_notes","arguments":{}}');
  assert.equal(outcome, "invalid_input");
  assert.match(String(text), /must have required property 'query'/);
  await ada.ask("POST", `${path}/links/${link.linkId}/pause`);
  assert.equal((await texts(SEARCH))[0], "paused");
  await ada.ask("POST", `${path}/links/${link.linkId}/resume`);
  await app.close();
  assert.equal((await texts(SEARCH))[0], "offline");
});

test("to leave a try cancels it, and the app is told", async () => {
  const link = await trialLink();
  const app = await connectApp(link);
  const reader = await tryTool(link, SEARCH);
  const { id } = await app.next("call");
  reader.leave();
  assert.equal((await app.next("cancel"))["id"], id);
  const [row] = await rowsOf(link);
  assert.deepEqual([row?.["outcome"], row?.["counted"]], ["cancelled", true]);
});

test("a try that times out shows the frame that tells the app to stop", async () => {
  const link = await trialLink();
  await connectApp(link);
  const events = await (await tryTool(link, SEARCH)).rest();
  const { outcome, callId } = events.at(-1)?.data ?? {};
  assert.equal(outcome, "timeout");
  assert.equal(framesOf(events).at(-1)?.["text"], `{"type":"cancel","id":"${callId}"}`);
});

test("an answer that breaks a rule is shown as it came, with the reason", async () => {
  const link = await trialLink();
  await connectApp(link, { onCall: () => ({ type: "result", content: "no" }) });
  const events = await (await tryTool(link, SEARCH)).rest();
  const { outcome, content } = events.at(-1)?.data ?? {};
  assert.equal(outcome, "tool_error");
  assert.match(content[0].text, /^The app sent an answer the relay could not accept: /);
  assert.match(framesOf(events).at(-1)?.["text"], /"content":"no"/);
});

test("for a page that does not read frames are left out and counted; the outcome comes all the same", async () => {
  await using slow = await openDashboard();
  const bob = await slow.visitor("bob");
  const { projectId } = (await bob.ask("POST", "/api/projects", { name: "Slow" })).body;
  const own = `/api/projects/${projectId}`;
  const link = (await bob.ask("POST", `${own}/trial-links`)).body as TestLink;
  // 20 MB, which is past what the kernel holds for a page, in a field that nobody looks at.
  const told = 100;
  const padding = "x".repeat(200_000);
  const app = await connectApp(link);
  const { port } = slow.relay;
  const socket = connect(port, "127.0.0.1");
  const headers = { Host: `localhost:${port}`, ...bob.headers(), "Content-Length": SEARCH.length };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(
    `POST ${own}/links/${link.linkId}/try HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${SEARCH}`,
  );
  const { id } = await app.next("call");
  socket.pause();
  for (let progress = 0; progress < told; progress += 1) {
    app.send({ type: "progress", id, progress, padding });
  }
  app.send({ type: "result", id, content: [] });
  for (;;) {
    const { items } = (await bob.ask("GET", `${own}/calls`)).body;
    if (items.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.resume();
  while (!text.includes("event: outcome")) await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  const dropped = Number(/event: dropped\ndata: \{"frames":(\d+)\}/.exec(text)?.[1]);
  const shown = text.split("event: frame\n").length - 1;
  assert.ok(dropped > 0, `${shown} shown`);
  assert.equal(shown + dropped, told + 2);
  assert.match(text, /"outcome":"ok"/);
});

test("a person's link can't be tried, whatever is asked; nor a revoked or stopped one", async () => {
  const made = await desk.relay.rest("POST", "/v1/links", keys["publishableKey"], {});
  const persons = made.body as TestLink;
  const app = await connectApp(persons, ECHO);
  const refusal = async (link: TestLink, body = SEARCH): Promise<readonly unknown[]> => {
    const response = await fetch(`${desk.relay.url}${path}/links/${link.linkId}/try`, {
      method: "POST",
      headers: ada.headers(),
      body,
    });
    const { error } = (await response.json()) as JsonObject;
    return [response.status, error.code];
  };
  assert.deepEqual(await refusal(persons), [409, "NOT_A_TRIAL_LINK"]);
  assert.ok(!app.frames.some(({ type }) => type === "call"));
  const link = await trialLink();
  for (const body of ["", "[]", "{", '{"tool":1}', '{"tool":"a","tool":"b"}']) {
    assert.deepEqual(await refusal(link, body), [400, "VALIDATION_ERROR"], body);
  }
  const deep = `{"tool":"a","arguments":{"a":${"[".repeat(127)}${"]".repeat(127)}}}`;
  assert.deepEqual(await refusal(link, deep), [400, "VALIDATION_ERROR"]);
  const huge = `{"tool":"a","arguments":{"a":"${"x".repeat(90_000)}"}}`;
  assert.deepEqual(await refusal(link, huge), [413, "PAYLOAD_TOO_LARGE"]);
  await ada.ask("POST", `${path}/links/${link.linkId}/revoke`);
  assert.deepEqual(await refusal(link), [409, "LINK_REVOKED"]);
  const stopped = await trialLink();
  await ada.ask("PATCH", path, { stopped: true });
  assert.deepEqual(await refusal(stopped), [403, "PROJECT_SUSPENDED"]);
  assert.equal((await ada.ask("POST", `${path}/trial-links`)).status, 403);
  await ada.ask("PATCH", path, { stopped: false });
});

test("other calls on a link are no part of a try", async () => {
  const link = await trialLink();
  const waiting: string[] = [];
  const app = await connectApp(link, {
    tools: [SEARCH_TOOL],
    onCall: (call) => {
      waiting.push(String(call["id"]));
      return null;
    },
  });
  const host = callTool(link.mcpUrl, "search_notes", { query: "host's own" });
  await app.next("call");
  const reader = await tryTool(link, SEARCH);
  await app.next("call");
  for (const id of waiting) app.send({ type: "result", id, content: [] });
  await host;
  assert.ok(!JSON.stringify(await reader.rest()).includes("host's own"));
});

async function rowsOf(link: TestLink): Promise<JsonObject[]> {
  for (;;) {
    const { items } = (await ada.ask("GET", `${path}/calls?linkId=${link.linkId}`)).body;
    if (items.length > 0) return items as JsonObject[];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
