import type { Clock } from "../../clock.ts";

type Timer = { readonly at: number; readonly run: () => void };

/** A clock that stands still until it is moved; both its times are the same. */
export class StillClock implements Clock {
  #now: number;
  #timers: Timer[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.length;
  }

  /** Moves on and lets what is due run, with the promises behind it. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
    await settled();
  }
}

/** Lets every promise that is due go on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
