import assert from "node:assert/strict";
import { test } from "node:test";
import { ROLES } from "../store/account-store.ts";
import { NEEDS, NEEDS_FRESH, may } from "./roles.ts";

/** Who may do what, written out. Red means that somebody may do more, or less, than before. */
const TABLE = {
  //         read     change   keys     money    delete   oversee  members  owners
  owner: [true, true, true, true, true, true, true, true],
  admin: [true, true, true, true, true, true, true, false],
  developer: [true, true, true, false, false, false, false, false],
  billing: [true, false, false, true, false, false, false, false],
} as const;

test("each role may do what the table says", () => {
  assert.deepEqual(NEEDS, [
    "read",
    "change",
    "keys",
    "money",
    "delete",
    "oversee",
    "members",
    "owners",
  ]);
  const actual = Object.fromEntries(
    ROLES.map((role) => [role, NEEDS.map((need) => may(role, need))]),
  );
  assert.deepEqual(actual, TABLE);
});

test("keys, deletion, members and owners want a fresh session; looking never does", () => {
  assert.deepEqual([...NEEDS_FRESH].toSorted(), ["delete", "keys", "members", "owners"]);
});
