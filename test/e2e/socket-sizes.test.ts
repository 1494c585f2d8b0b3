/** Frames that are too large, cut in pieces, no frames at all, too many, or not read (SPEC 5). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestApp, callTool, connectApp, helloOf, openRelay, textOf } from "./harness.ts";
import type { TestLink } from "./harness.ts";
import { OPCODES, RawApp, frameBytes, frameHead } from "./socket-client.ts";
import type { RawEnd } from "./socket-client.ts";

const relay = await openRelay({ RELAY_COMMANDS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

const KIB_256 = 256 * 1024;
const NO_CLOSE_FRAME: RawEnd = { code: null, reason: "" };
const LOST =
  "The relay lost the connection to Notes while running the tool; it may or may not have completed.";

/** A ping frame that is exactly so many bytes long. */
function pingOf(bytes: number): string {
  const bare = JSON.stringify({ type: "ping", x: "" });
  return JSON.stringify({ type: "ping", x: "y".repeat(bytes - bare.length) });
}

async function ready(link: TestLink): Promise<RawApp> {
  const app = await RawApp.open(link.socketUrl);
  app.send(helloOf(link));
  assert.equal((await app.next())["type"], "ready");
  return app;
}

function inPieces(text: string, count: number): Buffer {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / count);
  const pieces = Array.from({ length: count }, (_, n) => {
    const opcode = n === 0 ? OPCODES.text : OPCODES.continuation;
    return frameBytes(opcode, bytes.subarray(n * size, (n + 1) * size), n === count - 1);
  });
  return Buffer.concat(pieces);
}

test("a frame of 256 KiB is read, whole or in 64 fragments with a ping between them", async () => {
  const app = await ready(await relay.link());
  app.send(pingOf(KIB_256));
  assert.deepEqual(await app.next(), { type: "pong" });
  app.tcp.write(inPieces(pingOf(KIB_256), 64));
  assert.deepEqual(await app.next(), { type: "pong" });
  app.frame(OPCODES.text, '{"type":', false);
  app.frame(OPCODES.ping, "between");
  app.frame(OPCODES.continuation, '"ping"}');
  assert.deepEqual(await app.next(), { type: "pong" });
  app.destroy();
});

test("a frame of one byte more ends the connection without a close frame", async () => {
  const link = await relay.link();
  const over = pingOf(KIB_256 + 1);
  const tooLong: readonly (readonly [string, Buffer])[] = [
    ["as one frame", frameBytes(OPCODES.text, over)],
    ["as a binary frame", frameBytes(OPCODES.binary, over)],
    ["as two fragments", inPieces(over, 2)],
    ["by its header alone", frameHead(OPCODES.text, BigInt(KIB_256 + 1))],
    ["by a header that claims 2^32", frameHead(OPCODES.text, 2n ** 32n)],
    ["by a header that claims 2^63", frameHead(OPCODES.text, 2n ** 63n)],
    ["by the header of the last fragment", overByLastHeader()],
  ];
  for (const [how, bytes] of tooLong) {
    const app = await ready(link);
    app.tcp.write(bytes);
    assert.deepEqual(await app.ended, NO_CLOSE_FRAME, how);
    assert.equal(app.frames.length, 1, "and without an error frame");
    const silent = await RawApp.open(link.socketUrl);
    silent.tcp.write(bytes);
    assert.deepEqual(await silent.ended, NO_CLOSE_FRAME, `${how}, before hello`);
  }
});

function overByLastHeader(): Buffer {
  const first = frameBytes(OPCODES.text, "x".repeat(1000), false);
  return Buffer.concat([first, frameHead(OPCODES.continuation, BigInt(KIB_256 - 999))]);
}

