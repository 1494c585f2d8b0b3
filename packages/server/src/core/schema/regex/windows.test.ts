import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../test/random.ts";
import { CharClass } from "./char-class.ts";
import { Windows, windowsMax } from "./windows.ts";

const SEED = 7;
const ANY = new CharClass([0, 0x10ffff], [], false);

test("windows let threads leave exactly when one of them, each counted for itself, may", () => {
  const random = new Random(SEED);
  console.log(`seed ${SEED}`);
  for (let round = 0; round < 300; round++) {
    const min = random.below(12);
    const max = random.chance(0.1) ? Infinity : min + random.below(6);
    const gap = random.below(max === Infinity ? 4 : max - min + 4) + 1;
    const windows = new Windows({ charClass: ANY, min, max });
    let entered: number[] = [];
    for (let time = 1; time < 120; time++) {
      const enters = random.chance(0.2) ? random.chance(0.5) : time % gap === 0;
      if (enters) entered.push(time);
      entered = entered.filter((start) => time - start <= max);
      const expected = entered.some((start) => time - start >= min);
      const actual = windows.pass(time, enters);
      assert.equal(actual, expected, JSON.stringify({ round, min, max, time }));
      // Without a maximum the first that may leave goes on for all, see Windows.
      if (max === Infinity && expected) entered = [];
      const inClass = random.chance(0.97);
      if (!inClass) entered = [];
      windows.carry(time, inClass);
    }
  }
});

test("threads are carried on once for each character, however often they are asked", () => {
  const windows = new Windows({ charClass: ANY, min: 2, max: 3 });
  windows.pass(1, true);
  assert.deepEqual([windows.carry(1, true), windows.carry(1, true)], [true, false]);
  windows.pass(2, false);
  assert.deepEqual([windows.carry(2, true), windows.carry(2, true)], [true, false]);
});

test("a repeat needs room for as many windows as can lie apart, and no more", () => {
  const table: [min: number, max: number, windows: number][] = [
    [0, 10_000, 1],
    [1, 10_000, 1],
    [5, Infinity, 1],
    [5, 5, 3],
    [64, 64, 33],
    [10, 20, 2],
    [10_000, 10_000, 5_001],
  ];
  for (const [min, max, windows] of table) {
    assert.equal(windowsMax({ charClass: ANY, min, max }), windows, `{${min},${max}}`);
  }
});
