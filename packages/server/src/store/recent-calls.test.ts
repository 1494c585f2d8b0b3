import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mintToken } from "../ids.ts";
import { RecentCalls } from "./recent-calls.ts";

test("a call whose group was rolled back may be written again", () => {
  const recent = new RecentCalls(10);
  const [kept, lost] = [mintToken("callId"), mintToken("callId")];
  recent.note(kept);
  recent.commit();
  recent.note(lost);
  assert.deepEqual([recent.has(kept), recent.has(lost)], [true, true]);
  recent.rollBack();
  assert.deepEqual([recent.has(kept), recent.has(lost)], [true, false]);
});

test("only the last calls are remembered", () => {
  const recent = new RecentCalls(3);
  const calls = Array.from({ length: 5 }, () => mintToken("callId"));
  for (const call of calls) {
    recent.note(call);
    recent.commit();
  }
  assert.deepEqual(
    calls.map((call) => recent.has(call)),
    [false, false, true, true, true],
  );
});
