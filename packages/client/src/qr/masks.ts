import type { Grid } from "./grid.ts";
import { drawFormat } from "./modules.ts";

/** Whether a mask turns a module over, by the mask's number. */
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

const RUN_PENALTY = 3;
const BLOCK_PENALTY = 3;
const FINDER_PENALTY = 40;
const BALANCE_PENALTY = 10;
/** What a scanner may take for a finder: 1:1:3:1:1 with 4 light modules on one side. */
const FINDER_LIKE = ["10111010000", "00001011101"] as const;

/** Masks the data so that no pattern in it disturbs a scanner: the mask with the least penalty. */
export function leastMasked(grid: Grid): Grid {
  let best = masked(grid, 0);
  let least = penaltyOf(best);
  for (let mask = 1; mask < MASKS.length; mask += 1) {
    const next = masked(grid, mask);
    const penalty = penaltyOf(next);
    if (penalty < least) [best, least] = [next, penalty];
  }
  return best;
}

function masked(grid: Grid, mask: number): Grid {
  const result = grid.copy();
  for (let y = 0; y < grid.size; y += 1) {
    for (let x = 0; x < grid.size; x += 1) {
      if (!grid.isFixed(x, y) && MASKS[mask]?.(x, y) === true) result.set(x, y, !grid.isDark(x, y));
    }
  }
  drawFormat(result, mask);
  return result;
}

/** How much a code may disturb a scanner, by the four rules of the standard. */
export function penaltyOf({ size, isDark }: Pick<Grid, "size" | "isDark">): number {
  let penalty = 0;
  let dark = 0;
  for (let one = 0; one < size; one += 1) {
    let row = "";
    let column = "";
    for (let other = 0; other < size; other += 1) {
      row += Number(isDark(other, one));
      column += Number(isDark(one, other));
      dark += Number(isDark(other, one));
      if (one > 0 && other > 0 && isBlock(isDark, other, one)) penalty += BLOCK_PENALTY;
    }
    penalty += linePenalty(row) + linePenalty(column);
  }
  const offBalance = Math.abs(dark / size ** 2 - 0.5) * 20;
  return penalty + Math.floor(offBalance) * BALANCE_PENALTY;
}

/** Whether the module and the three before it are alike. */
function isBlock(isDark: Grid["isDark"], x: number, y: number): boolean {
  const color = isDark(x, y);
  return isDark(x - 1, y) === color && isDark(x, y - 1) === color && isDark(x - 1, y - 1) === color;
}

/** The penalty of one row or column, whose modules are `1` where they are dark. */
function linePenalty(line: string): number {
  let penalty = 0;
  for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += RUN_PENALTY + run.length - 5;
  // The quiet zone around the code is light.
  const quiet = `0000${line}0000`;
  for (const pattern of FINDER_LIKE) {
    for (let at = quiet.indexOf(pattern); at !== -1; at = quiet.indexOf(pattern, at + 1)) {
      penalty += FINDER_PENALTY;
    }
  }
  return penalty;
}
