import { strict as assert } from "node:assert";
import { test } from "node:test";
import { monthAt, monthNamed } from "./ledger-month.ts";

const DAY = 86_400_000;

test("a moment's month is the calendar's, on every day of 500 years and at both ends of it", () => {
  for (let ms = Date.UTC(1900, 0); ms < Date.UTC(2400, 0); ms += DAY) {
    const date = new Date(ms);
    const name = date.toISOString().slice(0, 7);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    const expected = { name, startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
    assert.deepEqual(monthAt(ms), expected);
    assert.equal(monthAt(ms + DAY - 1).name, name);
  }
});

test("a month's name reads back as the month, and nothing else does", () => {
  for (const name of ["1970-01", "2024-02", "2026-11", "2026-12"]) {
    assert.deepEqual(monthNamed(name), monthAt(Date.parse(`${name}-15`)));
  }
  for (const text of ["2026-13", "2026-00", "2026-1", "26-01", "", "2026-01-01"]) {
    assert.throws(() => monthNamed(text), /is not a month/);
  }
});