test("an app's library shows 1006 for it, its calls end, and other apps notice nothing", async () => {
  const project = await relay.project();
  const [link, otherLink] = [await project.link(), await project.link()];
  const app = await connectApp(link, { onCall: () => null });
  const other = await connectApp(otherLink);
  const waiting = callTool(link.mcpUrl);
  await app.next("call");
  app.send(pingOf(KIB_256 + 1));
  assert.deepEqual(await app.closed, { code: 1006, reason: "" });
  assert.equal(textOf(await waiting), LOST);
  const [row] = await project.calls();
  assert.deepEqual([row?.["outcome"], row?.["counted"]], ["disconnected", false]);
  other.send({ type: "ping" });
  await other.next("pong");
  await other.close();
});

test("the size of a frame can be set", async () => {
  await using small = await openRelay({
    RELAY_FRAME_BYTES: "2000",
    RELAY_RESULT_BYTES: "1000",
    RELAY_MANIFEST_BYTES: "1000",
  });
  const app = await ready(await small.link());
  app.send(pingOf(2000));
  assert.deepEqual(await app.next(), { type: "pong" });
  app.send(pingOf(2001));
  assert.deepEqual(await app.ended, NO_CLOSE_FRAME);
});

test("what is no WebSocket frame is closed with a code and a reason", async () => {
  const link = await relay.link();
  const text = Buffer.from('{"type":"ping"}');
  const good = frameBytes(OPCODES.text, text);
  const withFirstByte = (first: number): Buffer =>
    Buffer.concat([Buffer.from([first]), good.subarray(1)]);
  const protocolError = { code: 1002, reason: "protocol error" };
  const notUtf8 = { code: 1007, reason: "invalid UTF-8" };
  const broken: readonly (readonly [string, Buffer, RawEnd])[] = [
    ["not masked", Buffer.concat([Buffer.from([0x81, text.length]), text]), protocolError],
    ["a reserved bit", withFirstByte(0x91), protocolError],
    ["a reserved opcode", withFirstByte(0x83), protocolError],
    ["a continuation of nothing", withFirstByte(0x80), protocolError],
    ["a ping in fragments", withFirstByte(0x09), protocolError],
    ["a long ping", frameBytes(OPCODES.ping, "x".repeat(126)), protocolError],
    ["a close with half a code", frameBytes(OPCODES.close, "x"), protocolError],
    ["bytes that are not UTF-8", frameBytes(OPCODES.text, Buffer.from([0xff])), notUtf8],
    ["half a surrogate pair", frameBytes(OPCODES.text, Buffer.from("eda080", "hex")), notUtf8],
    ["a character cut short", frameBytes(OPCODES.text, Buffer.from("e282", "hex")), notUtf8],
    ["65 fragments", inPieces(pingOf(650), 65), { code: 1008, reason: "too many fragments" }],
  ];
  for (const [what, bytes, end] of broken) {
    const app = await ready(link);
    app.tcp.write(bytes);
    assert.deepEqual(await app.ended, end, what);
    assert.equal(app.frames.length, 1, "nothing of it was read");
  }
});

test("unfinished messages before hello have 64 MiB together; past it the largest is dropped", async () => {
  const { socketUrl } = await relay.link();
  const begun = async (bytes: number): Promise<RawApp> => {
    const app = await RawApp.open(socketUrl);
    app.frame(OPCODES.text, Buffer.alloc(bytes), false);
    await app.wasRead();
    return app;
  };
  const room = 64 * 1024 * 1024 - 260_000;
  const [largest, ...others] = await Promise.all([
    begun(260_000),
    ...Array.from({ length: Math.floor(room / 230_000) }, () => begun(230_000)),
  ]);
  const isOpen = (app: RawApp): Promise<boolean> =>
    Promise.race([app.ended.then(() => false), soon().then(() => true)]);
  assert.ok(await isOpen(largest), "there is room for all of these");
  others.push(await begun(230_000));
  assert.deepEqual(await largest.ended, NO_CLOSE_FRAME);
  const open = await Promise.all(others.map(isOpen));
  assert.deepEqual([...new Set(open)], [true], "the others may go on");
  for (const app of others) app.destroy();
});

