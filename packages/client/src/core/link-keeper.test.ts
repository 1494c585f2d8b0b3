import assert from "node:assert/strict";
import { test } from "node:test";
import { linkKeeper } from "./link-keeper.ts";
import type { KeeperEffect, KeeperEvent, KeeperOptions } from "./link-keeper.ts";

const ALONE: KeeperOptions = { elects: false, yields: false };
const TAB: KeeperOptions = { elects: true, yields: true };
const TAB_WITHOUT_LOCKS: KeeperOptions = { elects: false, yields: true };

/** A keeper whose waits are as long as they can be, so that a test can name them. */
class Transcript {
  now = 0;
  random = 1;
  readonly keeper;
  readonly #elects: boolean;

  constructor(options: KeeperOptions = ALONE) {
    this.keeper = linkKeeper(options);
    this.#elects = options.elects;
  }

  feed(...event: KeeperEvent): string[] {
    return this.keeper.apply(event, this.now, this.random).map(describe);
  }

  /** Lets `ms` pass, with a tick whenever the keeper wants one; returns everything it did. */
  pass(ms: number): string[] {
    const end = this.now + ms;
    const done: string[] = [];
    while (this.keeper.nextDeadline() <= end) {
      this.now = this.keeper.nextDeadline();
      done.push(...this.feed("tick"));
    }
    this.now = end;
    return done;
  }

  /** Brings the keeper online. */
  online(): this {
    this.feed("start");
    if (this.#elects) this.feed("lead");
    this.feed("linked");
    this.feed("greeted");
    this.feed("ready");
    return this;
  }

  close(code: number): string[] {
    return this.feed("closed", { code, message: "" });
  }

  /** Connects again as Relay would let it: the wait, the socket, the hello. */
  reconnect(): string[] {
    const done = this.pass(this.keeper.nextDeadline() - this.now);
    this.feed("greeted");
    return [...done, ...this.feed("ready")];
  }
}

function describe(effect: KeeperEffect): string {
  if (effect[0] !== "state") return effect.join(" ");
  const [, state] = effect;
  if (state.status === "waiting") return `waiting ${state.waitMs} after ${state.reason.code}`;
  return state.status === "closed" ? `closed by ${state.reason.code}` : state.status;
}

test("an app links, opens, says hello and is online", () => {
  const t = new Transcript();
  assert.deepEqual(t.feed("start"), ["connecting", "link false"]);
  assert.deepEqual(t.feed("linked"), ["open"]);
  assert.deepEqual(t.feed("greeted"), []);
  assert.deepEqual(t.feed("ready"), ["online"]);
});

test("a lost connection is tried again after 1 s, then after twice as long each time, up to 30 s", () => {
  const t = new Transcript().online();
  for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    assert.deepEqual(t.close(1006), ["lost", `waiting ${waitMs} after 1006`]);
    assert.deepEqual(t.pass(waitMs - 1), []);
    assert.deepEqual(t.pass(1), ["connecting", "open"]);
  }
});

test("ready starts the waits anew", () => {
  const t = new Transcript().online();
  t.close(1006);
  t.pass(1_000);
  t.close(1006);
  t.reconnect();
  assert.deepEqual(t.close(1012), ["lost", "waiting 1000 after 1012"]);
});

for (const code of [4401, 4403, 4410]) {
  test(`after ${code} an app stays away until it is told to start`, () => {
    const t = new Transcript().online();
    assert.deepEqual(t.close(code), ["lost", `closed by ${code}`]);
    assert.equal(t.keeper.nextDeadline(), Infinity);
    assert.deepEqual(t.feed("wake"), []);
    assert.deepEqual(t.feed("start"), ["connecting", "link false"]);
  });
}

for (const code of [1000, 1001, 1002, 1006, 1007, 1008, 1011, 1012, 4001, 4400, 4423, 4429]) {
  test(`after ${code} an app connects again`, () => {
    const t = new Transcript().online();
    assert.deepEqual(t.close(code), ["lost", `waiting 1000 after ${code}`]);
  });
}

test("two copies that evict each other wait longer each time", () => {
  const t = new Transcript().online();
  const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map((waitMs) => {
    const done = t.close(4001);
    t.reconnect();
    t.pass(5_000);
    return [done.at(-1), waitMs];
  });
  for (const [done, waitMs] of waits) assert.equal(done, `waiting ${waitMs} after 4001`);
});

test("after a take-over, a socket that was up for 60 s starts the waits anew", () => {
  const t = new Transcript().online();
  t.close(4001);
  t.reconnect();
  t.close(4001);
  t.reconnect();
  t.feed("heard");
  for (let at = 0; at < 60_000; at += 20_000) {
    t.pass(20_000);
    t.feed("heard");
  }
  assert.deepEqual(t.close(4001), ["lost", "waiting 1000 after 4001"]);
});

