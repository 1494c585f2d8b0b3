import { correctionOf } from "./reed-solomon.ts";

const VERSION_MAX = 40;
/** By version from 1, for level M: correction codewords of each block, and how many blocks. */
const CORRECTION_LENGTHS = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
];
const BLOCK_COUNTS = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26,
  28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
];
const BYTE_MODE = 0b0100;
/** What fills the codewords that the data leaves, in turns. */
const PADDING = [0xec, 0x11] as const;

/** The codewords of the smallest version that holds the bytes, interleaved; null when none does. */
export function codewordsOf(
  bytes: Uint8Array,
): { readonly version: number; readonly codewords: readonly number[] } | null {
  for (let version = 1; version <= VERSION_MAX; version += 1) {
    const layout = layoutOf(version);
    const bits = 4 + countBits(version) + bytes.length * 8;
    if (bits > layout.dataLength * 8) continue;
    const data = dataCodewords(bytes, countBits(version), layout.dataLength);
    return { version, codewords: interleaved(data, layout) };
  }
  return null;
}

type Layout = {
  readonly total: number;
  readonly blocks: number;
  readonly correctionLength: number;
  readonly dataLength: number;
};

function layoutOf(version: number): Layout {
  const total = codewordCount(version);
  const blocks = BLOCK_COUNTS[version - 1] ?? 0;
  const correctionLength = CORRECTION_LENGTHS[version - 1] ?? 0;
  return { total, blocks, correctionLength, dataLength: total - blocks * correctionLength };
}

/** How many codewords fit beside the function patterns. */
function codewordCount(version: number): number {
  const size = version * 4 + 17;
  const finders = 3 * 8 * 8;
  const formats = 2 * 15 + 1;
  const timing = 2 * (size - 16);
  const versions = version < 7 ? 0 : 2 * 18;
  const along = version === 1 ? 0 : Math.floor(version / 7) + 2;
  // Three corners have finders; where alignment patterns cross the timing lines, 5 modules are shared.
  const alignment = along === 0 ? 0 : (along ** 2 - 3) * 25 - 2 * (along - 2) * 5;
  return Math.floor((size ** 2 - finders - formats - timing - versions - alignment) / 8);
}

/** How many bits say the number of bytes. */
function countBits(version: number): number {
  return version < 10 ? 8 : 16;
}

function dataCodewords(bytes: Uint8Array, lengthBits: number, length: number): number[] {
  const bits: number[] = [];
  const push = (value: number, count: number): void => {
    for (let at = count - 1; at >= 0; at -= 1) bits.push((value >>> at) & 1);
  };
  push(BYTE_MODE, 4);
  push(bytes.length, lengthBits);
  for (const byte of bytes) push(byte, 8);
  push(0, Math.min(4, length * 8 - bits.length));
  push(0, -bits.length & 7);
  const codewords: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    codewords.push(bits.slice(at, at + 8).reduce((value, bit) => value * 2 + bit, 0));
  }
  for (let at = 0; codewords.length < length; at += 1) codewords.push(PADDING[at % 2] ?? 0);
  return codewords;
}

/** Takes from all blocks in turns, so that a stain on the code costs each of them a little. */
function interleaved(data: readonly number[], layout: Layout): number[] {
  const { total, blocks, correctionLength } = layout;
  const shorts = blocks - (total % blocks);
  const shortLength = Math.floor(total / blocks) - correctionLength;
  const parts: { readonly data: readonly number[]; readonly correction: readonly number[] }[] = [];
  let from = 0;
  for (let block = 0; block < blocks; block += 1) {
    const to = from + shortLength + (block < shorts ? 0 : 1);
    const part = data.slice(from, to);
    parts.push({ data: part, correction: correctionOf(part, correctionLength) });
    from = to;
  }
  const columns = (length: number, of: (part: (typeof parts)[number]) => readonly number[]) =>
    Array.from({ length }, (_, at) => parts.flatMap((part) => of(part)[at] ?? [])).flat();
  return [
    ...columns(shortLength + 1, (part) => part.data),
    ...columns(correctionLength, (part) => part.correction),
  ];
}
