import type { Steps } from "../steps.ts";
import type { Meter } from "./char-class.ts";

/** How many visits of an instruction are worth a step. */
const VISITS_PER_STEP = 2;
/** Visits are charged when so many have gathered, and at the end. */
const VISITS_UNCHARGED_MAX = 256;

/** Counts the visits of one match and takes steps for them. */
export class Visits implements Meter {
  readonly #steps: Steps;
  #visits = 0;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** Throws `OutOfSteps`. */
  charge(visits: number): void {
    this.#visits += visits;
    if (this.#visits >= VISITS_UNCHARGED_MAX) this.settle();
  }

  /** Takes the steps for what has gathered. Throws `OutOfSteps`. */
  settle(): void {
    const visits = this.#visits;
    this.#visits = 0;
    this.#steps.spend(Math.ceil(visits / VISITS_PER_STEP));
  }
}
