import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FrameMeter } from "./frame-meter.ts";

type Frame = { readonly isControl: boolean; readonly isFinal: boolean; readonly bytes: Uint8Array };

/** One frame of so many payload bytes, with the shortest header there is. */
function frame(payloadBytes: number, { opcode = 1, isFinal = true, isMasked = true } = {}): Frame {
  const extended = payloadBytes < 126 ? 0 : payloadBytes < 65_536 ? 2 : 8;
  const headBytes = 2 + extended + (isMasked ? 4 : 0);
  const bytes = new Uint8Array(headBytes + payloadBytes);
  bytes[0] = (isFinal ? 0x80 : 0) | opcode;
  bytes[1] = (isMasked ? 0x80 : 0) | (extended === 0 ? payloadBytes : extended === 2 ? 126 : 127);
  const view = new DataView(bytes.buffer);
  if (extended === 2) view.setUint16(2, payloadBytes);
  if (extended === 8) view.setBigUint64(2, BigInt(payloadBytes));
  // A payload that looks like headers must not be taken for any.
  bytes.fill(0x81, headBytes);
  return { isControl: opcode >= 8, isFinal, bytes };
}

function join(frames: readonly Frame[]): Uint8Array {
  return Buffer.concat(frames.map(({ bytes }) => bytes));
}

/** What is unfinished after `length` bytes of the frames, worked out from where each one ends. */
function unfinishedAfter(frames: readonly Frame[], length: number): number {
  let unfinished = 0;
  let start = 0;
  for (const { isControl, isFinal, bytes } of frames) {
    const seen = Math.min(bytes.length, length - start);
    if (seen <= 0) break;
    if (!isControl) unfinished = isFinal && seen === bytes.length ? 0 : unfinished + seen;
    start += bytes.length;
  }
  return unfinished;
}

/** Numbers from a seed, below `limit` (mulberry32). */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

function randomFrames(random: (limit: number) => number): Frame[] {
  const sizes = [0, 1, 125, 126, 200, 65_535, 65_536, 70_000];
  const frames: Frame[] = [];
  let isOpen = false;
  while (frames.length < 30) {
    if (random(4) === 0) {
      frames.push(frame(random(126), { opcode: 9 + random(2) }));
      continue;
    }
    const isFinal = random(3) > 0;
    const opcode = isOpen ? 0 : 1 + random(2);
    const size = sizes[random(random(5) === 0 ? sizes.length : 5)] ?? 0;
    frames.push(frame(size, { opcode, isFinal, isMasked: random(10) > 0 }));
    isOpen = !isFinal;
  }
  return frames;
}

describe("unfinished messages", () => {
  test("the bytes of a message count from its first to its last, headers included", () => {
    const meter = new FrameMeter(0);
    const { bytes } = frame(300);
    meter.feed(bytes.subarray(0, 1), 1);
    assert.equal(meter.unfinishedBytes, 1);
    meter.feed(bytes.subarray(1, 100), 2);
    assert.equal(meter.unfinishedBytes, 100);
    assert.equal(meter.unfinishedSince, 1);
    meter.feed(bytes.subarray(100), 3);
    assert.equal(meter.unfinishedBytes, 0);
  });

  test("fragments are one message, and a ping between them neither ends nor adds to it", () => {
    const meter = new FrameMeter(0);
    const first = frame(10, { isFinal: false });
    const ping = frame(5, { opcode: 9 });
    meter.feed(first.bytes, 5);
    meter.feed(ping.bytes, 6);
    meter.feed(ping.bytes.subarray(0, 4), 7);
    assert.equal(meter.unfinishedBytes, first.bytes.length);
    meter.feed(ping.bytes.subarray(4), 8);
    meter.feed(frame(0, { opcode: 0, isFinal: false }).bytes, 9);
    assert.equal(meter.unfinishedBytes, first.bytes.length + 6);
    assert.equal(meter.unfinishedSince, 5, "it is as old as its first byte");
    meter.feed(frame(1, { opcode: 0 }).bytes, 10);
    assert.equal(meter.unfinishedBytes, 0);
    meter.feed(first.bytes.subarray(0, 2), 11);
    assert.equal(meter.unfinishedSince, 11, "the next message begins anew");
  });

  test("a frame that claims more than there can be is as large as what has come of it", () => {
    for (const claim of [2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
      const { bytes } = frame(70_000);
      new DataView(bytes.buffer).setBigUint64(2, claim);
      const meter = new FrameMeter(0);
      meter.feed(bytes, 0);
      assert.equal(meter.unfinishedBytes, bytes.length);
    }
  });

  test("it does not matter how the bytes are cut", () => {
    const seed = Math.trunc(Math.random() * 2 ** 31);
    const random = randomFrom(seed);
    for (let round = 0; round < 40; round += 1) {
      const frames = randomFrames(random);
      const bytes = join(frames);
      const meter = new FrameMeter(0);
      for (let at = 0; at < bytes.length;) {
        const size = 1 + random(random(2) === 0 ? 8 : 5000);
        meter.feed(bytes.subarray(at, at + size), 0);
        at = Math.min(bytes.length, at + size);
        const expected = unfinishedAfter(frames, at);
        assert.equal(meter.unfinishedBytes, expected, `seed ${seed}, round ${round}, byte ${at}`);
      }
      assert.equal(meter.floodWait(0, frames.length, bytes.length), 0, `seed ${seed}`);
      assert.notEqual(meter.floodWait(0, frames.length - 1, bytes.length), 0, `seed ${seed}`);
    }
  });
});

describe("floods", () => {
  const small = frame(1);

  test("past the frames of a second the wait is for the rest of it", () => {
    const meter = new FrameMeter(1000);
    for (let count = 0; count < 10; count += 1) meter.feed(small.bytes, 1250);
    assert.equal(meter.floodWait(1250, 10, 10_000), 0);
    meter.feed(frame(0, { opcode: 9 }).bytes, 1250);
    assert.equal(meter.floodWait(1250, 10, 10_000), 750, "a ping is a frame too");
    assert.equal(meter.floodWait(2100, 10, 10_000), 0, "never less than nothing");
  });

  test("past the bytes of a second too", () => {
    const meter = new FrameMeter(0);
    meter.feed(frame(90).bytes, 100);
    assert.equal(meter.floodWait(100, 10, 96), 0);
    meter.feed(small.bytes, 100);
    assert.equal(meter.floodWait(100, 10, 96), 900);
  });

  test("a second begins with the first byte after the last one ended", () => {
    const meter = new FrameMeter(0);
    for (let count = 0; count < 3; count += 1) meter.feed(small.bytes, 900);
    assert.equal(meter.floodWait(900, 2, 1000), 100);
    meter.feed(small.bytes, 1500);
    assert.equal(meter.floodWait(1500, 2, 1000), 0);
    for (let count = 0; count < 2; count += 1) meter.feed(small.bytes, 2499);
    assert.equal(meter.floodWait(2499, 2, 1000), 1);
  });

  test("frames count when they end", () => {
    const meter = new FrameMeter(0);
    meter.feed(join([small, small, frame(50)]).subarray(0, 20), 0);
    assert.equal(meter.floodWait(0, 2, 1000), 0);
    assert.notEqual(meter.floodWait(0, 1, 1000), 0);
  });
});

test("any byte is a sign of life", () => {
  const meter = new FrameMeter(5);
  assert.equal(meter.lastByteAt, 5);
  meter.feed(frame(10).bytes.subarray(0, 1), 7);
  assert.equal(meter.lastByteAt, 7);
  meter.feed(frame(10).bytes.subarray(1, 2), 9);
  assert.equal(meter.lastByteAt, 9);
});
