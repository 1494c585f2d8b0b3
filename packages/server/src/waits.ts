import type { Clock } from "./clock.ts";

/** Slots that are free again are given back to the queue's array once there are so many. */
const FREE_SLOTS_MAX = 1_024;

/** One wait: what it runs at its end, unless it is cancelled before. */
export class Wait {
  readonly endsAt: number;
  #run: (() => void) | null;

  constructor(endsAt: number, run: () => void) {
    this.endsAt = endsAt;
    this.#run = run;
  }

  get isOver(): boolean {
    return this.#run === null;
  }

  /** What would have run is let go at once, with all it holds. */
  cancel(): void {
    this.#run = null;
  }

  end(): void {
    const run = this.#run;
    this.#run = null;
    run?.();
  }
}

/**
 * Waits of one length, which share one timer: they end in the order they began. Thousands begin in
 * a second, and nearly all are cancelled. Holds those that run, and cancelled ones behind the
 * oldest of them.
 */
export class Waits {
  readonly #clock: Clock;
  readonly #ms: number;
  #queue: Wait[] = [];
  #first = 0;
  #isArmed = false;

  /** Every wait takes `ms`. */
  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Begins a wait that calls `run` once at its end. */
  begin(run: () => void): Wait {
    this.#dropOver();
    const wait = new Wait(this.#clock.monotonic() + this.#ms, run);
    this.#queue.push(wait);
    if (!this.#isArmed) this.#arm(this.#ms);
    return wait;
  }

  #dropOver(): void {
    while (this.#queue[this.#first]?.isOver === true) this.#first += 1;
    if (this.#first === this.#queue.length) {
      this.#queue = [];
      this.#first = 0;
    } else if (this.#first > FREE_SLOTS_MAX) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    this.#clock.after(Math.max(1, ms), () => {
      this.#isArmed = false;
      this.#endDue();
    });
  }

  #endDue(): void {
    for (;;) {
      this.#dropOver();
      const next = this.#queue[this.#first];
      if (next === undefined) return;
      const left = next.endsAt - this.#clock.monotonic();
      if (left > 0) return this.#arm(left);
      next.end();
    }
  }
}
