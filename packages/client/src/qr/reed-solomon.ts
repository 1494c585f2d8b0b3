/** The field of 256 elements that the standard uses: x⁸ + x⁴ + x³ + x² + 1. */
const FIELD = 0x11d;
const POWERS: number[] = [];
const LOGARITHMS: number[] = [];
for (let power = 0, value = 1; power < 255; power += 1) {
  POWERS[power] = value;
  LOGARITHMS[value] = power;
  value = value < 128 ? value * 2 : (value * 2) ^ FIELD;
}

function product(one: number, other: number): number {
  if (one === 0 || other === 0) return 0;
  return POWERS[((LOGARITHMS[one] ?? 0) + (LOGARITHMS[other] ?? 0)) % 255] ?? 0;
}

/** The `length` codewords that correct errors in a block: its remainder by (x - 1)(x - 2)(x - 4)…. */
export function correctionOf(data: readonly number[], length: number): readonly number[] {
  const divisor = divisorOf(length);
  const remainder = Array.from({ length }, () => 0);
  for (const codeword of data) {
    const factor = codeword ^ (remainder.shift() ?? 0);
    remainder.push(0);
    for (const [at, coefficient] of divisor.entries()) {
      remainder[at] = (remainder[at] ?? 0) ^ product(coefficient, factor);
    }
  }
  return remainder;
}

/** The coefficients below the leading 1, the highest first. */
function divisorOf(degree: number): readonly number[] {
  let divisor = [1];
  for (let root = 0; root < degree; root += 1) {
    const times = POWERS[root] ?? 0;
    const next = [...divisor, 0];
    for (const [at, coefficient] of divisor.entries()) {
      next[at + 1] = (next[at + 1] ?? 0) ^ product(coefficient, times);
    }
    divisor = next;
  }
  return divisor.slice(1);
}