/** Long enough for what has been decided to be seen. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

test("a socket that floods is read no faster than 1,000 frames a second; others are not slowed", async () => {
  const project = await relay.project();
  const flooding = await ready(await project.link());
  const quietLink = await project.link();
  const quiet = await connectApp(quietLink, {
    onCall: () => ({ type: "result", content: [] }),
  });
  const frame = frameBytes(
    OPCODES.text,
    JSON.stringify({ type: "progress", id: "c_0000000000000000", progress: 1, x: "y".repeat(40) }),
  );
  const began = performance.now();
  flooding.tcp.write(Buffer.concat(Array.from({ length: 3000 }, () => frame)));
  flooding.send({ type: "ping" });
  const calls = await Promise.all(
    Array.from({ length: 5 }, () => callTool(quietLink.mcpUrl).then(() => performance.now())),
  );
  assert.deepEqual(await flooding.next(), { type: "pong" }, "nothing was lost and nothing refused");
  const pongAt = performance.now();
  assert.ok(pongAt - began >= 1000, `3,001 frames were read in ${pongAt - began} ms`);
  for (const at of calls) assert.ok(at < pongAt, "meanwhile others were served");
  flooding.destroy();
  await quiet.close();
});

test("a socket that floods with bytes is not read until the second ends either", async () => {
  const app = await ready(await relay.link());
  const big = frameBytes(
    OPCODES.text,
    JSON.stringify({ type: "progress", id: "c_0", progress: 1, x: "y".repeat(250_000) }),
  );
  const began = performance.now();
  for (let count = 0; count < 40; count += 1) app.tcp.write(big);
  app.send({ type: "ping" });
  assert.deepEqual(await app.next(), { type: "pong" });
  assert.ok(performance.now() - began >= 500, "10 MB were read as if they were nothing");
  app.destroy();
});

test("an app that does not read is dropped once 1 MiB waits for it; its calls end at once", async () => {
  await using large = await openRelay({
    RELAY_ARGUMENTS_BYTES: "1000000",
    RELAY_BODY_BYTES: "1100000",
    RELAY_CALLS_IN_FLIGHT: "64",
  });
  const project = await large.project();
  const [link, otherLink] = [await project.link(), await project.link()];
  const app = await ready(link);
  const other = await connectApp(otherLink, { onCall: () => ({ type: "result", content: [] }) });
  app.tcp.pause();
  const args = { query: "x".repeat(990_000) };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => callTool(link.mcpUrl, "search_notes", args)),
  );
  const texts = new Set(answers.map(textOf));
  const offline = "Notes is not running on your device. Open it and try again.";
  assert.ok(texts.delete(LOST), "those that were sent or could not be queued");
  texts.delete(offline);
  assert.deepEqual([...texts], [], "no call was left to wait");
  const rows = await project.calls("?limit=200");
  const lost = rows.filter(({ outcome }) => outcome === "disconnected");
  assert.ok(rows.every(({ counted }) => counted === false));
  assert.ok(lost.length < 20, "the system's own buffers do not hold 20 MB");
  assert.equal(textOf(await callTool(otherLink.mcpUrl)), "undefined", "other apps answer");
  app.destroy();
  await other.close();
});

test("an app that reads slowly gets everything", async () => {
  const link = await relay.link();
  const app = new TestApp(link.socketUrl, { onCall: () => ({ type: "result", content: [] }) });
  await app.opened();
  app.send(helloOf(link));
  await app.next("ready");
  app.socket.pause();
  const args = { query: "x".repeat(64_000) };
  const waiting = Array.from({ length: 8 }, () => callTool(link.mcpUrl, "search_notes", args));
  await new Promise((resolve) => setTimeout(resolve, 200));
  app.socket.resume();
  for (const answer of await Promise.all(waiting)) {
    assert.deepEqual(answer.message["result"], { content: [], isError: false });
  }
  await app.close();
});
