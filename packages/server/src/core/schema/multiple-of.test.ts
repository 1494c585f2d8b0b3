import assert from "node:assert/strict";
import { test } from "node:test";
import { isMultiple, toDecimal } from "./multiple-of.ts";
import { Steps } from "./steps.ts";
import { Random } from "./test/random.ts";

const SEED = 4_711;

test("decimals count as they are written", () => {
  const multiples: readonly (readonly [value: number, divisor: number])[] = [
    [0.07, 0.01],
    [19.99, 0.01],
    [0.3, 0.1],
    [4.35, 0.05],
    [1e22, 0.5],
    [1e308, 0.5],
    [12391239123, 1e-8],
    [0, 0.3],
    [-0.3, 0.1],
    [1e21, 1],
  ];
  const others: readonly (readonly [value: number, divisor: number])[] = [
    [0.075, 0.01],
    [0.00751, 0.0001],
    [1e308, 0.123456789],
    [1, 0.3],
    [1e-300, 1e300],
    [7, 2],
    [1.5, 2],
    [Infinity, 1],
  ];
  for (const [value, divisor] of multiples) assert.ok(check(value, divisor), `${value} ${divisor}`);
  for (const [value, divisor] of others) assert.ok(!check(value, divisor), `${value} ${divisor}`);
});

test(`every written multiple of a written decimal is one, its neighbour is none (seed ${SEED})`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 20_000; round += 1) {
    const places = 1 + random.below(6);
    const unit = 2 + random.below(998);
    const times = random.below(100_000);
    const divisor = Number(`${unit}e-${places}`);
    assert.ok(check(Number(`${unit * times}e-${places}`), divisor));
    assert.ok(!check(Number(`${unit * times + 1}e-${places}`), divisor));
  }
});

function check(value: number, divisor: number): boolean {
  return isMultiple(value, divisor, toDecimal(divisor), new Steps(10_000));
}
