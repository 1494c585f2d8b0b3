import assert from "node:assert/strict";
import { test } from "node:test";
import { PageQuery, ProjectSettings, isoTime, textOf } from "./shapes.ts";

test("a text has its characters counted in code points, and can be written as UTF-8", () => {
  const label = textOf(3);
  for (const text of ["a", "abc", "\u{1f600}\u{1f600}\u{1f600}", "\u0301\u0301\u0301", " "]) {
    assert.equal(label.safeParse(text).success, true, JSON.stringify(text));
  }
  for (const text of ["", "abcd", "\u{1f600}abc", "\ud800", "a\udc00", "a\u0000", 5, null, ["a"]]) {
    assert.equal(label.safeParse(text).success, false, JSON.stringify(text));
  }
});

test("an allowed origin is one as browsers and app shells send it", () => {
  const settings = { name: "a", callsPerMinute: 1, spendCapMicros: null };
  const allows = (origin: string): boolean =>
    ProjectSettings.safeParse({ ...settings, allowedOrigins: [origin] }).success;
  for (const origin of [
    "https://app.example.com",
    "http://localhost:5173",
    "https://[2001:db8::1]:8443",
    "chrome-extension://abcdefghijklmnop",
    "capacitor://localhost",
    "tauri://localhost",
    "app://-",
  ]) {
    assert.ok(allows(origin), origin);
  }
  for (const origin of [
    "",
    "null",
    "*",
    "https://",
    "https://*.example.com",
    "https://a.example/path",
    "https://a.example/",
    "https://a.example?x",
    "https://a.example#x",
    " https://a.example",
    "https://a.example b",
    "a.example",
    `https://${"a".repeat(250)}`,
  ]) {
    assert.ok(!allows(origin), origin);
  }
});

test("a page has 50 items unless another number up to 200 is asked for", () => {
  assert.deepEqual(PageQuery.parse({}), { limit: 50 });
  assert.deepEqual(PageQuery.parse({ limit: "200", cursor: "x" }), { limit: 200, cursor: "x" });
  for (const limit of ["0", "201", "1.5", "x", "", "-1", "Infinity"]) {
    assert.equal(PageQuery.safeParse({ limit }).success, false, limit);
  }
});

test("times are ISO 8601 in UTC, and what has none is null", () => {
  assert.equal(isoTime(Date.UTC(2026, 9, 12, 10, 3)), "2026-10-12T10:03:00.000Z");
  assert.equal(isoTime(null), null);
});
