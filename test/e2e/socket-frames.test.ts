/** What an app may say after ready, and what it is told when it says something else (SPEC 5). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { callTool, connectApp, openRelay, textOf } from "./harness.ts";
import type { JsonObject, TestApp } from "./harness.ts";

const relay = await openRelay({
  RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  RELAY_COMMANDS_PER_MINUTE: "100",
});
after(() => relay[Symbol.asyncDispose]());

const TOO_MANY = { code: 4400, reason: "invalid hello or too many invalid frames" };
const NOBODY = "c_0000000000000000";

function invalid(message: string, id: string | null = null): JsonObject {
  return { type: "error", id, code: "invalid_message", message };
}

/** Sends a ping and returns what had come by the time its pong did. */
async function untilPong(app: TestApp): Promise<JsonObject[]> {
  app.send({ type: "ping" });
  await app.next("pong");
  return app.frames.filter(({ type }) => type !== "ready" && type !== "pong");
}

function deep(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}`;
}

test("a frame that can't be used gets an error frame with its id where it has one", async () => {
  const frames: readonly (readonly [unknown, JsonObject])[] = [
    ["", invalid("not valid JSON")],
    ["{", invalid("not valid JSON")],
    ["nul", invalid("not valid JSON")],
    ['\ufeff{"type":"ping"}', invalid("not valid JSON")],
    ["null", invalid("a frame must be a JSON object")],
    ["[]", invalid("a frame must be a JSON object")],
    ['"ping"', invalid("a frame must be a JSON object")],
    [{}, invalid("type must be a string")],
    [{ id: "x1", type: 5 }, invalid("type must be a string", "x1")],
    [{ type: "Ping", id: "x2" }, invalid('unknown frame type "Ping"', "x2")],
    [{ type: "ready", id: 5 }, invalid('unknown frame type "ready"')],
    [{ type: "__proto__" }, invalid('unknown frame type "__proto__"')],
    [{ type: "x", id: "i".repeat(65) }, invalid('unknown frame type "x"')],
    [`{"type":"ping","x":${deep(128)}}`, invalid("JSON is nested deeper than 128 levels")],
    [`{"type":"ping","x":${deep(5000)}}`, invalid("JSON is nested deeper than 128 levels")],
    ['{"type":"ping","a":1,"a":1}', invalid("JSON must not repeat a key in one object")],
    [
      '{"type":"ping","a":{"b":1,"\\u0062":1}}',
      invalid("JSON must not repeat a key in one object"),
    ],
    [{ type: "result" }, invalid("id must be a string")],
    [{ type: "result", id: 5, content: [] }, invalid("id must be a string")],
    [{ type: "error", id: null, message: "x" }, invalid("id must be a string")],
    [{ type: "progress", id: NOBODY }, invalid("progress must be a number", NOBODY)],
    [{ type: "progress", id: NOBODY, progress: "1" }, invalid("progress must be a number", NOBODY)],
    [{ type: "progress", progress: 1 }, invalid("id must be a string")],
    ['{"type":"progress","id":"p","progress":1e999}', invalid("progress must be a number", "p")],
    [
      { type: "progress", id: "p", progress: 1, total: "9" },
      invalid("total must be a number", "p"),
    ],
    [
      { type: "progress", id: "p", progress: 1, message: 5 },
      invalid("message must be a string", "p"),
    ],
    [
      { type: "progress", id: "p", progress: 1, message: "x".repeat(1001) },
      invalid("message must be at most 1000 characters", "p"),
    ],
    [{ type: "link.pause" }, invalid("id must be a string of 1 to 64 characters")],
    [{ type: "link.pause", id: "" }, invalid("id must be a string of 1 to 64 characters")],
    [{ type: "link.pause", id: 7 }, invalid("id must be a string of 1 to 64 characters")],
    [
      { type: "link.revoke", id: "i".repeat(65) },
      invalid("id must be a string of 1 to 64 characters"),
    ],
  ];
  const link = await relay.link();
  // Ten of them are forgiven on one socket.
  for (let at = 0; at < frames.length; at += 10) {
    const some = frames.slice(at, at + 10);
    const app = await connectApp(link);
    for (const [frame] of some) app.send(frame);
    assert.deepEqual(
      await untilPong(app),
      some.map(([, error]) => error),
    );
    await app.close();
  }
});

test("unknown extra fields are ignored, and no field is too odd for that", async () => {
  const app = await connectApp(await relay.link());
  app.send(`{"type":"ping","id":{"a":1e999},"__proto__":{"type":"x"},"x":${deep(127)}}`);
  await app.next("pong");
  assert.deepEqual(await untilPong(app), []);
  await app.close();
});

test("a binary frame is an invalid frame, even if it holds a good one", async () => {
  const app = await connectApp(await relay.link());
  app.socket.send(Buffer.from('{"type":"ping"}'), { binary: true });
  assert.deepEqual(await untilPong(app), [invalid("frames are JSON text, not binary")]);
  await app.close();
});

test("ten invalid frames are forgiven; the eleventh gets its error frame, then 4400", async () => {
  const app = await connectApp(await relay.link());
  for (let n = 1; n <= 10; n += 1) app.send({ type: "nope", id: `n${n}` });
  assert.equal((await untilPong(app)).length, 10);
  app.send({ type: "nope", id: "n11" });
  app.send({ type: "nope", id: "n12" });
  assert.deepEqual(await app.closed, TOO_MANY);
  const ids = app.frames.filter(({ type }) => type === "error").map(({ id }) => id);
  assert.deepEqual(
    ids,
    Array.from({ length: 11 }, (_, n) => `n${n + 1}`),
  );
});

test("the invalid frames that are forgiven can be set, and each socket begins anew", async () => {
  await using strict = await openRelay({ RELAY_INVALID_FRAMES: "1" });
  const link = await strict.link();
  for (let round = 0; round < 2; round += 1) {
    const app = await connectApp(link);
    app.send("1");
    assert.equal((await untilPong(app)).length, 1);
    app.send("2");
    assert.deepEqual(await app.closed, TOO_MANY);
  }
});

test("an answer to a call that is unknown, over or another link's is dropped without a word", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, { onCall: () => null });
  const other = await connectApp(await project.link());
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  for (let n = 0; n < 15; n += 1) {
    other.send({ type: "result", id, content: [{ type: "text", text: "foreign" }] });
    other.send({ type: "error", id, message: "foreign" });
    other.send({ type: "progress", id, progress: n });
    other.send({ type: "result", id: NOBODY, content: 5 });
    other.send(`{"type":"error","id":"${NOBODY}","message":"a","message":"b"}`);
  }
  assert.deepEqual(await untilPong(other), [], "neither delivered nor a strike");
  app.send({ type: "result", id, content: [{ type: "text", text: "own" }] });
  assert.equal(textOf(await waiting), "own");
  for (let n = 0; n < 15; n += 1) app.send({ type: "result", id, content: 5 });
  assert.deepEqual(
    (await untilPong(app)).map(({ type }) => type),
    ["call"],
    "a second answer is too late",
  );
  assert.equal((await project.calls()).length, 1);
  await app.close();
  await other.close();
});

test("an error frame ends its call whatever is wrong with it; its message may have 128 KiB", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const failWith = async (members: string): Promise<string> => {
    const waiting = callTool(link.mcpUrl);
    const { id } = await app.next("call");
    app.send(`{"type":"error","id":"${id}",${members}}`);
    return textOf(await waiting);
  };
  const longest = "x".repeat(128 * 1024 - '""'.length);
  assert.equal(await failWith(`"message":"${longest}"`), longest);
  const faults: readonly (readonly [string, string])[] = [
    [`"message":"${longest}x"`, "message must be at most 131072 bytes as JSON, not 131073"],
    ['"message":"a","message":"b"', "JSON must not repeat a key in one object"],
    [`"message":"a","x":${deep(130)}`, "JSON is nested deeper than 128 levels"],
    ['"message":{"text":"a"}', "message must be a string"],
  ];
  for (const [members, message] of faults) {
    const told = `The app sent an answer the relay could not accept: ${message}`;
    assert.equal(await failWith(members), told);
    const error = await app.next("error");
    assert.deepEqual(error, { type: "error", id: error["id"], code: "invalid_result", message });
  }
  for (let n = 0; n < 10; n += 1) app.send("nope");
  assert.equal(await failWith('"message":"still here"'), "still here", "none of it was a strike");
  await app.close();
});

test("ping frames are answered with pong, WebSocket pings with the same bytes", async () => {
  const app = await connectApp(await relay.link());
  const pong = new Promise<string>((resolve) =>
    app.socket.once("pong", (payload) => resolve(payload.toString())),
  );
  app.socket.ping("are you there?");
  assert.equal(await pong, "are you there?");
  app.send({ type: "ping" });
  assert.deepEqual(await app.next("pong"), { type: "pong" });
  await app.close();
});

test("past its commands a minute a link's frames are refused with their id and not executed", async () => {
  await using strict = await openRelay({ RELAY_COMMANDS_PER_MINUTE: "3" });
  const project = await strict.project();
  const link = await project.link();
  const limited = (id: string | null): JsonObject => ({
    type: "error",
    id,
    code: "rate_limited",
    message: "at most 3 ping frames and link commands a minute",
  });
  const app = await connectApp(link, {
    onCall: () => ({ type: "result", content: [{ type: "text", text: "still here" }] }),
  });
  app.send({ type: "ping" });
  app.send({ type: "link.pause", id: "p1" });
  app.send({ type: "link.resume", id: "p2" });
  await app.next("link.state");
  await app.next("link.state");
  const past = ["link.rotate", "link.pause", "link.resume", "link.revoke"];
  for (let round = 0; round < 5; round += 1) {
    for (const type of past) app.send({ type, id: `${type}-${round}` });
  }
  app.send({ type: "ping" });
  for (let round = 0; round < 5; round += 1) {
    for (const type of past) assert.deepEqual(await app.next("error"), limited(`${type}-${round}`));
  }
  assert.deepEqual(await app.next("error"), limited(null));
  assert.equal(textOf(await callTool(link.mcpUrl)), "still here", "nothing of it was done");
  for (let n = 0; n < 10; n += 1) app.send("nope");
  assert.equal(textOf(await callTool(link.mcpUrl)), "still here", "none of it was a strike");
  await app.close();
  const again = await connectApp(link);
  again.send({ type: "ping" });
  assert.deepEqual(await again.next("error"), limited(null), "the minute is the link's");
  const other = await connectApp(await project.link());
  other.send({ type: "ping" });
  await other.next("pong");
  await again.close();
  await other.close();
});
