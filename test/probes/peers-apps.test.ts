/** Apps that misbehave: whatever one does, its own calls end, its memory is bounded, others go on. */
import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestApp, callTool, connectApp, helloOf, openRelay, textOf } from "../e2e/harness.ts";
import type { TestLink } from "../e2e/harness.ts";
import { rowsOf } from "../e2e/calls-rows.ts";
import { scrape } from "../e2e/metrics-text.ts";
import { OPCODES, RawApp, frameBytes } from "../e2e/socket-client.ts";
import { DROPPED, Probed } from "./probed.ts";
import { heapAndExternalMiB } from "./memory.ts";

const SILENCE_MS = 1_500;
const probed = await Probed.open({
  RELAY_SILENCE_SECONDS: String(SILENCE_MS / 1000),
  RELAY_PING_INTERVAL_SECONDS: "0.4",
});
after(() => probed[Symbol.asyncDispose]());
afterEach(() => probed.assertUndisturbed());

const text = (said: string) => [{ type: "text", text: said }];

test("an app that never answers has eight calls time out, counted; the ninth is busy; then the places are free", async () => {
  await using hasty = await openRelay({ RELAY_CALL_TIMEOUT_SECONDS: "0.5" });
  const project = await hasty.project();
  const link = await project.link();
  const app = await connectApp(link);
  const waiting = Array.from({ length: 8 }, () => callTool(link.mcpUrl));
  for (const _ of waiting) await app.next("call");
  assert.match(textOf(await callTool(link.mcpUrl)), /^Notes is busy with other calls/);
  for (const answer of await Promise.all(waiting)) {
    assert.match(textOf(answer), /did not answer within 0\.5 seconds/);
    await app.next("cancel");
  }
  const again = callTool(link.mcpUrl);
  app.send({ type: "result", id: (await app.next("call"))["id"], content: text("at last") });
  assert.equal(textOf(await again), "at last");
  const rows = await rowsOf(project, 10);
  const counts = Map.groupBy(rows, ({ outcome, counted }) => `${outcome} ${counted}`);
  assert.deepEqual(
    new Map([...counts].map(([what, of]) => [what, of.length])),
    new Map([
      ["ok true", 1],
      ["timeout true", 8],
      ["busy false", 1],
    ]),
  );
  await app.close();
});

test("an app that answers every call three times is heard once each time, and is not struck for it", async () => {
  const project = await probed.relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  for (let round = 0; round < 20; round += 1) {
    const pending = callTool(link.mcpUrl);
    const { id } = await app.next("call");
    app.send({ type: "result", id, content: text(`first ${round}`) });
    app.send({ type: "result", id, content: text("second") });
    app.send({ type: "error", id, message: "third" });
    const answer = await pending;
    assert.equal(answer.messages.length, 1);
    assert.equal(textOf(answer), `first ${round}`);
  }
  app.send({ type: "ping" });
  await app.next("pong");
  assert.deepEqual(
    app.frames.filter(({ type }) => type === "error"),
    [],
  );
  assert.equal((await rowsOf(project, 20)).length, 20);
  await app.close();
});

test("an app that answers, reports on or cancels another app's calls by their right ids changes nothing", async () => {
  const [mine, theirs] = [await probed.project.link(), await probed.relay.link()];
  const [honest, thief] = [await connectApp(mine), await connectApp(theirs)];
  for (let round = 0; round < 20; round += 1) {
    const pending = callTool(
      mine.mcpUrl,
      "search_notes",
      { query: "x" },
      {
        _meta: { progressToken: "t" },
      },
    );
    const { id } = await honest.next("call");
    thief.send({ type: "progress", id, progress: 1, message: "stolen" });
    thief.send({ type: "result", id, content: text("stolen") });
    thief.send({ type: "result", id, content: "no content at all" });
    thief.send({ type: "error", id, message: "stolen" });
    thief.send({ type: "ping" });
    await thief.next("pong");
    honest.send({ type: "result", id, content: text("mine") });
    const answer = await pending;
    assert.equal(textOf(answer), "mine");
    assert.doesNotMatch(answer.text, /stolen/);
  }
  assert.deepEqual(
    thief.frames.filter(({ type }) => type === "error"),
    [],
    "not even told that the ids are real",
  );
  await Promise.all([honest.close(), thief.close()]);
});

test("50,000 small frames at once take no memory worth naming, and delay nobody else", async () => {
  const [link, other] = [await probed.project.link(), await probed.project.link()];
  const flooding = [await probed.ready(link), await probed.ready(other)];
  const frame = frameBytes(
    OPCODES.text,
    JSON.stringify({ type: "progress", id: "c_0000000000000000", progress: 1 }),
  );
  const burst = Buffer.concat(Array.from({ length: 25_000 }, () => frame));
  const before = heapAndExternalMiB();
  for (const app of flooding) app.tcp.write(burst);
  const waits: number[] = [];
  let grown = 0;
  for (let round = 0; round < 10; round += 1) {
    waits.push(await probed.bystanderWaits());
    await sleep(50);
    grown = Math.max(grown, heapAndExternalMiB() - before);
  }
  assert.ok(grown < 16, `grew by ${grown} MiB`);
  const median = waits.toSorted((a, b) => a - b)[5] ?? 0;
  assert.ok(median < 1_000, `the bystander waited ${median} ms`);
  for (const app of flooding) app.destroy();
});

