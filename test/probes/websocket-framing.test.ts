/** Frames as RFC 6455 section 5 has them, and every way to break one, on bare TCP. */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { OPCODES, frameBytes, frameHead } from "../e2e/socket-client.ts";
import { DROPPED, PROTOCOL_ERROR, Probed } from "./probed.ts";
import type { RawApp, RawEnd } from "../e2e/socket-client.ts";

const probed = await Probed.open();
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const PING = '{"type":"ping"}';
const PONG = { type: "pong" };
const FINAL = 0x80;

type Broken = readonly (readonly [what: string, bytes: Buffer])[];

/** Sends each to a ready app's socket and to one before its hello; both must end the same way. */
async function assertEnds(broken: Broken, end: RawEnd): Promise<void> {
  const link = await probed.project.link();
  for (const [what, bytes] of broken) {
    const app = await probed.ready(link);
    app.tcp.write(bytes);
    assert.deepEqual(await app.ended, end, what);
    assert.equal(app.frames.length, 1, `${what}: nothing of it was read`);
    const silent = await probed.silent();
    silent.tcp.write(bytes);
    assert.deepEqual(await silent.ended, end, `${what}, before hello`);
    assert.equal(silent.frames.length, 0, `${what}, before hello: no error frame`);
  }
}

/** A frame whose first byte is replaced, with a masked payload. */
function withFirstByte(first: number, payload = PING): Buffer {
  const bytes = frameBytes(OPCODES.text, payload);
  bytes[0] = first;
  return bytes;
}

function unmasked(first: number, payload: string): Buffer {
  return Buffer.concat([Buffer.from([first, payload.length]), Buffer.from(payload)]);
}

function isOpen(app: RawApp): Promise<boolean> {
  return Promise.race([app.ended.then(() => false), app.wasRead().then(() => !app.tcp.destroyed)]);
}

test("a frame that is not masked closes with 1002, whatever its opcode", async () => {
  await assertEnds(
    Object.entries(OPCODES).map(([name, opcode]) => [name, unmasked(FINAL | opcode, PING)]),
    PROTOCOL_ERROR,
  );
});

test("a reserved bit, alone or with others, on a message or a control frame, closes with 1002", async () => {
  const broken: [string, Buffer][] = [];
  for (const bits of [1, 2, 3, 4, 5, 6, 7]) {
    for (const opcode of [OPCODES.text, OPCODES.ping]) {
      broken.push([`${bits} on ${opcode}`, withFirstByte(FINAL | (bits << 4) | opcode)]);
    }
  }
  await assertEnds(broken, PROTOCOL_ERROR);
});

test("an opcode that is reserved closes with 1002, with a payload and without", async () => {
  const broken = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap((opcode): [string, Buffer][] => [
    [`${opcode}`, withFirstByte(FINAL | opcode)],
    [`${opcode}, empty`, withFirstByte(FINAL | opcode, "")],
  ]);
  await assertEnds(broken, PROTOCOL_ERROR);
});

test("a control frame in fragments, or of more than 125 bytes, closes with 1002", async () => {
  const { ping, pong, close } = OPCODES;
  const broken = [ping, pong, close].flatMap((opcode): [string, Buffer][] => [
    [`${opcode} not final`, frameBytes(opcode, "", false)],
    [`${opcode} of 126 bytes`, frameBytes(opcode, "x".repeat(126))],
    [`${opcode} that claims 70,000 bytes`, frameHead(opcode, 70_000n)],
    [`${opcode} that claims 2^63 bytes`, frameHead(opcode, 2n ** 63n)],
  ]);
  await assertEnds(broken, PROTOCOL_ERROR);
});

test("a continuation of nothing, and a new message inside an unfinished one, close with 1002", async () => {
  const begun = frameBytes(OPCODES.text, '{"type":', false);
  const ended = frameBytes(OPCODES.continuation, '"ping"}');
  const orphan = [
    ["a final continuation", ended],
    ["one that is not final", frameBytes(OPCODES.continuation, '"ping"}', false)],
    ["a text in a text", Buffer.concat([begun, frameBytes(OPCODES.text, PING)])],
    ["a binary in a text", Buffer.concat([begun, frameBytes(OPCODES.binary, PING)])],
    ["a text in a text, neither final", Buffer.concat([begun, begun])],
    ["a ping, then a text in a text", Buffer.concat([begun, frameBytes(OPCODES.ping), begun])],
  ] as const;
  await assertEnds(orphan, PROTOCOL_ERROR);
  const app = await probed.ready();
  app.tcp.write(Buffer.concat([begun, ended, ended]));
  assert.deepEqual(await app.ended, PROTOCOL_ERROR, "a second end of a message that has ended");
  assert.deepEqual(app.frames[1], PONG, "which was read before");
});