test("after a take-over, a loss of another kind within 60 s does not start the waits anew", () => {
  const t = new Transcript().online();
  t.close(4001);
  t.reconnect();
  assert.deepEqual(t.close(1006), ["lost", "waiting 2000 after 1006"]);
  t.reconnect();
  assert.deepEqual(t.close(1006), ["lost", "waiting 4000 after 1006"]);
});

test("a tab tries for the lock before it creates or connects anything", () => {
  const t = new Transcript(TAB);
  assert.deepEqual(t.feed("start"), ["connecting", "elect false"]);
  assert.deepEqual(t.feed("follow"), ["standby"]);
  assert.deepEqual(t.feed("wake"), []);
  assert.deepEqual(t.feed("lead"), ["connecting", "link false"]);
});

test("a tab whose lock was stolen leaves its socket and stands by", () => {
  const t = new Transcript(TAB).online();
  assert.deepEqual(t.feed("follow"), ["lost", "standby"]);
  assert.deepEqual(t.feed("follow"), []);
  assert.deepEqual(t.feed("take_lead"), ["connecting", "elect true"]);
});

test("a tab that was taken over reconnects while it holds the lock", () => {
  const t = new Transcript(TAB).online();
  assert.deepEqual(t.close(4001), ["lost", "waiting 1000 after 4001"]);
});

test("without locks a tab that was taken over stands by until it is looked at", () => {
  const t = new Transcript(TAB_WITHOUT_LOCKS).online();
  assert.deepEqual(t.close(4001), ["lost", "standby"]);
  assert.equal(t.keeper.nextDeadline(), Infinity);
  assert.deepEqual(t.feed("wake"), ["connecting", "link false"]);
});

test("a tab that stays away gives the lock up", () => {
  const t = new Transcript(TAB).online();
  assert.deepEqual(t.close(4410), ["lost", "resign", "closed by 4410"]);
  assert.deepEqual(t.feed("start"), ["connecting", "elect false"]);
});

test("a quiet socket is asked after 25 s and dead at 35 s", () => {
  const t = new Transcript().online();
  assert.deepEqual(t.pass(24_999), []);
  assert.deepEqual(t.pass(1), ["ping"]);
  assert.deepEqual(t.pass(9_999), []);
  assert.deepEqual(t.pass(1), ["lost", "waiting 1000 after 1006"]);
});

test("any frame is a sign of life", () => {
  const t = new Transcript().online();
  t.pass(20_000);
  t.feed("heard");
  assert.deepEqual(t.pass(24_999), []);
  assert.deepEqual(t.pass(1), ["ping"]);
  t.feed("heard");
  assert.deepEqual(t.pass(24_999), []);
});

test("after timers that slept, a socket gets a second chance, and only one", () => {
  const t = new Transcript().online();
  t.pass(25_000);
  t.now += 60_000;
  assert.deepEqual(t.feed("tick"), ["ping"]);
  t.now += 60_000;
  assert.deepEqual(t.feed("tick"), ["lost", "waiting 1000 after 1006"]);
});

test("pings leave most of the minute's commands to the person, however often the device wakes", () => {
  const t = new Transcript().online();
  let pings = 0;
  for (let at = 0; at < 60_000; at += 500) {
    const done = [...t.pass(500), ...t.feed("wake")];
    pings += done.filter((effect) => effect === "ping").length;
    if (done.includes("ping")) t.feed("heard");
  }
  assert.ok(pings > 0 && pings <= 12, `${pings} pings`);
});

test("a wake-up cuts a wait short, but not more than once a second", () => {
  const t = new Transcript().online();
  for (let failures = 0; failures < 6; failures += 1) {
    t.close(1006);
    t.pass(t.keeper.nextDeadline() - t.now);
  }
  t.close(1006);
  assert.deepEqual(t.feed("wake"), []);
  t.now += 1_000;
  assert.deepEqual(t.feed("wake"), ["connecting", "open"]);
  assert.deepEqual(t.close(1006), ["lost", "waiting 30000 after 1006"]);
  assert.deepEqual(t.feed("wake"), []);
});

test("a wake-up makes sure of a connection within 5 s", () => {
  const t = new Transcript().online();
  t.now += 10_000;
  assert.deepEqual(t.feed("wake"), ["ping"]);
  assert.deepEqual(t.feed("wake"), []);
  assert.deepEqual(t.pass(5_000), ["lost", "waiting 1000 after 1006"]);
});

test("a socket that is not ready after 20 s is given up", () => {
  const t = new Transcript();
  t.feed("start");
  t.feed("linked");
  t.feed("greeted");
  assert.deepEqual(t.pass(19_999), []);
  assert.deepEqual(t.pass(1), ["lost", "waiting 1000 after 1006"]);
});

