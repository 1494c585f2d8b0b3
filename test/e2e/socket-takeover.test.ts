/** The newest socket of a link wins (product spec: WebSocket protocol; SPEC 5 and 7). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestApp, callTool, connectApp, helloOf, openRelay, textOf } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink, TestProject } from "./harness.ts";
import { RawApp } from "./socket-client.ts";

const relay = await openRelay({ RELAY_CALLS_PER_MINUTE: "6000", RELAY_CALLS_IN_FLIGHT: "100" });
after(() => relay[Symbol.asyncDispose]());

const TAKEN_OVER = { code: 4001, reason: "a newer socket took over the link" };
const LOST =
  "The relay lost the connection to Notes while running the tool; it may or may not have completed.";
const SILENT: AppBehaviour = { onCall: () => null };

/** An app that answers every call with its own name. */
function named(name: string): AppBehaviour {
  return { onCall: () => ({ type: "result", content: [{ type: "text", text: name }] }) };
}

async function isConnected(project: TestProject, link: TestLink): Promise<boolean> {
  const view = await relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
  return view.body["connected"] === true;
}

async function rawHello(link: TestLink): Promise<RawApp> {
  const app = await RawApp.open(link.socketUrl);
  app.send(helloOf(link));
  assert.equal((await app.next())["type"], "ready");
  return app;
}

test("a new socket's hello closes the older one with 4001 and gets the calls from then on", async () => {
  const link = await relay.link();
  const older = await connectApp(link, named("older"));
  assert.equal(textOf(await callTool(link.mcpUrl)), "older");
  const newer = await connectApp(link, named("newer"));
  assert.deepEqual(await older.closed, TAKEN_OVER);
  assert.equal(textOf(await callTool(link.mcpUrl)), "newer");
  await newer.close();
});

test("calls in flight on the older socket end as disconnected and are not counted", async () => {
  const project = await relay.project();
  const link = await project.link();
  const older = await connectApp(link, SILENT);
  const waiting = [callTool(link.mcpUrl), callTool(link.mcpUrl)];
  await older.next("call");
  await older.next("call");
  const newer = await connectApp(link, named("newer"));
  for (const answer of await Promise.all(waiting)) {
    assert.equal(textOf(answer), LOST);
    assert.equal(answer.message["result"].isError, true);
  }
  const rows = await project.calls();
  assert.deepEqual(
    rows.map(({ outcome, counted }) => [outcome, counted]),
    [
      ["disconnected", false],
      ["disconnected", false],
    ],
  );
  const usage = await relay.rest("GET", "/v1/usage", project.secretKey);
  assert.deepEqual([usage.body["counted"], usage.body["total"]], [0, 2]);
  assert.equal(newer.frames.length, 1, "no call is sent a second time");
  await newer.close();
});

test("an answer that comes over the older socket is dropped", async () => {
  const link = await relay.link();
  const older = await rawHello(link);
  const newer = await connectApp(link, SILENT);
  const waiting = callTool(link.mcpUrl);
  const { id } = await newer.next("call");
  // The older app has not answered the close frame: its connection still carries bytes.
  older.send({ type: "result", id, content: [{ type: "text", text: "older" }] });
  older.send({ type: "link.revoke", id: "r1" });
  assert.deepEqual(await older.ended, TAKEN_OVER);
  newer.send({ type: "result", id, content: [{ type: "text", text: "newer" }] });
  assert.equal(textOf(await waiting), "newer");
  await newer.close();
});

test("the older socket's late end changes nothing for the newer one", async () => {
  const project = await relay.project();
  const link = await project.link();
  const older = await rawHello(link);
  const newer = await connectApp(link, named("newer"));
  const began = performance.now();
  assert.deepEqual(await older.ended, TAKEN_OVER, "it is dropped, since it does not close");
  assert.ok(performance.now() - began > 500, "and that was long after the takeover");
  assert.equal(textOf(await callTool(link.mcpUrl)), "newer");
  assert.equal(await isConnected(project, link), true);
  await newer.close();
});

test("an app that lost its network connects again at once, though Relay has not noticed", async () => {
  const link = await relay.link();
  const older = await rawHello(link);
  older.tcp.pause();
  const newer = await connectApp(link, named("newer"));
  assert.equal(textOf(await callTool(link.mcpUrl)), "newer");
  older.destroy();
  await newer.close();
});

test("of 50 sockets of a link that connect at once exactly one stays, and it alone answers", async () => {
  const project = await relay.project();
  const link = await project.link();
  const calls: JsonObject[] = [];
  const apps = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const app = new TestApp(link.socketUrl, {
        onCall: (call) => {
          calls.push(call);
          return { type: "result", content: [{ type: "text", text: `app ${n}` }] };
        },
      });
      await app.opened();
      return app;
    }),
  );
  const closes: unknown[] = [];
  const oneLeft = new Promise<void>((resolve) => {
    const onClose = (close: unknown): void => {
      closes.push(close);
      if (closes.length === apps.length - 1) resolve();
    };
    for (const app of apps) app.closed.then(onClose, assert.ifError);
  });
  for (const app of apps) app.send(helloOf(link));
  const early = Array.from({ length: 40 }, () => callTool(link.mcpUrl));
  await oneLeft;
  const outcomes = new Map<unknown, number>();
  await Promise.all(early);
  for (const { outcome } of await project.calls("?limit=200")) {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const ended = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(ended, early.length, "every call made meanwhile ended once");
  for (const outcome of outcomes.keys()) {
    assert.ok(["ok", "offline", "disconnected", "unknown_tool"].includes(String(outcome)));
  }
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, "no call went to two apps");
  assert.equal(closes.length, 49);
  for (const close of closes) assert.deepEqual(close, TAKEN_OVER);
  const survivor = apps.findIndex(({ socket }) => socket.readyState === socket.OPEN);
  const late = await Promise.all(Array.from({ length: 20 }, () => callTool(link.mcpUrl)));
  for (const answer of late) assert.equal(textOf(answer), `app ${survivor}`);
  assert.equal(apps[survivor]?.frames[0]?.["type"], "ready");
  assert.equal(await isConnected(project, link), true);
  await apps[survivor]?.close();
});

test("when the last socket is gone the link is offline, and says when it was seen", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  assert.equal(await isConnected(project, link), true);
  app.socket.terminate();
  const seen = async (): Promise<JsonObject> =>
    (await relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey)).body;
  let view = await seen();
  for (let tries = 0; view["connected"] !== false && tries < 200; tries += 1) view = await seen();
  assert.equal(view["connected"], false);
  assert.ok(Math.abs(Date.parse(view["lastSeenAt"]) - Date.now()) < 10_000);
  assert.equal(
    textOf(await callTool(link.mcpUrl)),
    "Notes is not running on your device. Open it and try again.",
  );
});
