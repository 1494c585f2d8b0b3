/** Every outcome a call can have in billing mode `off`: its text, its row, and whether it counts. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { OUTCOMES } from "@relay/protocol";
import { callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, JsonObject, TestApp, TestLink, TestProject } from "./harness.ts";
import { rowsOf, usageOf } from "./calls-rows.ts";

const relay = await openRelay({
  RELAY_CALL_TIMEOUT_SECONDS: "0.5",
  RELAY_CALLS_IN_FLIGHT: "1",
  RELAY_LINKS_PER_IP_PER_MINUTE: "1000",
});
after(() => relay[Symbol.asyncDispose]());

type Scene = { readonly project: TestProject; readonly link: TestLink; readonly app: TestApp };

/** One way to an outcome: what is done, what the host is told, and what the row says. */
type Way = {
  readonly outcome: keyof typeof OUTCOMES;
  readonly counted: boolean;
  readonly run: (scene: Scene) => Promise<HostAnswer>;
  readonly text: string | RegExp;
  /** Whether the answer is a stream: only for calls that reached the app. */
  readonly isStream: boolean;
  readonly resultBytes?: number;
};

const LOST =
  "The relay lost the connection to Jotter while running the tool; it may or may not have completed.";
const CONTENT = '[ {"type":"text","text":"é"}]';
const STRUCTURED = '{ "a":1}';
const query = { query: "é" };
const call = ({ link }: Scene): Promise<HostAnswer> => callTool(link.mcpUrl, "search_notes", query);

/** Calls, and lets the app act once it has the call. */
async function callAnd(scene: Scene, act: (id: string) => unknown): Promise<HostAnswer> {
  const pending = call(scene);
  const { id } = await scene.app.next("call");
  await act(id);
  return pending;
}

const WAYS: Readonly<Record<string, Way>> = {
  "a result": {
    outcome: "ok",
    counted: true,
    run: (scene) =>
      callAnd(scene, (id) =>
        scene.app.send(
          `{"type":"result","id":"${id}","content":${CONTENT},"structuredContent":${STRUCTURED}}`,
        ),
      ),
    text: "é",
    isStream: true,
    resultBytes: Buffer.byteLength(CONTENT) + Buffer.byteLength(STRUCTURED),
  },
  "a result that says it is an error": {
    outcome: "ok",
    counted: true,
    run: (scene) =>
      callAnd(scene, (id) =>
        scene.app.send({
          type: "result",
          id,
          content: [{ type: "text", text: "no such note" }],
          isError: true,
        }),
      ),
    text: "no such note",
    isStream: true,
  },
  "an error": {
    outcome: "tool_error",
    counted: true,
    run: (scene) =>
      callAnd(scene, (id) => scene.app.send({ type: "error", id, message: "database is locked" })),
    text: "database is locked",
    isStream: true,
  },
  "an answer that breaks the rules": {
    outcome: "tool_error",
    counted: true,
    run: (scene) => callAnd(scene, (id) => scene.app.send({ type: "result", id, content: 5 })),
    text: /^The app sent an answer the relay could not accept: content must be/,
    isStream: true,
  },
  "no answer": {
    outcome: "timeout",
    counted: true,
    run: call,
    text: "Jotter did not answer within 0.5 seconds.",
    isStream: true,
    resultBytes: 0,
  },
  "a cancel": {
    outcome: "cancelled",
    counted: true,
    run: (scene) =>
      callAnd(scene, () =>
        post(scene.link.mcpUrl, {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 1 },
        }),
      ),
    text: "The call was cancelled.",
    isStream: true,
    resultBytes: 0,
  },
  "a socket that closes": {
    outcome: "disconnected",
    counted: false,
    run: (scene) => callAnd(scene, () => scene.app.socket.terminate()),
    text: LOST,
    isStream: true,
    resultBytes: 0,
  },
  "a newer socket": {
    outcome: "disconnected",
    counted: false,
    run: (scene) => callAnd(scene, () => connectApp(scene.link, JOTTER)),
    text: LOST,
    isStream: true,
  },
  "a revoked link": {
    outcome: "disconnected",
    counted: false,
    run: (scene) => callAnd(scene, () => scene.app.send({ type: "link.revoke", id: "x" })),
    text: LOST,
    isStream: true,
  },
  "a suspended project": {
    outcome: "disconnected",
    counted: false,
    run: (scene) => callAnd(scene, () => scene.project.change({ suspended: true })),
    text: LOST,
    isStream: true,
  },
  "an app that is not there": {
    outcome: "offline",
    counted: false,
    run: async (scene) => {
      await scene.app.close();
      return call(scene);
    },
    text: "Jotter is not running on your device. Open it and try again.",
    isStream: false,
  },
  "a paused link": {
    outcome: "paused",
    counted: false,
    run: async (scene) => {
      scene.app.send({ type: "link.pause", id: "p" });
      await scene.app.next("link.state");
      return call(scene);
    },
    text: "Jotter is paused in the app. Resume it there and try again.",
    isStream: false,
  },
  "arguments that do not fit": {
    outcome: "invalid_input",
    counted: false,
    run: ({ link }) => callTool(link.mcpUrl, "search_notes", { query: 7 }),
    text: "-32602 Invalid arguments for tool search_notes: arguments/query must be string",
    isStream: false,
  },
  "a tool that is not there": {
    outcome: "unknown_tool",
    counted: false,
    run: ({ link }) => callTool(link.mcpUrl, "delete_notes", query),
    text: "-32602 Unknown tool: delete_notes",
    isStream: false,
  },
};

