import { type AsciiSet, addCode, hasCode } from "./ascii-set.ts";

/** How many code points a property remembers its answer for. */
const ANSWERS_MAX = 128;

/** A Unicode property, such as `L` or `Script=Greek`, that says which code points have it. */
export class Property {
  /** The ASCII code points that have the property. */
  readonly ascii: AsciiSet = new Int32Array(4);
  readonly #native: RegExp;
  /** Two times the code point, plus one when it has the property; slots shared by remainder. */
  readonly #answers = new Int32Array(ANSWERS_MAX);

  /** Throws a `SyntaxError` when this engine's Unicode tables lack the name. */
  constructor(name: string) {
    this.#native = new RegExp(`\\p{${name}}`, "u");
    for (let code = 0; code < 128; code++) {
      if (this.#native.test(String.fromCharCode(code))) addCode(this.ascii, code);
    }
  }

  has(code: number): boolean {
    if (code < 128) return hasCode(this.ascii, code);
    const slot = code & (ANSWERS_MAX - 1);
    const known = this.#answers[slot] ?? 0;
    if (known >> 1 === code) return (known & 1) === 1;
    const answer = this.#native.test(String.fromCodePoint(code));
    this.#answers[slot] = code * 2 + (answer ? 1 : 0);
    return answer;
  }
}

/**
 * Every property asked for so far. Building one costs about 0.1 ms, so they are kept; the parser
 * lets through no name outside Unicode's list, which is about 1,700 spellings (1 KB each).
 */
const properties = new Map<string, Property>();

/** Returns the property that `\p{name}` means, or undefined when the engine does not know it. */
export function propertyNamed(name: string): Property | undefined {
  const known = properties.get(name);
  if (known) return known;
  try {
    const property = new Property(name);
    properties.set(name, property);
    return property;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
