/** Ways in which a host takes a call back: it goes away, or it says so. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Random } from "../../packages/server/src/core/schema/test/random.ts";
import { callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, TestApp, TestLink } from "./harness.ts";
import { callText, rowsOf } from "./calls-rows.ts";
import { OpenStream } from "./host-open-stream.ts";
import { RawConnection, requestText } from "./host-raw.ts";

const relay = await openRelay({ RELAY_CALLS_IN_FLIGHT: "20", RELAY_CALLS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

const seed = Date.now() % 1_000_000;
const JSON_TYPE = { "Content-Type": "application/json" };
const CALL = callText('{"query":"x"}');
const answerTo = (app: TestApp, id: unknown, text: unknown = "done"): void =>
  app.send({ type: "result", id, content: [{ type: "text", text }] });

/** Sends `notifications/cancelled` for a JSON-RPC id as it is written. */
async function cancel(link: TestLink, id: string): Promise<void> {
  const body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
  const answer = await post(link.mcpUrl, body);
  assert.deepEqual([answer.status, answer.text], [202, ""]);
}

/** Starts a call on a connection of its own and waits until the app has it. */
async function rawCall(link: TestLink, app: TestApp): Promise<[RawConnection, string]> {
  const host = new RawConnection(relay.port);
  const headers = { "Content-Type": "application/json" };
  host.send(requestText(relay.port, "POST", new URL(link.mcpUrl).pathname, headers, CALL));
  const { id } = await app.next("call");
  return [host, id];
}

test("a host that goes away cancels its call: by FIN, by RST, or without having read any of the answer", async () => {
  await using narrow = await openRelay({ RELAY_CALLS_IN_FLIGHT: "1" });
  const project = await narrow.project();
  const link = await project.link();
  const app = await connectApp(link);
  const deaf = "*/*;deaf";
  const go: [string, string, (host: RawConnection) => unknown][] = [
    ["RST, nothing read", deaf, (host) => host.reset()],
    ["FIN", "*/*", (host) => host.finish()],
    ["RST", "*/*", (host) => host.reset()],
    ["FIN, JSON only", "application/json", (host) => host.finish()],
    ["RST, JSON only", "application/json", (host) => host.reset()],
  ];
  const { pathname } = new URL(link.mcpUrl);
  const startOf = async (accept: string): Promise<[RawConnection, string]> => {
    const host = new RawConnection(narrow.port);
    if (accept === deaf) host.socket.pause();
    const headers = { "Content-Type": "application/json", Accept: accept };
    host.send(requestText(narrow.port, "POST", pathname, headers, CALL));
    const { id } = await app.next("call");
    return [host, id];
  };
  for (const [what, accept, leave] of go) {
    const [host, id] = await startOf(accept);
    leave(host);
    assert.equal((await app.next("cancel"))["id"], id, what);
  }
  // The only place is free again, or this one would be busy.
  const last = callTool(link.mcpUrl);
  answerTo(app, (await app.next("call"))["id"]);
  assert.equal(textOf(await last), "done");
  const rows = await rowsOf(project, go.length + 1);
  assert.deepEqual(
    rows.map(({ outcome, counted }) => [outcome, counted]),
    [["ok", true], ...Array.from({ length: go.length }, () => ["cancelled", true])],
  );
});

test("a host's own client that aborts cancels the call", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const stream = await OpenStream.open(link.mcpUrl, CALL);
  const { id } = await app.next("call");
  stream.close();
  assert.equal((await app.next("cancel"))["id"], id);
  await app.close();
});

test("notifications/cancelled tells the app, and the stream ends with a tool error that says so", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  for (const accept of ["*/*", "application/json"]) {
    const body = callText('{"query":"x"}', { id: '"call-7"' });
    const pending = post(link.mcpUrl, body, { Accept: accept });
    const { id } = await app.next("call");
    await cancel(link, '"call-7"');
    const answer = await pending;
    assert.equal(textOf(answer), "The call was cancelled.");
    assert.equal(answer.message["result"].isError, true);
    assert.equal(answer.message["id"], "call-7");
    assert.equal(answer.messages.length, 1);
    assert.equal((await app.next("cancel"))["id"], id);
  }
  const rows = await rowsOf(project, 2);
  for (const row of rows) assert.deepEqual([row["outcome"], row["counted"]], ["cancelled", true]);
  await app.close();
});

test("an answer that comes after cancel is dropped: no error frame, no second row, no strike", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  for (let round = 0; round < 15; round += 1) {
    const stream = await OpenStream.open(link.mcpUrl, CALL);
    const { id } = await app.next("call");
    await cancel(link, "1");
    await app.next("cancel");
    answerTo(app, id);
    app.send({ type: "error", id, message: "too late" });
    assert.equal((await stream.answer())["result"].content[0].text, "The call was cancelled.");
  }
  const last = callTool(link.mcpUrl);
  answerTo(app, (await app.next("call"))["id"]);
  assert.equal(textOf(await last), "done");
  assert.equal((await rowsOf(project, 16)).length, 16);
  assert.deepEqual(
    app.frames.filter(({ type }) => type === "error"),
    [],
  );
  await app.close();
});

