import type { Decimal } from "./schema-node.ts";
import type { Steps } from "./steps.ts";

const EXACT_STEPS = 40;

/**
 * Says whether a number is a whole multiple of the divisor, both taken as the decimals they are
 * written as: 0.07 is a multiple of 0.01, although their quotient in binary is 7.000000000000001.
 */
export function isMultiple(
  value: number,
  divisor: number,
  exact: Decimal | null,
  steps: Steps,
): boolean {
  if (!Number.isFinite(value)) return false;
  if (exact === null || Number.isInteger(divisor)) return value % divisor === 0;
  const decimal = toDecimal(value);
  const shift = decimal.exponent - exact.exponent;
  steps.spend(EXACT_STEPS + Math.abs(shift));
  if (shift >= 0) return (decimal.digits * 10n ** BigInt(shift)) % exact.digits === 0n;
  return decimal.digits % (exact.digits * 10n ** BigInt(-shift)) === 0n;
}

/** Reads a finite number as the shortest decimal that stands for it. */
export function toDecimal(value: number): Decimal {
  const [mantissa = "0", power = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