const JOTTER = { app: { name: "Jotter", version: "9" } };

async function setTheScene(): Promise<Scene> {
  const project = await relay.project({ name: "Project" });
  const link = await project.link();
  return { project, link, app: await connectApp(link, JOTTER) };
}

/** What a host is told: the tool error's text, or the code and message of a JSON-RPC error. */
function toldBy({ message }: HostAnswer): string {
  const { error, result } = message;
  return error === undefined ? result.content[0].text : `${error.code} ${error.message}`;
}

function assertTold(answer: HostAnswer, way: Way, what: string): void {
  assert.equal(answer.status, 200, what);
  assert.equal(answer.messages.length, 1, what);
  const told = toldBy(answer);
  if (typeof way.text === "string") assert.equal(told, way.text, what);
  else assert.match(told, way.text, what);
  const type = way.isStream ? /^text\/event-stream/ : /^application\/json$/;
  assert.match(answer.headers.get("content-type") ?? "", type, what);
  const { result } = answer.message;
  const isError = !(way.outcome === "ok" && what === "a result");
  if (result !== undefined) assert.equal(result.isError, isError, what);
}

function assertRow(row: JsonObject, way: Way, facts: { link: TestLink; answer: HostAnswer }): void {
  const { startedAt, durationMs, id, resultBytes, ...rest } = row;
  const isUnknown = way.outcome === "unknown_tool";
  assert.deepEqual(rest, {
    linkId: facts.link.linkId,
    tool: isUnknown ? "delete_notes" : "search_notes",
    client: { name: "example-host", version: "1.0.0" },
    outcome: way.outcome,
    counted: way.counted,
    requestBytes: way.outcome === "invalid_input" ? 11 : 14,
    requestId: facts.answer.headers.get("x-request-id"),
  });
  assert.match(id, /^c_[0-9A-Za-z]{16}$/);
  assert.match(startedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
  assert.ok(Number.isInteger(resultBytes) && resultBytes >= 0);
  if (way.resultBytes !== undefined) assert.equal(resultBytes, way.resultBytes);
  if (way.outcome === "timeout") assert.ok(durationMs >= 499, String(durationMs));
}

for (const [what, way] of Object.entries(WAYS)) {
  const counts = way.counted ? "counted" : "not counted";
  test(`${what} ends a call as ${way.outcome}, ${counts}`, async () => {
    const at = await setTheScene();
    const clientInfo = { name: "example-host", version: "1.0.0" };
    const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: { clientInfo } };
    await post(at.link.mcpUrl, hello);
    const answer = await way.run(at);
    assertTold(answer, way, what);
    const [row, ...others] = await rowsOf(at.project, 1);
    assert.ok(row);
    assert.deepEqual(others, []);
    assertRow(row, way, { link: at.link, answer });
    const usage = await usageOf(at.project, 1);
    assert.deepEqual(usage["byOutcome"], { [way.outcome]: 1 });
    const { counted, total, days } = usage;
    const day = row["startedAt"].slice(0, 10);
    assert.deepEqual([counted, total], [Number(way.counted), 1]);
    assert.deepEqual(days, [{ day, counted: Number(way.counted), total: 1 }]);
    at.app.socket.terminate();
  });
}

