/** The client's QR codes, read by a decoder and held to another encoder. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { penaltyOf } from "../../packages/client/src/qr/masks.ts";
import { qrCode } from "../../packages/client/src/qr/qr-code.ts";
import type { QrCode } from "../../packages/client/src/qr/qr-code.ts";
import { SKIPPED, loadPackage } from "./test-packages.ts";

const SCALE = 3;
const QUIET = 4;

type Decode = (
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
) => { readonly data: string; readonly binaryData: readonly number[] } | null;

type Encode = (
  text: string,
  options: object,
) => { readonly size: number; readonly data: readonly (readonly boolean[])[] };

/** What a camera would see: RGBA pixels, and how many are in a row. */
function pixelsOf({ size, isDark }: QrCode): readonly [Uint8ClampedArray, number] {
  const side = (size + 2 * QUIET) * SCALE;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < size * SCALE; y += 1) {
    for (let x = 0; x < size * SCALE; x += 1) {
      if (!isDark(Math.floor(x / SCALE), Math.floor(y / SCALE))) continue;
      const at = ((y + QUIET * SCALE) * side + x + QUIET * SCALE) * 4;
      pixels.fill(0, at, at + 3);
    }
  }
  return [pixels, side];
}

/** A text of so many bytes, of letters in and outside of ASCII. */
function textOf(bytes: number): string {
  let text = "";
  let left = bytes;
  for (let at = 0; left > 0; at += 1) {
    const next = left > 1 && at % 17 === 3 ? "é" : String.fromCharCode(33 + ((at * 7) % 90));
    text += next;
    left -= Buffer.byteLength(next);
  }
  return text;
}

/** How many bytes the versions hold at level M, as the standard's table has it. */
const CAPACITIES = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
  711, 779, 857, 911, 997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989,
  2099, 2213, 2331,
];

test(
  "a decoder reads every version: full, and the smaller ones also empty and in between",
  { skip: SKIPPED },
  () => {
    const decode = loadPackage("jsqr") as Decode;
    for (const [index, capacity] of CAPACITIES.entries()) {
      const least = (CAPACITIES[index - 1] ?? -1) + 1;
      // Large codes take the decoder long: of those, the full ones.
      for (const bytes of index < 12 ? [least, capacity - 3, capacity] : [capacity]) {
        const text = textOf(bytes);
        const code = qrCode(text);
        assert.equal(code?.size, (index + 1) * 4 + 17, `${bytes} bytes`);
        const [pixels, side] = pixelsOf(code);
        assert.equal(decode(pixels, side, side)?.data, text, `${bytes} bytes`);
      }
    }
  },
);

test(
  "another encoder makes the same code with one of its eight masks: the one that disturbs least",
  { skip: SKIPPED },
  () => {
    const { encode } = loadPackage("uqr") as { readonly encode: Encode };
    const chosen = new Set<number>();
    for (const bytes of [5, 9, 21, 40, 60, 70, 71, 72, 90, 120, 200, 213, 450, 1_000, 2_331]) {
      const text = textOf(bytes);
      const code = qrCode(text);
      assert.ok(code);
      const others = [0, 1, 2, 3, 4, 5, 6, 7].map((maskPattern) => {
        const { size, data } = encode(text, {
          ecc: "M",
          boostEcc: false,
          border: 0,
          maskPattern,
        });
        const isDark: QrCode["isDark"] = (x, y) => data[y]?.[x] === true;
        const isSame =
          size === code.size &&
          data.every((row, y) => row.every((dark, x) => dark === code.isDark(x, y)));
        return { isSame, penalty: penaltyOf({ size, isDark }) };
      });
      assert.equal(others.filter(({ isSame }) => isSame).length, 1, `${bytes} bytes`);
      const least = Math.min(...others.map(({ penalty }) => penalty));
      assert.equal(others.find(({ isSame }) => isSame)?.penalty, least, `${bytes} bytes`);
      chosen.add(others.findIndex(({ isSame }) => isSame));
    }
    assert.ok(chosen.size > 3, [...chosen].join(" "));
  },
);

test("a code with a stain over a twentieth of it is still read", { skip: SKIPPED }, () => {
  const decode = loadPackage("jsqr") as Decode;
  const text = "https://api.example.com/relay/v1/mcp/ut_8Hq3Lm2Vx7Tc9Rb4Nw1Ks6Jd5Yf0Pg2E";
  const code = qrCode(text);
  assert.ok(code);
  const stained: QrCode = {
    size: code.size,
    isDark: (x, y) => (x >= 12 && x < 20 && y >= 12 && y < 20) || code.isDark(x, y),
  };
  const [pixels, side] = pixelsOf(stained);
  assert.equal(decode(pixels, side, side)?.data, text);
});
