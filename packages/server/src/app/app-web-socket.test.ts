import assert from "node:assert/strict";
import { test } from "node:test";
import { textFrame } from "./app-web-socket.ts";

/** Reads a server's frame as RFC 6455 section 5.2 has it: its header's size and its payload. */
function readFrame(frame: Buffer): { readonly headerBytes: number; readonly text: string } {
  assert.equal(frame[0], 0x81, "final, no reserved bit, text");
  const length = frame.readUInt8(1);
  assert.ok(length < 128, "not masked");
  const extended = length < 126 ? 0 : length === 126 ? 2 : 8;
  const bytes =
    extended === 0
      ? length
      : extended === 2
        ? frame.readUInt16BE(2)
        : Number(frame.readBigUInt64BE(2));
  const headerBytes = 2 + extended;
  assert.equal(frame.length, headerBytes + bytes, "nothing is behind the payload");
  return { headerBytes, text: frame.toString("utf8", headerBytes) };
}

test("a frame of any length and alphabet is read back as it was", () => {
  const lengths = [0, 1, 41, 42, 43, 125, 126, 127, 65_535, 65_536, 200_000];
  for (const unit of ["a", "é", "漢", "🙂"]) {
    for (const length of lengths) {
      const text = unit.repeat(Math.floor(length / unit.length));
      assert.equal(readFrame(textFrame(text)).text, text, `${unit} up to ${length}`);
    }
  }
});

test("a frame has the shortest header that its size allows", () => {
  for (const [length, headerBytes] of [
    [0, 2],
    [125, 2],
    [126, 4],
    [65_535, 4],
    [65_536, 10],
  ] as const) {
    assert.equal(readFrame(textFrame("a".repeat(length))).headerBytes, headerBytes);
  }
});

test("half a surrogate pair becomes the replacement character, never invalid UTF-8", () => {
  assert.equal(readFrame(textFrame(`${"a".repeat(200)}\ud800b`)).text.slice(200), "\ufffdb");
  assert.equal(readFrame(textFrame("\udc00")).text, "\ufffd");
});
