import assert from "node:assert/strict";
import { test } from "node:test";
import type { RelayState } from "../relay.ts";
import { countdown, isDead, stateWords } from "./state-words.ts";
import type { StateWords } from "./state-words.ts";
import { WORDS, fill } from "./words.ts";

const waiting = (code: number | string, message = "said by Relay"): RelayState => ({
  status: "waiting",
  reason: { code, message },
  waitMs: 4_000,
  retryAt: 10_000,
  attempt: 3,
});
const closed = (code: number | string): RelayState => ({
  status: "closed",
  reason: { code, message: "said by Relay" },
});

function wordsOf(state: RelayState | null, isPaused = false): StateWords {
  return stateWords({ state, isPaused, appName: "Notes", toolCount: 2 }, WORDS);
}

test("each state has a title, a sentence and what a person can do about it", () => {
  const found = [
    wordsOf(null),
    wordsOf({ status: "idle" }),
    wordsOf({ status: "connecting" }),
    wordsOf({ status: "online" }),
    wordsOf({ status: "online" }, true),
    wordsOf({ status: "standby" }),
    wordsOf(waiting(1006)),
    wordsOf(closed(4401)),
    wordsOf(closed("STORE")),
    wordsOf(closed("UNAUTHORIZED")),
  ].map(({ tone, title, detail, action }) => [tone, title, detail !== "", action?.does ?? null]);
  assert.deepEqual(found, [
    ["off", "Not set up", true, null],
    ["off", "Off", true, "start"],
    ["busy", "Connecting", true, null],
    ["good", "Connected", true, null],
    ["warn", "Paused", true, null],
    ["off", "Connected elsewhere", true, "lead"],
    ["warn", "Not connected", true, "wake"],
    ["bad", "The link has ended", true, "relink"],
    ["bad", "Not connected", true, "start"],
    ["bad", "Not connected", true, null],
  ]);
});

test("every reason that Relay or the client can give is a sentence for a person", () => {
  const codes = [1006, 1012, 4001, 4400, 4401, 4403, 4410, 4423, 4429];
  const errors = ["NETWORK", "RATE_LIMITED", "LIMIT_REACHED", "ORIGIN_NOT_ALLOWED"];
  const more = ["PROJECT_SUSPENDED", "UNAUTHORIZED", "STORE"];
  for (const code of [...codes, ...errors, ...more]) {
    const { detail } = wordsOf(waiting(code));
    assert.match(detail, /[.:?]|said by Relay$/, String(code));
    assert.notEqual(detail, "said by Relay", String(code));
    assert.doesNotMatch(detail, /[{}]/, String(code));
  }
});

test("what Relay says of a reason that has no sentence here is shown as it is", () => {
  assert.equal(wordsOf(waiting(4999, "Something new")).detail, "Something new");
  // Not a key of the table, though every object has it.
  assert.equal(wordsOf(waiting("constructor", "Odd")).detail, "Odd");
  assert.equal(
    wordsOf(waiting(4400, "tools[0] is wrong")).detail,
    "Relay does not accept what Notes sent: tools[0] is wrong",
  );
});

test("a message with braces is shown with them", () => {
  assert.equal(wordsOf(waiting(4400, "{app} {message}")).detail.slice(-15), "{app} {message}");
  assert.equal(fill("{a} {b}", { a: "{b}" }), "{b} {b}");
});

test("a link has ended after 4401 and 4410, and after nothing else", () => {
  const dead = [4401, 4403, 4410, "STORE", "UNAUTHORIZED"].filter((code) => isDead(closed(code)));
  assert.deepEqual(dead, [4401, 4410]);
  assert.equal(isDead(waiting(4401)), false);
  assert.equal(isDead(null), false);
});

test("a wait is counted down in whole seconds, and its end is not 0 s", () => {
  const at = (now: number): string | null => countdown(waiting(1006), now, WORDS);
  assert.equal(at(0), "Next try in 10 s.");
  assert.equal(at(8_999), "Next try in 2 s.");
  assert.equal(at(9_001), "Next try in 1 s.");
  assert.equal(at(10_000), "Trying again now.");
  assert.equal(at(99_000), "Trying again now.");
  assert.equal(countdown({ status: "online" }, 0, WORDS), null);
});
