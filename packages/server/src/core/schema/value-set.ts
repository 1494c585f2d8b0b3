import { canonicalText } from "./canonical-text.ts";
import { isScalar } from "./json-object.ts";
import { Steps } from "./steps.ts";

/**
 * The values of `enum` or `const`. Asking costs about the value's own size, never the number of
 * members: scalars are looked up as they are, arrays and objects by their canonical text.
 */
export class ValueSet {
  /** The scalars: as a list while they are few, which is quicker and smaller. */
  readonly #few: readonly unknown[];
  readonly #many: ReadonlySet<unknown>;
  readonly #texts: ReadonlySet<string>;
  readonly #charsMax: number;

  private constructor(scalars: readonly unknown[], texts: readonly string[]) {
    this.#few = scalars.length <= FEW ? scalars : [];
    this.#many = scalars.length <= FEW ? NONE : new Set(scalars);
    this.#texts = texts.length === 0 ? NONE : new Set(texts);
    this.#charsMax = texts.reduce((most, text) => Math.max(most, text.length), 0);
  }

  /** Makes a set of JSON values; null when one of them is nested more than 400 deep. */
  static of(members: readonly unknown[]): ValueSet | null {
    const scalars: unknown[] = [];
    const texts: string[] = [];
    for (const member of members) {
      if (isScalar(member)) {
        scalars.push(member);
        continue;
      }
      const text = canonicalText(member, new Steps(Infinity));
      if (text === null) return null;
      texts.push(text);
    }
    return new ValueSet(scalars, texts);
  }

  /** An estimate of the memory kept, in bytes. */
  get bytes(): number {
    let bytes = 200 + 40 * (this.#few.length + this.#many.size) + 140 * this.#texts.size;
    for (const member of [...this.#few, ...this.#many, ...this.#texts]) {
      if (typeof member === "string") bytes += 2 * member.length;
    }
    return bytes;
  }

  /** Says whether a member equals the value as JSON Schema compares: `1.0` is `1`, key order is nothing. */
  has(value: unknown, steps: Steps): boolean {
    if (isScalar(value)) {
      steps.spend(typeof value === "string" ? FEW + (value.length >> 4) : FEW);
      for (const member of this.#few) if (member === value) return true;
      return this.#many.size > 0 && this.#many.has(value);
    }
    if (this.#texts.size === 0) return false;
    const text = canonicalText(value, steps, this.#charsMax);
    return text !== null && this.#texts.has(text);
  }
}

const FEW = 8;
const NONE: ReadonlySet<never> = new Set();
