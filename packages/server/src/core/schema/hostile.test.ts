import assert from "node:assert/strict";
import { test } from "node:test";
import { checkValue, stepsFor } from "./check.ts";
import { PREPARE_LIMITS, prepareSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { HOSTILE_CASES } from "./test/hostile-cases.ts";
import type { HostileCase } from "./test/hostile-cases.ts";

const MANIFEST_BYTES = 64 * 1024;
const RESULT_BYTES = 128 * 1024;

test("the hostile set has at least 40 cases, each as large as Relay would take it", () => {
  assert.ok(HOSTILE_CASES.length >= 40);
  for (const { name, schema, value } of HOSTILE_CASES) {
    assert.ok(bytesOf(schema) <= MANIFEST_BYTES, `${name}: schema of ${bytesOf(schema)} bytes`);
    assert.ok(bytesOf(value) <= RESULT_BYTES, `${name}: value of ${bytesOf(value)} bytes`);
  }
});

for (const hostile of HOSTILE_CASES) {
  test(`${hostile.outcome}, within the budget: ${hostile.name}`, () => {
    const first = run(hostile);
    assert.equal(first.outcome, hostile.outcome);
    assert.ok(first.steps <= stepsFor(bytesOf(hostile.value)));
    // The count is what bounds the time, so it must be the same on every machine and every run.
    assert.deepEqual(run(hostile), first);
  });
}

test("half the budget stops a check at half the budget, whatever it is doing", () => {
  for (const hostile of HOSTILE_CASES) {
    const { steps } = run(hostile);
    if (steps < 100) continue;
    const { outcome, steps: used } = run(hostile, Math.floor(steps / 2));
    assert.equal(outcome, "too-complex", hostile.name);
    assert.ok(used <= Math.floor(steps / 2), hostile.name);
  }
});

test("patterns are counted over all schemas that share a count", () => {
  const schema = { allOf: Array.from({ length: 200 }, (_, at) => ({ pattern: `^${at}$` })) };
  const use = { patterns: 0, instructions: 0 };
  assert.ok(prepareSchema(schema, use).ok);
  assert.equal(use.patterns, 200);
  const second = prepareSchema(schema, use);
  assert.ok(!second.ok);
  assert.equal(second.path, `allOf[${PREPARE_LIMITS.patternsPerManifest - 200}].pattern`);
});

function run(hostile: HostileCase, limit = stepsFor(bytesOf(hostile.value))): Run {
  const preparation = prepareSchema(hostile.schema);
  if (!preparation.ok) return { outcome: "refused", steps: 0 };
  const steps = new Steps(limit);
  const complaint = checkValue(preparation.schema, hostile.value, steps, "arguments");
  return { outcome: complaint === null ? "valid" : complaint.type, steps: steps.used };
}

interface Run {
  readonly outcome: string;
  readonly steps: number;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
