/** The live stream of a project: calls and links as they happen, bounded, ending with the session. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { EventReader } from "./event-reader.ts";
import { ECHO, callTool, connectApp } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard({ RELAY_CALLS_PER_MINUTE: "6000" });
after(() => desk[Symbol.asyncDispose]());
let ada: Visitor;

before(async () => {
  ada = await desk.visitor("ada");
});

async function project(name: string) {
  const { body } = await ada.ask("POST", "/api/projects", { name });
  return { path: `/api/projects/${body["projectId"]}`, key: String(body["publishableKey"]) };
}

async function linkOf(key: string): Promise<TestLink> {
  return (await desk.relay.rest("POST", "/v1/links", key, {})).body as TestLink;
}

function watch(path: string, visitor: Visitor = ada): Promise<EventReader> {
  return EventReader.open(`${desk.relay.url}${path}/events`, { headers: visitor.headers() });
}

test("a link's life is told as it happens: made, connected, paused, resumed, gone, revoked", async () => {
  const { path, key } = await project("Links");
  const reader = await watch(path);
  const { headers } = reader.response;
  assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
  assert.match(headers.get("x-request-id") ?? "", /^req_/);
  assert.match(headers.get("cache-control") ?? "", /no-cache/);
  const link = await linkOf(key);
  const { linkId } = link;
  const stands = (connected: boolean, paused: boolean, revoked: boolean) => ({
    linkId,
    connected,
    paused,
    revoked,
  });
  assert.deepEqual(await reader.nextOf("link"), stands(false, false, false));
  const app = await connectApp(link);
  assert.deepEqual(await reader.nextOf("link"), stands(true, false, false));
  await ada.ask("POST", `${path}/links/${linkId}/pause`);
  assert.deepEqual(await reader.nextOf("link"), stands(true, true, false));
  await ada.ask("POST", `${path}/links/${linkId}/resume`);
  assert.deepEqual(await reader.nextOf("link"), stands(true, false, false));
  await app.close();
  assert.deepEqual(await reader.nextOf("link"), stands(false, false, false));
  const again = await connectApp(link);
  assert.deepEqual(await reader.nextOf("link"), stands(true, false, false));
  await ada.ask("POST", `${path}/links/${linkId}/revoke`);
  assert.deepEqual(await reader.nextOf("link"), stands(false, false, true));
  assert.equal((await again.closed).code, 4410);
  assert.deepEqual(await reader.nextOf("link"), stands(false, false, true));
  reader.leave();
});

test("a call is told with the row that the list has, refused ones too, and no other project's", async () => {
  const { path, key } = await project("Calls");
  const other = await project("Others");
  const [link, foreign] = [await linkOf(key), await linkOf(other.key)];
  await connectApp(link, ECHO);
  await connectApp(foreign, ECHO);
  const reader = await watch(path);
  await callTool(foreign.mcpUrl);
  await callTool(link.mcpUrl);
  await callTool(link.mcpUrl, "nope");
  const told = [await reader.nextOf("call"), await reader.nextOf("call")];
  assert.deepEqual(
    told.map(({ outcome }) => outcome),
    ["ok", "unknown_tool"],
  );
  const listed = await ada.ask("GET", `${path}/calls`);
  assert.deepEqual(listed.body["items"], told.toReversed());
  reader.leave();
});

test("200 calls a second are told whole and in order", async () => {
  const { path, key } = await project("Busy");
  const links: TestLink[] = [];
  for (let count = 0; count < 8; count += 1) links.push(await linkOf(key));
  for (const link of links) await connectApp(link, ECHO);
  const reader = await watch(path);
  const seen = (async () => {
    const ids = new Set<string>();
    while (ids.size < 400) ids.add((await reader.nextOf("call"))["id"]);
    return ids;
  })();
  const startedAt = Date.now();
  for (let second = 0; second < 8; second += 1) {
    const due = startedAt + second * 250;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        callTool(links[at % links.length]?.mcpUrl ?? "", "search_notes", { query: `${at}` }),
      ),
    );
  }
  assert.equal((await seen).size, 400);
  reader.leave();
});

test("a page that does not read misses calls and is told how many; no more is kept for it", async () => {
  const { path, key } = await project("Slow");
  const link = await linkOf(key);
  await connectApp(link, ECHO);
  const { port, hostname } = new URL(desk.relay.url);
  const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
  const headers = Object.entries({ Host: `localhost:${port}`, ...ada.headers() });
  socket.write(
    `GET ${path}/events HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  // The rows are told past the kernel's buffers, which hold some megabytes.
  const row = await rowOf(path, link);
  const told = 60_000;
  for (let at = 0; at < told; at += 1) desk.relay.relay.node.live.callEnded(row);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.resume();
  const dropped = await new Promise<number>((resolve, reject) => {
    let tries = 0;
    const timer = setInterval(() => {
      tries += 1;
      if (tries > 1_000) {
        clearInterval(timer);
        socket.destroy();
        reject(new Error("nobody said how many calls were dropped"));
      }
      desk.relay.relay.node.live.callEnded(row);
      const found = /event: dropped\ndata: \{"calls":(\d+)\}/.exec(text);
      if (found === null) return;
      clearInterval(timer);
      resolve(Number(found[1]));
    }, 20);
  });
  const whole = text.split("event: call\n").length - 1;
  assert.ok(dropped > 0 && whole < told, `${dropped} dropped, ${whole} told`);
  socket.destroy();
});

test("a visitor has eight streams at once; one that is closed makes room", async () => {
  const { path } = await project("Many");
  const readers = [];
  for (let count = 0; count < 8; count += 1) readers.push(await watch(path));
  const { response: ninth } = await watch(path);
  assert.deepEqual([ninth.status, ninth.headers.get("retry-after")], [429, "15"]);
  const bob = await desk.visitor("bob");
  const made = await bob.ask("POST", "/api/projects", { name: "Bob's" });
  const own = await watch(`/api/projects/${made.body["projectId"]}`, bob);
  assert.equal(own.response.status, 200);
  own.leave();
  readers.pop()?.leave();
  for (;;) {
    const again = await watch(path);
    again.leave();
    if (again.response.status === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const reader of readers) reader.leave();
});

test("a stream ends when its project is deleted", async () => {
  const { path } = await project("Gone");
  const reader = await watch(path);
  await ada.ask("DELETE", path, { name: "Gone" });
  await reader.rest();
  assert.equal((await ada.ask("GET", `${path}/events`)).status, 404);
});

test("a stream ends within 15 seconds of its session", async () => {
  const cleo = await desk.visitor("cleo");
  const made = await cleo.ask("POST", "/api/projects", { name: "Cleo's" });
  const reader = await watch(`/api/projects/${made.body["projectId"]}`, cleo);
  const startedAt = Date.now();
  await cleo.signOut();
  await reader.rest();
  assert.ok(Date.now() - startedAt < 17_000);
});

test("streams end when Relay stops, which they do not hold up", async () => {
  const other = await openDashboard();
  try {
    const dan = await other.visitor("dan");
    const { body } = await dan.ask("POST", "/api/projects", { name: "Dan's" });
    const reader = await EventReader.open(
      `${other.relay.url}/api/projects/${body["projectId"]}/events`,
      { headers: dan.headers() },
    );
    const startedAt = Date.now();
    await Promise.all([reader.rest(), other[Symbol.asyncDispose]()]);
    assert.ok(Date.now() - startedAt < 3_000);
  } finally {
    await other[Symbol.asyncDispose]().catch(() => undefined);
  }
});

/** The row of one call, as the store has it. */
async function rowOf(path: string, link: TestLink) {
  await callTool(link.mcpUrl);
  const { items } = (await ada.ask("GET", `${path}/calls`)).body;
  const [row] = items as JsonObject[];
  assert.ok(row !== undefined);
  const { id, startedAt, ...rest } = row;
  const projectId = path.split("/").at(-1);
  return {
    ...rest,
    callId: id,
    projectId,
    toolKnown: true,
    startedAt: Date.parse(startedAt),
  } as never;
}
