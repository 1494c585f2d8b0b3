import { cutText } from "./place.ts";

/** At most this many errors are kept and written. */
export const FAULTS_MAX = 5;

const TEXT_CODE_POINTS_MAX = 500;

/** One thing wrong with a value: what, and where as keys from there up to the value's root. */
export interface Fault {
  readonly message: string;
  readonly keys: (string | number)[];
}

/**
 * Writes faults as Ajv's `errorsText` does with `dataVar: name`:
 * `arguments must have required property 'query'`. At most 500 code points.
 */
export function faultsText(faults: readonly Fault[], name: string): string {
  const texts = faults.map(
    ({ keys, message }) => `${name}${pointer(keys.toReversed())} ${message}`,
  );
  return cutText(texts.join(", "), TEXT_CODE_POINTS_MAX);
}

function pointer(path: readonly (string | number)[]): string {
  let text = "";
  for (const key of path) {
    text += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return text;
}
