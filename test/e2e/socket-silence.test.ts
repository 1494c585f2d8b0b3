/** Keep-alive, silence and unfinished messages: what only time brings out (SPEC 5). */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { callTool, connectApp, helloOf, openRelay, textOf } from "./harness.ts";
import type { TestLink } from "./harness.ts";
import { OPCODES, RawApp, frameBytes } from "./socket-client.ts";
import type { RawEnd } from "./socket-client.ts";

const SILENCE_MS = 1600;
const relay = await openRelay({
  RELAY_SILENCE_SECONDS: String(SILENCE_MS / 1000),
  RELAY_PING_INTERVAL_SECONDS: "0.4",
});
/** With the other times of the product spec, and no hurry for a hello. */
const patient = await openRelay({ RELAY_HELLO_TIMEOUT_SECONDS: "60" });
after(async () => {
  await relay[Symbol.asyncDispose]();
  await patient[Symbol.asyncDispose]();
});

const NO_CLOSE_FRAME: RawEnd = { code: null, reason: "" };

/** A ready app that answers no pings by itself, and when it became ready. */
async function ready(link: TestLink): Promise<{ app: RawApp; at: number }> {
  const app = await RawApp.open(link.socketUrl);
  const at = performance.now();
  app.send(helloOf(link));
  assert.equal((await app.next())["type"], "ready");
  return { app, at };
}

describe("as time goes by", { concurrency: true }, () => {
  test("a socket from which nothing comes is pinged, then ends without a close frame", async () => {
    const project = await relay.project();
    const link = await project.link();
    const { app, at } = await ready(link);
    const waiting = callTool(link.mcpUrl);
    await app.pinged(2);
    assert.deepEqual(await app.ended, NO_CLOSE_FRAME);
    assert.ok(performance.now() - at >= SILENCE_MS, "not before its time");
    assert.match(textOf(await waiting), /^The relay lost the connection to Notes/);
    const [row] = await project.calls();
    assert.deepEqual([row?.["outcome"], row?.["counted"]], ["disconnected", false]);
  });

  test("pongs keep a socket open, and nothing else is asked of the app", async () => {
    const app = await connectApp(await relay.link());
    await sleep(SILENCE_MS * 2.5);
    assert.equal(app.socket.readyState, app.socket.OPEN);
    assert.equal(app.frames.length, 1, "pings are no frames");
    await app.close();
  });

  test("frames keep a socket open whose app never answers a ping", async () => {
    const { app } = await ready(await relay.link());
    for (let count = 0; count < 10; count += 1) {
      await sleep(SILENCE_MS / 4);
      app.send({ type: "progress", id: "c_0000000000000000", progress: count });
    }
    app.send({ type: "ping" });
    assert.deepEqual(await app.next(), { type: "pong" });
    assert.deepEqual(await app.ended, NO_CLOSE_FRAME, "until they stop");
  });

  test("any byte is a sign of life, also one of a frame that is not whole yet", async () => {
    const { app } = await ready(await relay.link());
    const bytes = frameBytes(OPCODES.text, '{"type":"ping"}');
    for (let at = 0; at < bytes.length; at += 2) {
      await sleep(SILENCE_MS / 4);
      app.tcp.write(bytes.subarray(at, at + 2));
    }
    assert.deepEqual(await app.next(), { type: "pong" });
    app.destroy();
  });

  test("a peer that vanished is noticed: its link is offline once the silence was long enough", async () => {
    const project = await relay.project();
    const link = await project.link();
    const { app } = await ready(link);
    app.tcp.pause();
    await sleep(SILENCE_MS * 1.5);
    assert.equal(
      textOf(await callTool(link.mcpUrl)),
      "Notes is not running on your device. Open it and try again.",
    );
    app.destroy();
  });

  test("a message that is not whole within ten seconds ends the connection", async () => {
    const link = await patient.link();
    const whole = await ready(link);
    const inFragments = await RawApp.open(link.socketUrl);
    const inOneFrame = await RawApp.open(link.socketUrl);
    const hello = JSON.stringify(helloOf(link));
    const began = performance.now();
    whole.app.frame(OPCODES.text, '{"type":"ping","x":"', false);
    const drip = setInterval(() => whole.app.frame(OPCODES.continuation, "x", false), 500);
    inFragments.frame(OPCODES.text, hello.slice(0, 20), false);
    inOneFrame.tcp.write(frameBytes(OPCODES.text, hello).subarray(0, 20));
    assert.deepEqual(await whole.app.ended, NO_CLOSE_FRAME, "though bytes kept coming");
    clearInterval(drip);
    assert.ok(performance.now() - began >= 10_000);
    for (const app of [inFragments, inOneFrame]) {
      assert.deepEqual(await app.ended, NO_CLOSE_FRAME, "before hello too");
    }
  });

  test("a message in pieces that is whole in time is read, however long others took", async () => {
    const { app } = await ready(await patient.link());
    for (let count = 0; count < 4; count += 1) {
      app.frame(OPCODES.text, '{"type":', false);
      await sleep(500);
      app.frame(OPCODES.continuation, '"ping"}');
      assert.deepEqual(await app.next(), { type: "pong" });
    }
    app.destroy();
  });
});
