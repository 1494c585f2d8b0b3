import type { Grid } from "./grid.ts";

const LEVEL_M = 0b00;
const FORMAT_DIVISOR = 0b101_0011_0111;
const FORMAT_MASK = 0b101_0100_0001_0010;
const VERSION_DIVISOR = 0b1_1111_0010_0101;
const TIMING_LINE = 6;

/** Draws what every code of the version has, and keeps the places of the format bits. */
export function drawFunctionPatterns(grid: Grid): void {
  const { size, version } = grid;
  for (let at = 0; at < size; at += 1) {
    grid.fix(TIMING_LINE, at, at % 2 === 0);
    grid.fix(at, TIMING_LINE, at % 2 === 0);
  }
  drawFinder(grid, 3, 3);
  drawFinder(grid, size - 4, 3);
  drawFinder(grid, 3, size - 4);
  const centers = alignmentCenters(version, size);
  const last = centers.length - 1;
  for (const [row, y] of centers.entries()) {
    for (const [column, x] of centers.entries()) {
      const isAtFinder =
        (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
      if (!isAtFinder) drawSquares(grid, x, y, 2);
    }
  }
  drawFormat(grid, 0);
  if (version >= 7) drawVersion(grid);
}

function drawFinder(grid: Grid, x: number, y: number): void {
  drawSquares(grid, x, y, 4);
}

/** Draws squares around a center, dark and light in turns; a finder's outermost one is light. */
function drawSquares(grid: Grid, x: number, y: number, radius: number): void {
  for (let dy = -radius; dy <= radius; dy += 1) {
    for (let dx = -radius; dx <= radius; dx += 1) {
      const [atX, atY] = [x + dx, y + dy];
      if (atX < 0 || atY < 0 || atX >= grid.size || atY >= grid.size) continue;
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      grid.fix(atX, atY, radius === 2 ? ring !== 1 : ring !== 2 && ring !== 4);
    }
  }
}

/** Where alignment patterns lie on both axes: evenly spaced from the far edge, the first at 6. */
function alignmentCenters(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  // Version 32 is the one whose spacing the standard does not round up.
  const step = version === 32 ? 26 : Math.ceil((size - 13) / (2 * count - 2)) * 2;
  const others = Array.from({ length: count - 1 }, (_, index) => size - 7 - index * step);
  return [TIMING_LINE, ...others.toReversed()];
}

/** Draws both copies of which level and mask the code has. */
export function drawFormat(grid: Grid, mask: number): void {
  const { size } = grid;
  const value = (LEVEL_M << 3) | mask;
  const bits = ((value << 10) | remainderOf(value, FORMAT_DIVISOR, 10)) ^ FORMAT_MASK;
  for (let at = 0; at < 15; at += 1) {
    const isDark = ((bits >>> at) & 1) === 1;
    // The first copy goes around the finder at the origin and leaves the timing lines out.
    const near = at < 6 ? at : at < 8 ? at + 1 : 14 - at;
    if (at < 8) grid.fix(8, near, isDark);
    else grid.fix(at === 8 ? 7 : near, 8, isDark);
    if (at < 8) grid.fix(size - 1 - at, 8, isDark);
    else grid.fix(8, size - 15 + at, isDark);
  }
  grid.fix(8, size - 8, true);
}

function drawVersion(grid: Grid): void {
  const { size, version } = grid;
  const bits = (version << 12) | remainderOf(version, VERSION_DIVISOR, 12);
  for (let at = 0; at < 18; at += 1) {
    const isDark = ((bits >>> at) & 1) === 1;
    const [along, across] = [Math.floor(at / 3), size - 11 + (at % 3)];
    grid.fix(along, across, isDark);
    grid.fix(across, along, isDark);
  }
}

/** The remainder of a value, shifted by `degree` bits, by a divisor of that degree, over GF(2). */
function remainderOf(value: number, divisor: number, degree: number): number {
  let rest = value << degree;
  for (let at = 31 - Math.clz32(rest); at >= degree; at = 31 - Math.clz32(rest)) {
    rest ^= divisor << (at - degree);
    if (rest === 0) break;
  }
  return rest;
}

/** Places the codewords in columns of two modules, up and down from the right. */
export function placeCodewords(grid: Grid, codewords: readonly number[]): void {
  const { size } = grid;
  let bit = 0;
  let isUpward = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === TIMING_LINE) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const y = isUpward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (grid.isFixed(x, y)) continue;
        // Past the last codeword up to 7 modules remain, which are light.
        grid.set(x, y, (((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1) === 1);
        bit += 1;
      }
    }
    isUpward = !isUpward;
  }
}