test("with the one place taken a call ends as busy, and with the minute used up as rate_limited, neither counted", async () => {
  const at = await setTheScene();
  await at.project.change({ callsPerMinute: 1 });
  const held = call(at);
  const { id } = await at.app.next("call");
  const limited = await call(at);
  assert.match(
    textOf(limited),
    /^Jotter is rate limited: too many calls this minute\. Try again in (1 second|\d+ seconds)\.$/,
  );
  await at.project.change({ callsPerMinute: 2 });
  const busy = await call(at);
  assert.equal(textOf(busy), "Jotter is busy with other calls. Try again in a moment.");
  for (const answer of [limited, busy]) {
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.equal(answer.message["result"].isError, true);
  }
  at.app.send({ type: "result", id, content: [] });
  await held;
  const rows = await rowsOf(at.project, 3);
  const told = new Map(rows.map((row) => [row["requestId"], [row["outcome"], row["counted"]]]));
  const rowOf = ({ headers }: HostAnswer): unknown => told.get(headers.get("x-request-id"));
  assert.deepEqual(rowOf(limited), ["rate_limited", false]);
  assert.deepEqual(rowOf(busy), ["busy", false]);
  assert.deepEqual(rowOf(await held), ["ok", true]);
  const { byOutcome, counted, total } = await usageOf(at.project, 3);
  assert.deepEqual(byOutcome, { busy: 1, ok: 1, rate_limited: 1 });
  assert.deepEqual([counted, total], [1, 3]);
  await at.app.close();
});

test("every outcome of this billing mode is produced above", () => {
  const produced = new Set(Object.values(WAYS).map(({ outcome }) => outcome));
  produced.add("busy").add("rate_limited");
  const paid = ["cap_reached", "quota_exceeded"];
  const expected = Object.keys(OUTCOMES).filter((name) => !paid.includes(name));
  assert.deepEqual([...produced].toSorted(), expected.toSorted());
});

test("an app that is told to stop gets cancel for its late call, and its late answer goes nowhere", async () => {
  const at = await setTheScene();
  const pending = call(at);
  const { id } = await at.app.next("call");
  assert.equal((await at.app.next("cancel"))["id"], id);
  at.app.send({ type: "result", id, content: [] });
  assert.equal(textOf(await pending), "Jotter did not answer within 0.5 seconds.");
  at.app.send({ type: "ping" });
  await at.app.next("pong");
  assert.deepEqual(
    at.app.frames.filter(({ type }) => type === "error"),
    [],
  );
  assert.equal((await rowsOf(at.project, 1)).length, 1);
  await at.app.close();
});

test("a paused link lets calls in flight finish, and a rotated one too", async () => {
  const at = await setTheScene();
  for (const command of ["link.pause", "link.resume", "link.rotate"]) {
    const answer = await callAnd(at, async (id) => {
      at.app.send({ type: command, id: "c" });
      await at.app.next(command === "link.rotate" ? "link.rotated" : "link.state");
      at.app.send({ type: "result", id, content: [{ type: "text", text: command }] });
    });
    assert.equal(textOf(answer), command);
    at.app.send({ type: "link.resume", id: "c" });
    await at.app.next("link.state");
  }
  await at.app.close();
});

test("the row of a call has the client of the last initialize, though the app was away or came later", async () => {
  const project = await relay.project();
  const link = await project.link();
  const first = await connectApp(link, JOTTER);
  await first.close();
  const clientInfo = { name: "example-host", version: "1.0.0" };
  const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: { clientInfo } };
  await post(link.mcpUrl, hello);
  await callTool(link.mcpUrl);
  const app = await connectApp(link, {
    ...JOTTER,
    onCall: () => ({ type: "result", content: [] }),
  });
  await callTool(link.mcpUrl);
  for (const row of await rowsOf(project, 2)) {
    assert.deepEqual(row["client"], clientInfo, row["outcome"]);
  }
  await app.close();
});

test("the call frame says what is to be done, and until when", async () => {
  const at = await setTheScene();
  const before = Date.now();
  await callAnd(at, (id) => at.app.send({ type: "result", id, content: [] }));
  const frame = at.app.frames.find(({ type }) => type === "call");
  assert.ok(frame);
  const { id, deadline, ...rest } = frame;
  assert.deepEqual(rest, { type: "call", tool: "search_notes", arguments: query });
  assert.match(id, /^c_[0-9A-Za-z]{16}$/);
  const untilMs = Date.parse(deadline) - 500;
  assert.ok(untilMs >= before && untilMs <= Date.now(), deadline);
  await at.app.close();
});
