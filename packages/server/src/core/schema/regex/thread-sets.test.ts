import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY, ThreadSets, UNKNOWN } from "./thread-sets.ts";

test("a set of threads has one number, however it is ordered", () => {
  const sets = new ThreadSets();
  assert.equal(sets.numberOf(Int32Array.of()), EMPTY);
  const number = sets.numberOf(Int32Array.of(3, 1, 22));
  assert.equal(sets.numberOf(Int32Array.of(22, 3, 1)), number);
  assert.notEqual(sets.numberOf(Int32Array.of(3, 12, 2)), number);
  assert.deepEqual([...sets.threadsOf(number)], [1, 3, 22]);
});

test("what was learnt comes back, for ASCII and all other characters", () => {
  const sets = new ThreadSets();
  const [one, other] = [sets.numberOf(Int32Array.of(1)), sets.numberOf(Int32Array.of(2))];
  for (const code of [0, 0x7f, 0x80, 0xd83d, 0x1f600]) {
    assert.equal(sets.transition(one, code), UNKNOWN);
    sets.learn(one, code, 2 * other + 1);
    assert.equal(sets.transition(one, code), 2 * other + 1);
    assert.equal(sets.transition(other, code), UNKNOWN);
  }
});

test("a scan remembers at most 64 sets, 8,192 threads and 4,096 transitions", () => {
  const many = new ThreadSets();
  const numbers = Array.from({ length: 70 }, (_, n) => many.numberOf(Int32Array.of(n)));
  assert.equal(numbers.indexOf(UNKNOWN), 63);
  assert.equal(many.numberOf(Int32Array.of(5)), numbers[5]);

  const large = new ThreadSets();
  assert.notEqual(large.numberOf(Int32Array.from({ length: 8_000 }, (_, n) => n)), UNKNOWN);
  assert.equal(large.numberOf(Int32Array.from({ length: 193 }, (_, n) => n)), UNKNOWN);

  const full = new ThreadSets();
  for (let code = 0; code < 4_096; code++) {
    assert.equal(full.isFull, false);
    full.learn(EMPTY, code, 0);
  }
  assert.equal(full.isFull, true);
});
