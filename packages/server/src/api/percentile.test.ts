import assert from "node:assert/strict";
import { test } from "node:test";
import { percentileOf } from "./percentile.ts";

const bucketsOf = (...calls: number[]) =>
  [10, 20, 50, null].map((upToMs, at) => ({ upToMs, calls: calls[at] ?? 0 }));

test("a percentile lies in its bucket, as far in as its share of that bucket's calls", () => {
  const buckets = bucketsOf(50, 40, 10, 0);
  assert.equal(percentileOf(buckets, 0.5), 10);
  assert.equal(percentileOf(buckets, 0.25), 5);
  assert.equal(percentileOf(buckets, 0.7), 15);
  assert.equal(percentileOf(buckets, 0.95), 35);
});

test("empty buckets are passed over, and past the last bound its own value is said", () => {
  assert.equal(percentileOf(bucketsOf(0, 0, 10, 0), 0.5), 35);
  assert.equal(percentileOf(bucketsOf(1, 0, 0, 99), 0.5), 50);
  assert.equal(percentileOf(bucketsOf(0, 4, 0, 0), 1), 20);
});

test("there is no percentile of no calls", () => {
  assert.equal(percentileOf(bucketsOf(0, 0, 0, 0), 0.5), null);
});
