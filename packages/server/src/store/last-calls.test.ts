import assert from "node:assert/strict";
import { test } from "node:test";
import type { LinkId } from "@relay/protocol";
import { LAST_CALL_LAG_MS, LastCalls, WRITES_AT_ONCE } from "./last-calls.ts";

const link = (index: number): LinkId => `link-${index}` as LinkId;

/** Notes and commits until no more is written at once, from `now` on. */
function used(now: number): LastCalls {
  const lastCalls = new LastCalls();
  for (let write = 0; write < WRITES_AT_ONCE; write += 1) {
    lastCalls.note(link(0), 1_000 + write);
    assert.equal(lastCalls.isDue(now), true, `write ${write}`);
    lastCalls.committed(now);
  }
  return lastCalls;
}

test("the first few are due at once, those after them wait for their turn", () => {
  const lastCalls = used(100);
  assert.equal(lastCalls.isDue(100 + LAST_CALL_LAG_MS), false, "there is nothing to write");
  lastCalls.note(link(1), 2_000);
  assert.equal(lastCalls.isDue(100 + LAST_CALL_LAG_MS - 1), false);
  assert.equal(lastCalls.isDue(100 + LAST_CALL_LAG_MS), true);
  lastCalls.committed(100 + LAST_CALL_LAG_MS);
  lastCalls.note(link(1), 3_000);
  assert.equal(lastCalls.isDue(100 + LAST_CALL_LAG_MS), true, "a new time has begun");
});

test("what is written stays noted until it is committed", () => {
  const lastCalls = new LastCalls();
  lastCalls.note(link(0), 1_000);
  assert.equal(lastCalls.isEmpty, false);
  lastCalls.committed(0);
  assert.equal(lastCalls.isEmpty, true);
});

test("at the end what is noted is due whatever the time", () => {
  const lastCalls = used(100);
  lastCalls.note(link(1), 2_000);
  assert.equal(lastCalls.isDue(101), false);
  lastCalls.hurry();
  assert.equal(lastCalls.isDue(101), true);
});
