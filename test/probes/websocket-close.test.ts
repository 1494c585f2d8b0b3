/** The closing handshake (RFC 6455 sections 5.5.1 and 7.4), and what comes around it. */
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { callTool, textOf } from "../e2e/harness.ts";
import { OPCODES, frameBytes } from "../e2e/socket-client.ts";
import { NOT_UTF8, PROTOCOL_ERROR, Probed } from "./probed.ts";

const probed = await Probed.open();
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const PING = frameBytes(OPCODES.text, '{"type":"ping"}');

function closePayload(code: number, reason: Buffer | string = ""): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return Buffer.concat([head, Buffer.from(reason)]);
}

test("an app's close is answered with its own code and ends the connection", async () => {
  const good = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014];
  const link = await probed.project.link();
  for (const code of [...good, 3000, 3999, 4000, 4400, 4999]) {
    const app = await probed.ready(link);
    app.frame(OPCODES.close, closePayload(code, "done \u00e9"));
    assert.equal((await app.ended).code, code);
  }
  const bare = await probed.ready(link);
  bare.frame(OPCODES.close);
  assert.deepEqual(await bare.ended, { code: 1005, reason: "" }, "no code is answered with none");
  const long = await probed.ready(link);
  long.frame(OPCODES.close, closePayload(1000, "r".repeat(123)));
  assert.equal((await long.ended).code, 1000, "the longest reason");
});

test("a close code that must not be on the wire closes with 1002", async () => {
  const bad = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535];
  const link = await probed.project.link();
  for (const code of bad) {
    for (const app of [await probed.ready(link), await probed.silent()]) {
      app.frame(OPCODES.close, closePayload(code));
      assert.deepEqual(await app.ended, PROTOCOL_ERROR, `${code}`);
    }
  }
  const half = await probed.ready(link);
  half.frame(OPCODES.close, Buffer.from([3]));
  assert.deepEqual(await half.ended, PROTOCOL_ERROR, "half a code");
});

test("a close reason that is not UTF-8 closes with 1007", async () => {
  for (const hex of ["ff", "c3", "eda080", "f4908080"]) {
    const app = await probed.ready();
    app.frame(OPCODES.close, closePayload(1000, Buffer.from(hex, "hex")));
    assert.deepEqual(await app.ended, NOT_UTF8, hex);
  }
});

test("nothing that comes behind a close is read, and a second close is not answered", async () => {
  for (const behind of [PING, frameBytes(OPCODES.close, closePayload(4000)), Buffer.from("junk")]) {
    const app = await probed.ready();
    const closes: number[] = [];
    app.tcp.on("data", (chunk: Buffer) => closes.push(chunk.readUInt8(0)));
    app.tcp.write(Buffer.concat([frameBytes(OPCODES.close, closePayload(1000)), behind]));
    assert.equal((await app.ended).code, 1000);
    assert.equal(app.frames.length, 1);
    assert.deepEqual(closes, [0x88], "one close frame and nothing else");
  }
});

test("a close in the middle of a message ends the connection, and the message is never read", async () => {
  const app = await probed.ready();
  app.frame(OPCODES.text, '{"type":', false);
  app.frame(OPCODES.close, closePayload(1001));
  assert.equal((await app.ended).code, 1001);
  assert.equal(app.frames.length, 1);
});

test("a connection that ends in the middle of a frame, by FIN or RST, gives its place back", async () => {
  const link = await probed.project.link();
  for (const end of ["end", "resetAndDestroy"] as const) {
    for (const part of [1, 3, 8, PING.length - 1]) {
      const app = await probed.ready(link);
      const waiting = callTool(link.mcpUrl);
      assert.equal((await app.next())["type"], "call");
      app.tcp.write(PING.subarray(0, part));
      app.tcp[end]();
      assert.match(textOf(await waiting), /^The relay lost the connection/, `${end} at ${part}`);
    }
  }
  assert.match(textOf(await callTool(link.mcpUrl)), /is not running/);
});

test("an app that never answers Relay's close is cut off a second later", async () => {
  const link = await probed.project.link();
  const older = await probed.ready(link);
  const began = performance.now();
  const newer = await probed.ready(link);
  assert.equal((await older.ended).code, 4001);
  const tookMs = performance.now() - began;
  assert.ok(tookMs >= 900 && tookMs < 4_000, `${tookMs} ms`);
  newer.destroy();
});