test("twenty calls with the same id each get their own answer, and a cancel of that id hits none", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const queries = Array.from({ length: 20 }, (_, n) => `query ${n}`);
  const pending = queries.map((query) => callTool(link.mcpUrl, "search_notes", { query }));
  const calls = [];
  for (const _ of queries) calls.push(await app.next("call"));
  await cancel(link, "1");
  for (const { id, arguments: given } of calls.toReversed()) answerTo(app, id, given.query);
  const answers = await Promise.all(pending);
  assert.deepEqual(answers.map(textOf), queries);
  for (const { message } of answers) assert.equal(message["id"], 1);
  assert.deepEqual(
    app.frames.filter(({ type }) => type === "cancel"),
    [],
  );
  await app.close();
});

test('ids are told apart by type and value: 1 is not "1", and 1.0 is 1', async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const start = async (id: string): Promise<[Promise<HostAnswer>, string]> => {
    const pending = post(link.mcpUrl, callText('{"query":"x"}', { id }));
    return [pending, (await app.next("call"))["id"]];
  };
  const [number, numberId] = await start("1");
  const [string, stringId] = await start('"1"');
  await cancel(link, '"1"');
  assert.equal(textOf(await string), "The call was cancelled.");
  assert.equal((await app.next("cancel"))["id"], stringId);
  const [twin, twinId] = await start("1.0");
  // Two carry the number now: nothing happens.
  await cancel(link, "1");
  await cancel(link, "1.0");
  answerTo(app, twinId);
  assert.equal(textOf(await twin), "done");
  // Only one is left.
  await cancel(link, "1E0");
  assert.equal(textOf(await number), "The call was cancelled.");
  assert.equal((await app.next("cancel"))["id"], numberId);
  const [escaped, escapedId] = await start('"\\u0061"');
  await cancel(link, '"a"');
  assert.equal(textOf(await escaped), "The call was cancelled.");
  assert.equal((await app.next("cancel"))["id"], escapedId);
  await app.close();
});

test("a cancel of an unknown, foreign or finished id is 202 and nothing happens", async () => {
  const [link, other] = [await relay.link(), await relay.link()];
  const app = await connectApp(link);
  const pending = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  for (const requestId of ["2", '"1"', "null", "{}", "1.5", '""', "true"])
    await cancel(link, requestId);
  await cancel(other, "1");
  answerTo(app, id);
  assert.equal(textOf(await pending), "done");
  await cancel(link, "1");
  app.send({ type: "ping" });
  await app.next("pong");
  assert.deepEqual(
    app.frames.filter(({ type }) => type === "cancel"),
    [],
  );
  await app.close();
});

test("with all places taken a cancel is carried out at once, and the place is free", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const pending = Array.from({ length: 20 }, (_, n) =>
    post(link.mcpUrl, callText('{"query":"x"}', { id: String(n) })),
  );
  for (const _ of pending) await app.next("call");
  assert.match(textOf(await callTool(link.mcpUrl)), /^Notes is busy with other calls/);
  await cancel(link, "7");
  const answer = await pending[7];
  assert.ok(answer);
  assert.equal(textOf(answer), "The call was cancelled.");
  const next = callTool(link.mcpUrl);
  answerTo(app, (await app.next("call"))["id"]);
  assert.equal(textOf(await next), "done");
  await app.close();
  await Promise.all(pending);
});

test("a modern host's cancel works the same", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const [host, id] = await rawCall(link, app);
  const body = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/cancelled" };
  assert.equal((await post(link.mcpUrl, body, headers)).status, 202);
  assert.equal((await app.next("cancel"))["id"], id);
  await host.until((text) => text.includes("The call was cancelled."));
  host.finish();
  await app.close();
});

test(`two hundred calls that hosts abandon at random moments leave nothing behind (seed ${seed})`, async () => {
  const random = new Random(seed);
  const project = await relay.project({ callsPerMinute: 6000 });
  const link = await project.link();
  const app = await connectApp(link, {
    onCall: (call) => (random.chance(0.5) ? { type: "result", content: [], id: call["id"] } : null),
  });
  const abandon = async (): Promise<void> => {
    const host = new RawConnection(relay.port);
    host.send(requestText(relay.port, "POST", new URL(link.mcpUrl).pathname, JSON_TYPE, CALL));
    await new Promise((resolve) => setTimeout(resolve, random.below(15)));
    if (random.chance(0.5)) host.reset();
    else host.finish();
    await host.closed;
  };
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 20 }, abandon));
  }
  const { node } = relay.relay;
  while (node.inFlight > 0 || node.settler.unwritten > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // The app was told to stop exactly those that ended that way.
  app.send({ type: "ping" });
  await app.next("pong");
  const of = (type: string): number => app.frames.filter((frame) => frame["type"] === type).length;
  const rows = await rowsOf(project, of("call"));
  const cancelled = rows.filter(({ outcome }) => outcome === "cancelled").length;
  assert.equal(cancelled, of("cancel"));
  assert.equal(rows.length, of("call"));
  for (const { counted } of rows) assert.equal(counted, true);
  await app.close();
});
