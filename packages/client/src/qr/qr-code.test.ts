import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid } from "./grid.ts";
import { leastMasked, penaltyOf } from "./masks.ts";
import { drawFunctionPatterns } from "./modules.ts";
import { qrCode } from "./qr-code.ts";
import { correctionOf } from "./reed-solomon.ts";

const MCP_URL = "https://api.example.com/relay/v1/mcp/ut_8Hq3Lm2Vx7Tc9Rb4Nw1Ks6Jd5Yf0Pg2E";

/** Rows of the code, `#` where it is dark. */
function rowsOf({ size, isDark }: { size: number; isDark: Grid["isDark"] }): readonly string[] {
  return Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (__, x) => (isDark(x, y) ? "#" : ".")).join(""),
  );
}

test("an MCP URL is a code of the smallest version that holds it", () => {
  assert.equal(qrCode(MCP_URL)?.size, 37);
  assert.equal(qrCode("")?.size, 21);
  // Version 1 holds 14 bytes at level M, version 40 holds 2,331.
  assert.equal(qrCode("x".repeat(14))?.size, 21);
  assert.equal(qrCode("x".repeat(15))?.size, 25);
  assert.equal(qrCode("x".repeat(2_331))?.size, 177);
});

test("a text that no code holds has none; bytes are counted, not characters", () => {
  assert.equal(qrCode("x".repeat(2_332)), null);
  assert.equal(qrCode("é".repeat(1_166)), null);
  assert.notEqual(qrCode("é".repeat(1_165)), null);
});

test("every code has its three finders, its timing lines and its dark module", () => {
  const code = qrCode(MCP_URL);
  assert.ok(code);
  const finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"];
  const rows = rowsOf(code);
  const far = code.size - 7;
  for (const [x, y] of [
    [0, 0],
    [far, 0],
    [0, far],
  ] as const) {
    assert.deepEqual(
      rows.slice(y, y + 7).map((row) => row.slice(x, x + 7)),
      finder,
    );
  }
  for (let at = 8; at < code.size - 8; at += 1) {
    assert.equal(code.isDark(at, 6), at % 2 === 0);
    assert.equal(code.isDark(6, at), at % 2 === 0);
  }
  assert.equal(code.isDark(8, code.size - 8), true);
});

test("a block and what corrects it are a multiple of the generator: all its roots are zeros", () => {
  const product = (one: number, other: number): number => {
    let result = 0;
    for (let bit = 7; bit >= 0; bit -= 1) {
      result = (result << 1) ^ (result & 0x80 ? 0x11d : 0);
      if ((other >> bit) & 1) result ^= one;
    }
    return result & 0xff;
  };
  const data = Array.from({ length: 27 }, (_, at) => (at * 73 + 5) % 256);
  for (const length of [10, 16, 30]) {
    const whole = [...data, ...correctionOf(data, length)];
    let root = 1;
    for (let power = 0; power < length; power += 1) {
      assert.equal(
        whole.reduce((value, codeword) => product(value, root) ^ codeword, 0),
        0,
      );
      root = product(root, 2);
    }
  }
});

test("data that is one color all over is masked as a chessboard", () => {
  const grid = new Grid(3);
  drawFunctionPatterns(grid);
  const { size, isDark } = leastMasked(grid);
  const [row = ""] = rowsOf({ size, isDark }).slice(13, 14);
  assert.match(row, /^\.?(#\.)+#?$/);
});

test("the penalty of a grid is that of the standard's four rules together", () => {
  const empty = new Grid(1);
  // 42 lines of 21 alike, 400 blocks, and half of the modules too few.
  assert.equal(penaltyOf(empty), 42 * (3 + 16) + 400 * 3 + 10 * 10);
  const chessboard = new Grid(1);
  for (let at = 0; at < 21 * 21; at += 2) chessboard.set(at % 21, Math.floor(at / 21), true);
  assert.equal(penaltyOf(chessboard), 0);
  const finderLike = new Grid(1);
  for (const x of [7, 9, 10, 11, 13]) finderLike.set(x, 10, true);
  const runs = 20 * 19 + 2 * 5 + 16 * 19 + 5 * (8 + 8);
  // The finder-like run has light on both of its sides.
  assert.equal(penaltyOf(finderLike), runs + 384 * 3 + 2 * 40 + 9 * 10);
});
