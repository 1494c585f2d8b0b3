import assert from "node:assert/strict";
import { test } from "node:test";
import { countCodePoints, parseAppFrame } from "./index.ts";

const hello = {
  type: "hello",
  protocol: 1,
  token: "lt_x",
  app: { name: "Notes", version: "1" },
  tools: [],
};

test("every frame an app may send is read, and unknown extra fields are ignored", () => {
  const frames = [
    { ...hello, extra: true },
    { type: "result", id: "c_1", content: [], more: 1 },
    { type: "error", id: "c_1", message: "database is locked" },
    { type: "progress", id: "c_1", progress: 0.5 },
    { type: "ping", id: 7 },
    { type: "link.rotate", id: "r1" },
    { type: "link.pause", id: "r2" },
    { type: "link.resume", id: "r3" },
    { type: "link.revoke", id: "r4" },
  ];
  for (const frame of frames) {
    const parsed = parseAppFrame(frame);
    assert.ok("frame" in parsed, JSON.stringify(frame));
    assert.equal(parsed.frame.type, frame.type);
    assert.ok(!("extra" in parsed.frame) && !("more" in parsed.frame));
  }
});

test("a frame that can't be used is a fault that names the place", () => {
  const cases: readonly (readonly [unknown, string | null, string])[] = [
    [null, null, "a frame must be a JSON object"],
    [[], null, "a frame must be a JSON object"],
    ["ping", null, "a frame must be a JSON object"],
    [{ id: "r1" }, "r1", "type must be a string"],
    [{ type: "nope", id: "r1" }, "r1", 'unknown frame type "nope"'],
    [{ type: "toString" }, null, 'unknown frame type "toString"'],
    [{ ...hello, protocol: "1" }, null, "protocol must be an integer"],
    [{ ...hello, protocol: 1.5 }, null, "protocol must be an integer"],
    [{ ...hello, token: 1 }, null, "token must be a string"],
    [{ ...hello, app: [] }, null, "app must be an object"],
    [{ ...hello, instructions: null }, null, "instructions must be a string"],
    [{ ...hello, tools: {} }, null, "tools must be an array"],
    [{ type: "result", id: 1 }, null, "id must be a string"],
    [{ type: "error" }, null, "id must be a string"],
    [{ type: "progress", id: "c_1", progress: "half" }, "c_1", "progress must be a number"],
    [{ type: "progress", id: "c_1", progress: 1, total: "2" }, "c_1", "total must be a number"],
    [{ type: "progress", id: "c_1", progress: 1, message: 2 }, "c_1", "message must be a string"],
    [
      { type: "progress", id: "c_1", progress: 1, message: "x".repeat(1001) },
      "c_1",
      "message must be at most 1000 characters",
    ],
    [{ type: "link.pause" }, null, "id must be a string of 1 to 64 characters"],
    [{ type: "link.pause", id: "" }, null, "id must be a string of 1 to 64 characters"],
    [{ type: "link.pause", id: "x".repeat(65) }, null, "id must be a string of 1 to 64 characters"],
  ];
  for (const [value, id, message] of cases) {
    assert.deepEqual(parseAppFrame(value), { fault: { id, message } }, JSON.stringify(value));
  }
});

test("a field is the frame's own, never an inherited one", () => {
  const inherited: unknown = Object.create({ type: "ping" });
  assert.deepEqual(parseAppFrame(inherited), {
    fault: { id: null, message: "type must be a string" },
  });
});

test("characters are code points", () => {
  assert.equal(countCodePoints("a😀é"), 3);
  assert.equal(countCodePoints("\ud800x"), 2);
  assert.equal(countCodePoints("x".repeat(1000), 10), 11);
  const fits = { type: "progress", id: "c_1", progress: 1, message: "😀".repeat(1000) };
  assert.ok("frame" in parseAppFrame(fits));
});
