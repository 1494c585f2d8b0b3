import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallId } from "@relay/protocol";
import { LinkCalls } from "./link.ts";
import type { LinkEffect, LinkEvent, LinkSettings } from "./link.ts";

const SETTINGS: LinkSettings = { callsPerMinute: 60, callsInFlight: 8, callTimeoutMs: 180_000 };
const id = (name: string): CallId => name as CallId;

/** A link whose quota says yes at once, so that `call` reads like one event. */
class Transcript {
  now = 0;
  readonly link: LinkCalls;

  constructor(settings: Partial<LinkSettings> = {}, paused = false) {
    this.link = new LinkCalls({ ...SETTINGS, ...settings }, paused);
  }

  feed(event: LinkEvent): string[] {
    return this.link.apply(event, this.now).map(describe);
  }

  connect(epoch = 1): string[] {
    return this.feed({ type: "connected", epoch });
  }

  /** Starts a call and admits it. */
  call(name: string, rpcKey = `n:${name}`): string[] {
    const first = this.feed({ type: "call", callId: id(name), rpcKey });
    if (first[0] !== `reserve ${name}`) return first;
    return this.feed({ type: "reserved", callId: id(name), verdict: "admitted" });
  }

  answer(name: string, epoch = 1, outcome: "ok" | "tool_error" = "ok"): string[] {
    return this.feed({ type: "answered", callId: id(name), epoch, outcome });
  }

  tick(): string[] {
    return this.feed({ type: "tick" });
  }
}

function describe(effect: LinkEffect): string {
  switch (effect.type) {
    case "reserve":
    case "release":
      return `${effect.type} ${effect.callId}`;
    case "send":
    case "cancel":
      return `${effect.type} ${effect.callId} to ${effect.epoch}`;
    case "close":
      return `close ${effect.epoch} with ${effect.code}`;
    case "finish": {
      const wait = effect.waitSeconds === undefined ? "" : ` wait ${effect.waitSeconds}`;
      return `finish ${effect.callId} ${effect.outcome} ${effect.sent ? "sent" : "unsent"}${wait}`;
    }
  }
}

test("a call is reserved, sent, and ends with the app's answer", () => {
  const t = new Transcript();
  assert.deepEqual(t.connect(), []);
  assert.deepEqual(t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" }), ["reserve a"]);
  assert.deepEqual(t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" }), [
    "send a to 1",
  ]);
  assert.equal(t.link.inFlight, 1);
  assert.deepEqual(t.answer("a"), ["finish a ok sent"]);
  assert.equal(t.link.inFlight, 0);
});

test("the app's error ends its call as tool_error", () => {
  const t = new Transcript();
  t.connect();
  t.call("a");
  assert.deepEqual(t.answer("a", 1, "tool_error"), ["finish a tool_error sent"]);
});

test("a second answer, and one to a call nobody made, changes nothing", () => {
  const t = new Transcript();
  t.connect();
  t.call("a");
  t.answer("a");
  assert.deepEqual(t.answer("a"), []);
  assert.deepEqual(t.answer("zzz"), []);
});

test("a call unanswered for 180 s times out, and the app is told to stop", () => {
  const t = new Transcript();
  t.connect();
  t.call("a");
  assert.equal(t.link.nextDeadline, 180_000);
  t.now = 179_999;
  assert.deepEqual(t.tick(), []);
  t.now = 180_000;
  assert.deepEqual(t.tick(), ["cancel a to 1", "finish a timeout sent"]);
  assert.deepEqual(t.answer("a"), []);
  assert.equal(t.link.nextDeadline, null);
});

test("the deadline runs from when the call was sent", () => {
  const t = new Transcript();
  t.connect();
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  t.now = 1_000;
  t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" });
  assert.equal(t.link.nextDeadline, 181_000);
});

test("without a socket a call is offline", () => {
  const t = new Transcript();
  assert.deepEqual(t.call("a"), ["finish a offline unsent"]);
  t.connect();
  t.feed({ type: "disconnected", epoch: 1 });
  assert.deepEqual(t.call("b"), ["finish b offline unsent"]);
});

