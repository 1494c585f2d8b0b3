/** Thrown by `Steps.spend` when a check has used up its budget. Caught at the door of `check`. */
export class OutOfSteps extends Error {
  override readonly name = "OutOfSteps";
}

/**
 * The budget of one check, in steps. Work is bounded by counting it, never by a clock, so the same
 * input gives the same verdict on every machine (SPEC 8).
 */
export class Steps {
  readonly limit: number;
  #left: number;

  constructor(limit: number) {
    this.limit = limit;
    this.#left = limit;
  }

  get left(): number {
    return this.#left;
  }

  get used(): number {
    return this.limit - this.#left;
  }

  /** Takes `count` steps; throws `OutOfSteps` when fewer are left. */
  spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) {
      this.#left = 0;
      throw new OutOfSteps("the step budget is used up");
    }
  }
}
