import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallId, LinkId, ProjectId, RequestId } from "@relay/protocol";
import { openLog } from "../observe/log.ts";
import { StoreError } from "../store/store.ts";
import type { CallRow } from "../store/store.ts";
import type { Clock } from "../clock.ts";
import { Settler } from "./settle.ts";

/** A clock that stands still until a test moves it. */
class StillClock implements Clock {
  #now = 0;
  #timers: { at: number; run: () => void }[] = [];

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on and lets what is due run, with the promises behind it. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
    await turn();
  }
}

/** A disk that writes a row when a test says so. */
class Disk {
  readonly asked: {
    row: CallRow;
    rollUpOnly: boolean;
    write(): void;
    fail(): void;
    refuse(): void;
  }[] = [];

  recordCall(call: CallRow, rollUpOnly: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.asked.push({
        row: call,
        rollUpOnly,
        write: resolve,
        fail: () => reject(new StoreError("unavailable", "the disk is full")),
        refuse: () => reject(new Error("a constraint does not hold")),
      });
    });
  }
}

function open() {
  const clock = new StillClock();
  const disk = new Disk();
  const spent: string[] = [];
  const released: string[] = [];
  const settler = new Settler({
    store: disk,
    clock,
    log: openLog("silent"),
    quota: {
      reserve: () => "admitted",
      release: (_project, callId) => released.push(callId),
      spend: (_project, callId) => spent.push(callId),
    },
  });
  return { clock, disk, spent, released, settler };
}

function row(callId: string, counted = true): CallRow {
  return {
    callId: callId as CallId,
    projectId: "p" as ProjectId,
    linkId: "l" as LinkId,
    tool: "t",
    toolKnown: true,
    client: null,
    outcome: counted ? "ok" : "disconnected",
    counted,
    startedAt: 0,
    durationMs: 0,
    requestBytes: 2,
    resultBytes: 2,
    requestId: "r" as RequestId,
  };
}

/** Lets every promise that is due go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("an answer waits for its row, and the reservation is spent when it is written", async () => {
  const { disk, settler, spent } = open();
  let released = 0;
  settler.settle(row("a"), () => (released += 1));
  await turn();
  assert.equal(released, 0);
  disk.asked[0]?.write();
  await turn();
  assert.equal(released, 1);
  assert.deepEqual(spent, ["a"]);
  assert.equal(settler.unwritten, 0);
});

test("after a second the answer goes first, once, and the store is late until the row is written", async () => {
  const { clock, disk, settler, spent } = open();
  let released = 0;
  settler.settle(row("a"), () => (released += 1));
  await clock.advance(999);
  assert.equal(released, 0);
  await clock.advance(1);
  assert.equal(released, 1);
  assert.equal(settler.isLate, true);
  assert.deepEqual(spent, []);
  disk.asked[0]?.write();
  await turn();
  assert.equal(released, 1);
  assert.equal(settler.isLate, false);
  assert.deepEqual(spent, ["a"]);
});

test("a row that can't be written is tried again with the same id until it is", async () => {
  const { clock, disk, settler, spent } = open();
  settler.settle(row("a"), () => undefined);
  for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    disk.asked.at(-1)?.fail();
    await turn();
    await clock.advance(waitMs);
  }
  assert.equal(disk.asked.length, 8);
  assert.ok(disk.asked.every(({ row: { callId } }) => callId === "a"));
  assert.deepEqual(spent, []);
  disk.asked.at(-1)?.write();
  await turn();
  assert.deepEqual(spent, ["a"]);
  assert.equal(settler.unwritten, 0);
});

test("a row that can never be written is let go, with its answer and its reservation", async () => {
  const { clock, disk, settler, spent, released } = open();
  let answered = 0;
  settler.settle(row("a"), () => (answered += 1));
  disk.asked[0]?.refuse();
  await turn();
  await clock.advance(60_000);
  assert.equal(disk.asked.length, 1);
  assert.equal(answered, 1);
  assert.equal(settler.unwritten, 0);
  assert.deepEqual([spent, released], [[], ["a"]]);
});

test("an uncounted call spends nothing", async () => {
  const { disk, settler, spent } = open();
  settler.settle(row("a", false), () => undefined);
  disk.asked[0]?.write();
  await turn();
  assert.deepEqual(spent, []);
});

test("with 10,000 rows unwritten the settler is full, and no longer when one is written", async () => {
  const { disk, settler } = open();
  for (let index = 0; index < 9_999; index += 1) settler.note(row(`c${index}`, false), true);
  assert.equal(settler.isFull, false);
  settler.note(row("last", false), false);
  assert.equal(settler.isFull, true);
  assert.equal(disk.asked[0]?.rollUpOnly, true);
  disk.asked[0]?.write();
  await turn();
  assert.equal(settler.isFull, false);
});

test("flush waits for the rows, but no longer than it may", async () => {
  const { clock, settler } = open();
  settler.note(row("a", false), false);
  let left: number | null = null;
  void settler.flush(20).then((count) => (left = count));
  await clock.advance(10);
  assert.equal(left, null);
  await clock.advance(10);
  assert.equal(left, 1);
});