test("a paused link refuses calls before it looks for the app, and lets those in flight finish", () => {
  const t = new Transcript();
  assert.deepEqual(t.feed({ type: "paused", paused: true }), []);
  assert.deepEqual(t.call("a"), ["finish a paused unsent"]);
  t.connect();
  t.feed({ type: "paused", paused: false });
  t.call("b");
  t.feed({ type: "paused", paused: true });
  assert.deepEqual(t.call("c"), ["finish c paused unsent"]);
  assert.deepEqual(t.answer("b"), ["finish b ok sent"]);
});

test("the ninth call in flight is busy; a place is free again once one ends", () => {
  const t = new Transcript();
  t.connect();
  for (let n = 1; n <= 8; n += 1) assert.deepEqual(t.call(`c${n}`), [`send c${n} to 1`]);
  assert.deepEqual(t.call("c9"), ["finish c9 busy unsent"]);
  t.answer("c1");
  assert.deepEqual(t.call("c10"), ["send c10 to 1"]);
});

test("a call that waits for its quota decision holds a place", () => {
  const t = new Transcript({ callsInFlight: 1 });
  t.connect();
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  assert.deepEqual(t.call("b"), ["finish b busy unsent"]);
});

test("over the calls per minute a call is rate limited, with the seconds left", () => {
  const t = new Transcript({ callsPerMinute: 2 });
  t.connect();
  t.call("a");
  t.answer("a");
  t.now = 48_000;
  t.call("b");
  t.answer("b");
  assert.deepEqual(t.call("c"), ["finish c rate_limited unsent wait 12"]);
  t.now = 59_999;
  assert.deepEqual(t.call("d"), ["finish d rate_limited unsent wait 1"]);
  t.now = 60_000;
  assert.deepEqual(t.call("e"), ["send e to 1"]);
});

test("a refused call does not use up the minute", () => {
  const t = new Transcript({ callsPerMinute: 1 });
  for (let n = 0; n < 50; n += 1) t.call(`x${n}`);
  t.connect();
  t.feed({ type: "call", callId: id("q"), rpcKey: "n:1" });
  t.feed({ type: "reserved", callId: id("q"), verdict: "quota_exceeded" });
  assert.deepEqual(t.call("a"), ["send a to 1"]);
});

test("rate limited comes before paused, paused before offline, offline before busy", () => {
  const t = new Transcript({ callsPerMinute: 1, callsInFlight: 1 });
  t.connect();
  t.call("a");
  t.now = 60_000;
  t.feed({ type: "paused", paused: true });
  assert.deepEqual(t.call("b"), ["finish b paused unsent"]);
  t.feed({ type: "disconnected", epoch: 1 });
  assert.deepEqual(t.call("c"), ["finish c paused unsent"]);
  const limited = new Transcript({ callsPerMinute: 1 });
  limited.connect();
  limited.call("a");
  limited.feed({ type: "paused", paused: true });
  assert.deepEqual(limited.call("b"), ["finish b rate_limited unsent wait 60"]);
});

test("a quota decision against a call ends it uncounted", () => {
  for (const verdict of ["cap_reached", "quota_exceeded"] as const) {
    const t = new Transcript();
    t.connect();
    t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
    const effects = t.feed({ type: "reserved", callId: id("a"), verdict });
    assert.deepEqual(effects, [`finish a ${verdict} unsent`]);
    assert.equal(t.link.inFlight, 0);
  }
});

test("a host that goes away cancels its call, and the app is told", () => {
  const t = new Transcript();
  t.connect();
  t.call("a");
  assert.deepEqual(t.feed({ type: "host_gone", callId: id("a") }), [
    "cancel a to 1",
    "finish a cancelled sent",
  ]);
  assert.deepEqual(t.answer("a"), []);
  assert.deepEqual(t.feed({ type: "host_gone", callId: id("a") }), []);
});

test("a call cancelled before it reached the app is not counted, and its reservation is dropped", () => {
  const t = new Transcript();
  t.connect();
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  assert.deepEqual(t.feed({ type: "host_gone", callId: id("a") }), ["finish a cancelled unsent"]);
  assert.deepEqual(t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" }), [
    "release a",
  ]);
  t.feed({ type: "call", callId: id("b"), rpcKey: "n:1" });
  t.feed({ type: "host_gone", callId: id("b") });
  assert.deepEqual(t.feed({ type: "reserved", callId: id("b"), verdict: "cap_reached" }), []);
});

