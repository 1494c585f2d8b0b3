import assert from "node:assert/strict";

/**
 * What one thing in the store may be after a crash: what was acknowledged last, or what an action
 * whose answer never came would have made of it.
 */
export class Register<Value extends string | number | boolean | null> {
  #may: readonly Value[];

  constructor(value: Value) {
    this.#may = [value];
  }

  /** What it is, as far as anybody was told. */
  get value(): Value {
    const [first] = this.#may;
    assert.ok(first !== undefined);
    return first;
  }

  /** Whether an action on it was begun and not answered. */
  get isInDoubt(): boolean {
    return this.#may.length > 1;
  }

  /** Makes a change by `act`; until that has resolved the thing may be either. */
  async change(next: Value, act: () => Promise<void>): Promise<void> {
    this.#may = [this.value, next];
    await act();
    this.#may = [next];
  }

  /** Holds what was found against what may be; from then on it is that. */
  observe(found: Value, what: string): void {
    assert.ok(this.#may.includes(found), `${what} is ${found}, not ${this.#may.join(" or ")}`);
    this.#may = [found];
  }
}