test("a link that can't be had now is tried again, not before Relay said", () => {
  const t = new Transcript();
  t.feed("start");
  const reason = { code: "RATE_LIMITED", message: "" };
  assert.deepEqual(t.feed("link_failed", reason, 42_000), ["waiting 42000 after RATE_LIMITED"]);
  assert.deepEqual(t.pass(42_000), ["connecting", "link false"]);
  assert.deepEqual(t.feed("link_failed", reason, 0), ["waiting 2000 after RATE_LIMITED"]);
});

test("a link that can't be had at all keeps the app away", () => {
  const t = new Transcript(TAB);
  t.feed("start");
  t.feed("lead");
  const reason = { code: "UNAUTHORIZED", message: "" };
  assert.deepEqual(t.feed("link_failed", reason, null), ["resign", "closed by UNAUTHORIZED"]);
});

test("new tools reconnect a second after the first change, once for all changes in it", () => {
  const t = new Transcript().online();
  t.feed("tools_changed");
  t.pass(600);
  t.feed("tools_changed");
  assert.deepEqual(t.pass(399), []);
  assert.deepEqual(t.pass(1), ["lost", "connecting", "open"]);
  t.feed("greeted");
  assert.deepEqual(t.feed("ready"), ["online"]);
  assert.deepEqual(t.pass(10_000), []);
});

test("new tools wait for running calls, for 10 s at most", () => {
  const t = new Transcript().online();
  t.feed("calls", 1);
  t.feed("tools_changed");
  assert.deepEqual(t.pass(5_000), []);
  t.feed("calls", 0);
  assert.deepEqual(t.pass(0), ["lost", "connecting", "open"]);
  t.feed("greeted");
  t.feed("ready");
  t.feed("calls", 1);
  t.feed("tools_changed");
  assert.deepEqual(t.pass(10_999), []);
  assert.deepEqual(t.pass(1), ["lost", "connecting", "open"]);
});

test("tools that change between hello and ready cause one more reconnect", () => {
  const t = new Transcript();
  t.feed("start");
  t.feed("linked");
  t.feed("greeted");
  t.feed("tools_changed");
  t.pass(5_000);
  t.feed("ready");
  assert.deepEqual(t.pass(0), ["lost", "connecting", "open"]);
});

test("tools that change before hello go with it", () => {
  const t = new Transcript();
  t.feed("start");
  t.feed("linked");
  t.feed("tools_changed");
  t.feed("greeted");
  t.feed("ready");
  assert.deepEqual(t.pass(10_000), []);
});

test("new tools are tried at once where the old ones were refused, and change no other wait", () => {
  const t = new Transcript().online();
  t.close(4400);
  t.pass(1_000);
  t.close(4400);
  t.pass(2_000);
  t.close(4400);
  t.feed("tools_changed");
  assert.deepEqual(t.pass(1_000), ["connecting", "open"]);
  t.feed("greeted");
  t.close(1006);
  t.feed("tools_changed");
  assert.deepEqual(t.pass(1_000), []);
});

test("a new link is only created for relink, which may also be said while online", () => {
  const t = new Transcript(TAB).online();
  assert.deepEqual(t.feed("relink"), ["lost", "connecting", "link true"]);
  t.feed("linked");
  t.close(1006);
  t.feed("stop");
  t.feed("start");
  assert.deepEqual(t.feed("lead"), ["link false"]);
});

test("a relink that fails for now stays a relink", () => {
  const t = new Transcript().online();
  t.feed("relink");
  t.feed("link_failed", { code: "NETWORK", message: "" }, 0);
  assert.deepEqual(t.pass(1_000), ["connecting", "link true"]);
});

test("stop leaves the socket and resigns; what comes late changes nothing", () => {
  const t = new Transcript(TAB).online();
  assert.deepEqual(t.feed("stop"), ["lost", "resign", "idle"]);
  const late: KeeperEvent[] = [
    ["lead"],
    ["follow"],
    ["linked"],
    ["greeted"],
    ["ready"],
    ["heard"],
    ["closed", { code: 1000, message: "" }],
    ["wake"],
    ["calls", 0],
    ["tick"],
  ];
  for (const event of late) assert.deepEqual(t.feed(...event), [], event[0]);
  assert.equal(t.keeper.nextDeadline(), Infinity);
});

test("a relink that fails for good is over: start takes the link there is", () => {
  const t = new Transcript().online();
  t.feed("relink");
  t.feed("link_failed", { code: "UNAUTHORIZED", message: "" }, null);
  assert.deepEqual(t.feed("start"), ["connecting", "link false"]);
});

test("the second chance is for sockets that were online, not for those that never opened", () => {
  const t = new Transcript().online();
  t.pass(25_000);
  t.close(1006);
  t.pass(1_000);
  t.now += 30_000;
  assert.deepEqual(t.feed("tick"), ["lost", "waiting 2000 after 1006"]);
});
