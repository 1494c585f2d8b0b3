import type { Clock } from "../../packages/server/src/clock.ts";

/** Where the wall clock of every simulation begins. */
const WALL_START = Date.UTC(2026, 9, 12, 10, 0, 0);

type Timer = { readonly at: number; readonly run: () => void; isOver: boolean };

/**
 * Time as the simulation wants it: it stands still until `runNext` takes it to the next timer.
 * Timers of the same ms run in the order in which they were set.
 */
export class SimClock implements Clock {
  #now = 1_000;
  #wallShift = 0;
  /** In the order in which they are due. */
  #timers: Timer[] = [];

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return WALL_START + Math.floor(this.#now) + this.#wallShift;
  }

  after(ms: number, run: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), run, isOver: false };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle]?.at ?? 0) <= timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return () => {
      timer.isOver = true;
    };
  }

  /** Somebody sets the machine's clock; deadlines must not notice. */
  jumpWall(ms: number): void {
    this.#wallShift += ms;
  }

  /** When the next timer is due; null without one. */
  get nextAt(): number | null {
    while (this.#timers[0]?.isOver === true) this.#timers.shift();
    return this.#timers[0]?.at ?? null;
  }

  /** Goes to the next timer and runs it. */
  runNext(): void {
    if (this.nextAt === null) return;
    const timer = this.#timers.shift();
    if (timer === undefined) return;
    this.#now = Math.max(this.#now, timer.at);
    timer.isOver = true;
    timer.run();
  }

  /** Goes to `at`, before the next timer is due. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }
}
