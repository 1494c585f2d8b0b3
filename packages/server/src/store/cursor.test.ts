import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readCursor, writeCursor } from "./cursor.ts";

test("a cursor leads back to the place it was written for", () => {
  const byTime = writeCursor("calls", [1_760_000_000_000, "c_1"]);
  assert.match(byTime, /^[\w-]+$/);
  assert.deepEqual(readCursor("calls", "number", byTime), [1_760_000_000_000, "c_1"]);
  const byLabel = writeCursor("links label", ["zoë \u{10ffff}", "id"]);
  assert.deepEqual(readCursor("links label", "string", byLabel), ["zoë \u{10ffff}", "id"]);
});

test("any other text is no cursor", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const broken = [
    "",
    "%",
    encode(null),
    encode({}),
    encode(["calls", 1]),
    encode(["calls", 1, "c_1", "c_2"]),
    encode(["links", 1, "c_1"]),
    encode(["calls", "1", "c_1"]),
    encode(["calls", 1.5, "c_1"]),
    encode(["calls", 1e300, "c_1"]),
    encode(["calls", 1, 2]),
    encode(["calls", [1], "c_1"]),
    encode(["calls", 1, "x".repeat(2_000)]),
  ];
  for (const text of broken) assert.equal(readCursor("calls", "number", text), null, text);
});
