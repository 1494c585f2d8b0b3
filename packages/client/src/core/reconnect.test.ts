import assert from "node:assert/strict";
import { test } from "node:test";
import { reconnectDelayMs } from "./reconnect.ts";

/** The same numbers in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("a wait is the product spec's: half of the doubled seconds or more, up to 30", () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 50].map((attempt) => reconnectDelayMs(attempt, 1));
  assert.deepEqual(longest, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  const shortest = [0, 5, 50].map((attempt) => reconnectDelayMs(attempt, 0));
  assert.deepEqual(shortest, [500, 15_000, 15_000]);
});

test("1,000 apps spread their tries over the whole window, at the 30 s cap too", () => {
  const seed = 20_261_130;
  const random = randomFrom(seed);
  const minutes = 10;
  const tries: number[] = [];
  for (let app = 0; app < 1_000; app += 1) {
    let at = 0;
    for (let attempt = 0; at < minutes * 60_000; attempt += 1) {
      at += reconnectDelayMs(attempt, random());
      tries.push(at);
    }
  }
  // Once all of them are at the cap, they come 1,000 in 22.5 s on average: no second is a crowd.
  const perSecond = new Map<number, number>();
  for (const at of tries) {
    const second = Math.floor(at / 1_000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const settled = Array.from({ length: 400 }, (_, index) => perSecond.get(index + 200) ?? 0);
  const mean = settled.reduce((sum, count) => sum + count, 0) / settled.length;
  console.log(`seed ${seed}: ${mean.toFixed(1)} tries a second, at most ${Math.max(...settled)}`);
  assert.ok(Math.abs(mean - 1_000 / 22.5) < 2, `mean ${mean}`);
  assert.ok(Math.max(...settled) < 2 * mean && Math.min(...settled) > mean / 2);
});

test("the jitter of one wait is even over its half", () => {
  const random = randomFrom(7);
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let count = 0; count < 10_000; count += 1) {
    const share = (reconnectDelayMs(9, random()) - 15_000) / 15_000;
    const tenth = Math.floor(share * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) assert.ok(count > 850 && count < 1_150, tenths.join(" "));
});