test("a cancel notification acts only on an id that exactly one call carries", () => {
  const t = new Transcript();
  t.connect();
  t.call("a", "n:1");
  t.call("b", "n:1");
  t.call("c", "s:1");
  assert.deepEqual(t.feed({ type: "host_cancelled", rpcKey: "n:1" }), []);
  assert.deepEqual(t.feed({ type: "host_cancelled", rpcKey: "n:2" }), []);
  assert.deepEqual(t.feed({ type: "host_cancelled", rpcKey: "s:1" }), [
    "cancel c to 1",
    "finish c cancelled sent",
  ]);
  t.answer("a");
  assert.deepEqual(t.feed({ type: "host_cancelled", rpcKey: "n:1" }), [
    "cancel b to 1",
    "finish b cancelled sent",
  ]);
});

test("the newest socket wins: the older one is closed and its calls end, not counted", () => {
  const t = new Transcript();
  t.connect(1);
  t.call("a");
  assert.deepEqual(t.connect(2), ["close 1 with 4001", "release a", "finish a disconnected sent"]);
  assert.equal(t.link.socket, 2);
  assert.deepEqual(t.call("b"), ["send b to 2"]);
  assert.deepEqual(t.answer("b", 1), []);
  assert.deepEqual(t.answer("b", 2), ["finish b ok sent"]);
});

test("a socket whose epoch is older than the live one's is turned away", () => {
  const t = new Transcript();
  t.connect(5);
  t.call("a");
  assert.deepEqual(t.connect(4), ["close 4 with 4001"]);
  assert.equal(t.link.socket, 5);
  assert.deepEqual(t.answer("a", 5), ["finish a ok sent"]);
});

test("an old socket's late close changes nothing", () => {
  const t = new Transcript();
  t.connect(1);
  t.connect(2);
  t.call("a");
  assert.deepEqual(t.feed({ type: "disconnected", epoch: 1 }), []);
  assert.equal(t.link.socket, 2);
  assert.deepEqual(t.answer("a", 2), ["finish a ok sent"]);
});

test("on a takeover a call that was not sent yet goes to the new socket", () => {
  const t = new Transcript();
  t.connect(1);
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  assert.deepEqual(t.connect(2), ["close 1 with 4001"]);
  assert.deepEqual(t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" }), [
    "send a to 2",
  ]);
});

test("a call whose app left before it was sent is offline, and its reservation is given back", () => {
  const t = new Transcript();
  t.connect(1);
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  assert.deepEqual(t.feed({ type: "disconnected", epoch: 1 }), []);
  assert.deepEqual(t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" }), [
    "release a",
    "finish a offline unsent",
  ]);
});

test("a quota decision that never comes ends the call as busy, never as a counted time-out", () => {
  const t = new Transcript();
  t.connect();
  t.feed({ type: "call", callId: id("a"), rpcKey: "n:1" });
  t.now = 180_000;
  assert.deepEqual(t.tick(), ["finish a busy unsent"]);
  assert.deepEqual(t.feed({ type: "reserved", callId: id("a"), verdict: "admitted" }), [
    "release a",
  ]);
});

test("closing the socket ends what it holds as disconnected, once", () => {
  const t = new Transcript();
  t.connect(1);
  t.call("a");
  assert.deepEqual(t.feed({ type: "close", code: 4410 }), [
    "close 1 with 4410",
    "release a",
    "finish a disconnected sent",
  ]);
  assert.deepEqual(t.feed({ type: "disconnected", epoch: 1 }), []);
  assert.deepEqual(t.feed({ type: "close", code: 4410 }), []);
});

test("changed settings count for the next call", () => {
  const t = new Transcript({ callsPerMinute: 1 });
  t.connect();
  t.call("a");
  t.answer("a");
  assert.match(t.call("b")[0] ?? "", /rate_limited/);
  t.feed({ type: "settings", settings: { ...SETTINGS, callsPerMinute: 2 } });
  assert.deepEqual(t.call("c"), ["send c to 1"]);
});

test("a link is idle once it has no socket, no calls and no open window", () => {
  const t = new Transcript();
  assert.equal(t.link.isIdle(0), true);
  t.connect();
  assert.equal(t.link.isIdle(0), false);
  t.call("a");
  t.answer("a");
  t.feed({ type: "disconnected", epoch: 1 });
  assert.equal(t.link.isIdle(59_999), false);
  assert.equal(t.link.isIdle(60_000), true);
});
