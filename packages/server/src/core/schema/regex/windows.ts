import type { Repeat } from "./program.ts";

/** Earlier than any time. */
const NEVER = -1;

/**
 * The threads that are inside one counted repeat at the same time, without a thread for each.
 *
 * A thread that entered at time t may leave from t + min until t + max, for as long as every
 * character is of the class; the first other one ends them all alike. So all there is to know is at
 * which times one may leave: windows of time, which open and close in the order of entering. Kept
 * are the first opening, the last closing and the gaps between, at most `windowsMax` - 1, in a ring.
 */
export class Windows {
  readonly #min: number;
  readonly #max: number;
  readonly #gapsMax: number;
  #opens = NEVER;
  #closes = NEVER;
  /** The closing before each gap and the opening behind it. */
  readonly #gapStarts: number[] = [];
  readonly #gapEnds: number[] = [];
  #firstGap = 0;
  #gapCount = 0;
  #carriedAt = NEVER;

  constructor(repeat: Repeat) {
    this.#min = repeat.min;
    this.#max = repeat.max;
    this.#gapsMax = windowsMax(repeat) - 1;
  }

  /** Lets a thread in if one `enters`. Tells whether one may leave. Time never goes back. */
  pass(time: number, enters: boolean): boolean {
    if (this.#gapCount > 0) this.#dropGaps(time);
    if (enters) this.#enter(time);
    const open = this.#opens <= time && time <= this.#closes;
    // Without a maximum, what follows a repeat is a loop over the same class: it goes on for all.
    if (open && this.#max === Infinity) this.#clear();
    return open;
  }

  /**
   * Takes the character at `time` with those inside, or ends them. Returns true if any are left, but
   * only once for each character.
   */
  carry(time: number, inClass: boolean): boolean {
    if (!inClass || this.#closes <= time) {
      this.#clear();
      return false;
    }
    const again = this.#carriedAt === time;
    this.#carriedAt = time;
    return !again;
  }

  #enter(time: number): void {
    const opens = time + this.#min;
    if (this.#closes < time) {
      this.#opens = opens;
    } else if (opens > this.#closes + 1) {
      const gap = this.#gapAt(this.#gapCount++);
      this.#gapStarts[gap] = this.#closes;
      this.#gapEnds[gap] = opens;
    }
    this.#closes = time + this.#max;
  }

  #dropGaps(time: number): void {
    while (this.#gapCount > 0 && (this.#gapStarts[this.#firstGap] ?? 0) < time) {
      this.#opens = this.#gapEnds[this.#firstGap] ?? 0;
      this.#firstGap = this.#gapAt(1);
      this.#gapCount--;
    }
  }

  #clear(): void {
    this.#closes = NEVER;
    this.#gapCount = 0;
  }

  #gapAt(offset: number): number {
    const at = this.#firstGap + offset;
    return at < this.#gapsMax ? at : at - this.#gapsMax;
  }
}

/** How many windows of a repeat can lie apart at one time. */
export function windowsMax({ min, max }: Repeat): number {
  return max === Infinity ? 1 : 1 + Math.floor(max / (max - min + 2));
}
