import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "./clock.ts";
import { Waits } from "./waits.ts";

/** A clock that stands until it is moved, and counts the timers that were set on it. */
class HandClock implements Clock {
  timers = 0;
  #now = 0;
  #due: { readonly at: number; readonly run: () => void }[] = [];

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    this.timers += 1;
    const timer = { at: this.#now + ms, run };
    this.#due.push(timer);
    return () => {
      this.#due = this.#due.filter((other) => other !== timer);
    };
  }

  move(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = this.#due.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#due = this.#due.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = until;
  }
}

test("each wait ends once, after its own full length, in the order they began", () => {
  const clock = new HandClock();
  const waits = new Waits(clock, 100);
  const ended: string[] = [];
  waits.begin(() => ended.push(`a ${clock.monotonic()}`));
  clock.move(30);
  waits.begin(() => ended.push(`b ${clock.monotonic()}`));
  clock.move(1_000);
  assert.deepEqual(ended, ["a 100", "b 130"]);
});

test("a cancelled wait never runs, and does not hold up the one behind it", () => {
  const clock = new HandClock();
  const waits = new Waits(clock, 100);
  const ended: string[] = [];
  const cancelled = waits.begin(() => ended.push("cancelled"));
  clock.move(50);
  waits.begin(() => ended.push(`kept ${clock.monotonic()}`));
  cancelled.cancel();
  clock.move(1_000);
  assert.deepEqual(ended, ["kept 150"]);
});

test("a thousand waits that overlap set a handful of timers", () => {
  const clock = new HandClock();
  const waits = new Waits(clock, 100);
  let ended = 0;
  for (let at = 0; at < 1_000; at += 1) {
    const wait = waits.begin(() => (ended += 1));
    if (at % 10 !== 0) wait.cancel();
    clock.move(0.1);
  }
  clock.move(1_000);
  assert.equal(ended, 100);
  assert.ok(clock.timers <= 102, `${clock.timers} timers`);
});

test("a wait that is begun by another's end takes its full length", () => {
  const clock = new HandClock();
  const waits = new Waits(clock, 100);
  const ended: number[] = [];
  waits.begin(() => waits.begin(() => ended.push(clock.monotonic())));
  clock.move(1_000);
  assert.deepEqual(ended, [200]);
});