test("a frame that claims more than 256 KiB is dropped from its header alone, up to 2^64 - 1", async () => {
  const { text, binary } = OPCODES;
  const claims = [2n ** 18n + 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
  const broken = claims.flatMap((bytes): [string, Buffer][] => [
    [`a text of ${bytes}`, frameHead(text, bytes)],
    [`a binary of ${bytes}`, frameHead(binary, bytes)],
    [`a first fragment of ${bytes}`, frameHead(text, bytes, false)],
  ]);
  await assertEnds(broken, DROPPED);
});

test("a length in more bytes than it needs is read as the length it is", async () => {
  const app = await probed.ready();
  for (const size of [2, 8] as const) {
    const head = Buffer.alloc(2 + size + 4);
    head[0] = FINAL | OPCODES.text;
    head[1] = 0x80 | (size === 2 ? 126 : 127);
    head[2 + size - 1] = PING.length;
    app.tcp.write(Buffer.concat([head, Buffer.from(PING)]));
    assert.deepEqual(await app.next(), PONG, `in ${size} bytes`);
  }
  assert.ok(await isOpen(app));
  app.destroy();
});

test("a text message of any length that fits is read, with the length in 1, 3 or 9 bytes", async () => {
  const app = await probed.ready();
  for (const bytes of [125, 126, 127, 128, 65_535, 65_536, 256 * 1024]) {
    app.send(`{"type":"ping","x":"${"y".repeat(bytes - 22)}"}`);
    assert.deepEqual(await app.next(), PONG, `${bytes}`);
  }
  app.destroy();
});

test("frames are read however their bytes are cut, one by one or several at once", async () => {
  const app = await probed.ready();
  const frames = Buffer.concat([
    frameBytes(OPCODES.text, '{"type":', false),
    frameBytes(OPCODES.ping, "inside"),
    frameBytes(OPCODES.continuation, '"ping"}'),
    frameBytes(OPCODES.text, `{"type":"ping","x":"${"y".repeat(200)}"}`),
  ]);
  for (const size of [1, 2, 3, 7, 50, frames.length]) {
    for (let at = 0; at < frames.length; at += size) {
      app.tcp.write(frames.subarray(at, at + size));
      await turn();
    }
    assert.deepEqual([await app.next(), await app.next()], [PONG, PONG], `${size} at once`);
  }
  app.destroy();
});

test("masks other than zero are taken off", async () => {
  const app = await probed.ready();
  const mask = Buffer.from([0xff, 0x01, 0x80, 0x5a]);
  const payload = Buffer.from(PING).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  app.tcp.write(Buffer.concat([frameHead(OPCODES.text, BigInt(PING.length)), mask, payload]));
  assert.deepEqual(await app.next(), PONG);
  app.destroy();
});

test("a message in fragments is read with pings between them, which are answered at once", async () => {
  const app = await probed.ready();
  const pieces = PING.split("");
  for (const [at, piece] of pieces.entries()) {
    const opcode = at === 0 ? OPCODES.text : OPCODES.continuation;
    app.frame(opcode, piece, at === pieces.length - 1);
    if (at === pieces.length - 1) break;
    // Resolves with the pong: before the message is whole.
    await app.wasRead();
    assert.equal(app.frames.length, 1);
  }
  assert.deepEqual(await app.next(), PONG);
  app.frame(OPCODES.text, "", false);
  app.frame(OPCODES.continuation, PING, false);
  app.frame(OPCODES.continuation, "");
  assert.deepEqual(await app.next(), PONG, "an empty fragment adds nothing");
  app.destroy();
});

test("pings of 0 to 125 bytes and ten in a row are answered; pongs nobody asked for are ignored", async () => {
  const app = await probed.ready();
  const pongs: string[] = [];
  const raw: Buffer[] = [];
  app.tcp.on("data", (chunk: Buffer) => raw.push(chunk));
  const payloads = ["", "x", "\u0000\u00ff", "y".repeat(125), ..."0123456789".split("")];
  for (const payload of payloads) app.frame(OPCODES.ping, payload);
  app.frame(OPCODES.pong);
  app.frame(OPCODES.pong, "never asked");
  app.send(PING);
  assert.deepEqual(await app.next(), PONG);
  const bytes = Buffer.concat(raw);
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt8(at + 1)) {
    if (bytes.readUInt8(at) !== (FINAL | OPCODES.pong)) continue;
    pongs.push(bytes.toString("utf8", at + 2, at + 2 + bytes.readUInt8(at + 1)));
  }
  assert.deepEqual(pongs, payloads);
  app.destroy();
});

test("a thousand pings in one burst, and frames behind them, are all answered to an app that reads", async () => {
  const app = await probed.ready();
  let bytes = 0;
  app.tcp.on("data", (chunk: Buffer) => (bytes += chunk.length));
  const ping = frameBytes(OPCODES.ping, "p");
  app.tcp.write(Buffer.concat(Array.from({ length: 999 }, () => ping)));
  app.send(PING);
  assert.deepEqual(await app.next(), PONG);
  assert.equal(bytes, 999 * 3 + 2 + JSON.stringify(PONG).length);
  app.destroy();
});

test("an empty text, an empty binary and a binary message are invalid frames, not broken ones", async () => {
  const app = await probed.ready();
  for (const [opcode, payload] of [
    [OPCODES.text, ""],
    [OPCODES.binary, ""],
    [OPCODES.binary, PING],
  ] as const) {
    app.frame(opcode, payload);
    const answer = await app.next();
    assert.deepEqual([answer["type"], answer["code"]], ["error", "invalid_message"]);
  }
  app.send(PING);
  assert.deepEqual(await app.next(), PONG, "the socket goes on");
  app.destroy();
});
