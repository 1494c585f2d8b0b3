import assert from "node:assert/strict";
import { test } from "node:test";
import { ProgressGate } from "./progress.ts";

const at = (progress: number) => ({ progress, total: 100, message: null });

test("a first 0 passes, and after it only values above the last one", () => {
  const gate = new ProgressGate(0);
  assert.deepEqual(gate.offer(at(0), 0), at(0));
  assert.equal(gate.offer(at(0), 0), null);
  assert.deepEqual(gate.offer(at(50), 0), at(50));
  assert.equal(gate.offer(at(49), 0), null);
  assert.equal(new ProgressGate(0).offer(at(-1), 0), null);
});

test("a burst of 10 passes, then the newest value 10 times a second", () => {
  const gate = new ProgressGate(0);
  for (let value = 0; value < 10; value += 1) assert.ok(gate.offer(at(value), 0), `${value}`);
  assert.equal(gate.offer(at(10), 0), null);
  assert.equal(gate.offer(at(11), 0), null);
  assert.equal(gate.heldUntil, 100);
  assert.equal(gate.release(99), null);
  assert.deepEqual(gate.release(100), at(11));
  assert.equal(gate.heldUntil, null);
});

test("what is held goes out before the answer", () => {
  const gate = new ProgressGate(0);
  for (let value = 0; value < 10; value += 1) gate.offer(at(value), 0);
  gate.offer(at(99), 0);
  assert.deepEqual(gate.flush(), at(99));
  assert.equal(gate.flush(), null);
});

test("a keep-alive grows by a thousandth, so that the app's next value is still above it", () => {
  const gate = new ProgressGate(0);
  gate.offer(at(3), 0);
  assert.deepEqual(gate.keepAlive(), { progress: 3.001, total: null, message: null });
  assert.deepEqual(gate.offer(at(4), 15_000), at(4));
  assert.equal(new ProgressGate(0).keepAlive().progress, 0.001);
});