test("an app that floods with pings and reads no pong is dropped, and what waits for it stays bounded", async () => {
  await using large = await openRelay({
    RELAY_ARGUMENTS_BYTES: "1000000",
    RELAY_BODY_BYTES: "1100000",
    RELAY_CALLS_IN_FLIGHT: "64",
    RELAY_CALLS_PER_MINUTE: "6000",
  });
  const link = await large.link();
  const app = await RawApp.open(link.socketUrl);
  app.send(helloOf(link));
  await app.next();
  app.tcp.pause();
  const unsent = async (): Promise<number> => (await scrape(large)).sum("relay_send_buffer_bytes");
  // Fills what the system itself holds between the two, then most of what Relay may.
  const waiting: Promise<unknown>[] = [];
  for (let waits = 0; waits < 800_000; waits = await unsent()) {
    assert.ok(waiting.length < 64, "the system takes it all");
    const query = "x".repeat(waits === 0 ? 500_000 : 100_000);
    waiting.push(callTool(link.mcpUrl, "search_notes", { query }));
    while (large.relay.node.inFlight < waiting.length) await sleep(5);
  }
  let peak = await unsent();
  assert.ok(peak > 0, "it still reads nothing, and is still there");
  const pings = Buffer.concat(
    Array.from({ length: 1_000 }, () => frameBytes(OPCODES.ping, "p".repeat(125))),
  );
  const isOver = Promise.all(waiting).then(() => true);
  for (let round = 0; round < 20; round += 1) {
    app.tcp.write(pings);
    peak = Math.max(peak, await unsent());
    if (await Promise.race([isOver, sleep(500, false)])) break;
  }
  assert.ok(peak < 1.5 * 2 ** 20, `${peak} bytes waited`);
  assert.ok(
    await Promise.race([isOver, sleep(100, false)]),
    "its calls have ended: it was dropped",
  );
  assert.equal(await unsent(), 0);
  app.destroy();
});

test("an app that reconnects 50 times a second is let in while it may, then told 4429, and stops nobody", async () => {
  const link = await probed.project.link();
  const ends: Promise<{ code: number }>[] = [];
  for (let round = 0; round < 150; round += 1) {
    const app = new TestApp(link.socketUrl);
    ends.push(app.closed);
    app.socket.once("open", () => app.send(helloOf(link)));
    if (round % 50 === 0) await probed.assertUndisturbed();
    await sleep(20);
  }
  const last = await probed.ready(await probed.project.link());
  const codes = await Promise.race([Promise.all(ends.slice(0, 119)), sleep(10_000, [])]);
  assert.deepEqual(
    [...new Set(codes.map(({ code }) => code))],
    [4001],
    "each gives way to the next",
  );
  const refused = await Promise.all(ends.slice(120));
  assert.deepEqual([...new Set(refused.map(({ code }) => code))], [4429]);
  last.destroy();
});

describe("who is gone without a word", { concurrency: true }, () => {
  /** An app that stops in every way but closing: its connection stays open and says nothing more. */
  async function vanished(link: TestLink): Promise<RawApp> {
    const app = await probed.ready(link);
    app.tcp.pause();
    return app;
  }

  test("an app that vanishes is noticed within the silence limit, and its call ends as disconnected", async () => {
    const project = await probed.relay.project();
    const link = await project.link();
    const app = await vanished(link);
    const began = performance.now();
    const waiting = callTool(link.mcpUrl);
    const path = `/v1/links/${link.linkId}`;
    const isConnected = async (): Promise<boolean> =>
      (await probed.relay.rest("GET", path, project.secretKey)).body["connected"];
    while (await isConnected()) {
      assert.ok(performance.now() - began < SILENCE_MS + 5_000, "still there");
      await sleep(50);
    }
    assert.ok(performance.now() - began >= SILENCE_MS * 0.9, "not before its time");
    assert.match(textOf(await waiting), /^The relay lost the connection to Notes/);
    assert.match(textOf(await callTool(link.mcpUrl)), /is not running on your device/);
    app.destroy();
  });

  test("an app that vanishes before its hello costs a socket for no longer than the hello's time", async () => {
    const app = await probed.silent();
    app.tcp.pause();
    await sleep(SILENCE_MS + 1_500);
    app.tcp.resume();
    assert.deepEqual(await app.ended, DROPPED);
  });
});
