import { KIND } from "./schema-node.ts";
import type { Steps } from "./steps.ts";

const ENTRY_STEPS = 10;

/** A point to fall back to when a branch fails and what it evaluated must not count. */
export interface EvaluatedMark {
  readonly allProperties: boolean;
  readonly properties: number;
  readonly allItems: boolean;
  readonly items: number;
  readonly indexes: number;
}

/**
 * The properties and items of one value which keywords have evaluated so far, for `unevaluated…`.
 * Grows at the end only, so that a failed branch is undone by cutting back to a mark.
 */
export class Evaluated {
  allProperties = false;
  allItems = false;
  /** The first items, as a count. */
  items = 0;
  readonly #properties: string[] = [];
  readonly #indexes: number[] = [];

  addProperty(name: string): void {
    this.#properties.push(name);
  }

  addIndex(index: number): void {
    this.#indexes.push(index);
  }

  /** Marks all of the value, of the kind given as `KIND` bits. */
  addAll(kind: number): void {
    if (kind === KIND.object) this.allProperties = true;
    else this.allItems = true;
  }

  mark(): EvaluatedMark {
    return {
      allProperties: this.allProperties,
      properties: this.#properties.length,
      allItems: this.allItems,
      items: this.items,
      indexes: this.#indexes.length,
    };
  }

  /** Forgets everything that was added since the mark was taken. */
  cutBack(mark: EvaluatedMark): void {
    this.allProperties = mark.allProperties;
    this.#properties.length = mark.properties;
    this.allItems = mark.allItems;
    this.items = mark.items;
    this.#indexes.length = mark.indexes;
  }

  /** The names evaluated so far; spends steps for each. */
  propertySet(steps: Steps): ReadonlySet<string> {
    steps.spend(ENTRY_STEPS * this.#properties.length);
    return new Set(this.#properties);
  }

  /** The single items evaluated so far; spends steps for each. */
  indexSet(steps: Steps): ReadonlySet<number> {
    steps.spend(ENTRY_STEPS * this.#indexes.length);
    return new Set(this.#indexes);
  }
}
