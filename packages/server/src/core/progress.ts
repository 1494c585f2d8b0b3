import type { Progress } from "./host-answers.ts";

/** At most this many progress messages a second, with a burst of as many (SPEC 5). */
export const PROGRESS_PER_SECOND = 10;

/** How far a keep-alive moves the value, so that the app's own next value can still be above it. */
const KEEP_ALIVE_STEP = 0.001;

/**
 * Decides which of an app's progress frames the host of one call gets: only values above the last
 * one sent, at most 10 a second with a burst of 10, the newest winning. Times are monotonic ms.
 */
export class ProgressGate {
  #last: number | null = null;
  #held: Progress | null = null;
  #tokens = PROGRESS_PER_SECOND;
  #refilledAt: number;

  constructor(now: number) {
    this.#refilledAt = now;
  }

  /** Takes what the app reported; returns it if it goes out now, else null. */
  offer(progress: Progress, now: number): Progress | null {
    if (!this.#isAbove(progress.progress)) return null;
    if (this.#held !== null && progress.progress <= this.#held.progress) return null;
    this.#refill(now);
    if (this.#tokens < 1) {
      this.#held = progress;
      return null;
    }
    return this.#send(progress);
  }

  /** When what is held may go out, or null when nothing is held. */
  get heldUntil(): number | null {
    if (this.#held === null) return null;
    return this.#refilledAt + ((1 - this.#tokens) * 1000) / PROGRESS_PER_SECOND;
  }

  /** Returns what is held once it may go out. */
  release(now: number): Progress | null {
    this.#refill(now);
    return this.#held !== null && this.#tokens >= 1 ? this.#send(this.#held) : null;
  }

  /** Returns what is held whatever the rate: it must go out before the answer. */
  flush(): Progress | null {
    return this.#held === null ? null : this.#send(this.#held);
  }

  /** A value just above the last one, for a host that would give up without news. */
  keepAlive(): Progress {
    const progress = (this.#last ?? 0) + KEEP_ALIVE_STEP;
    this.#last = progress;
    return { progress, total: null, message: null };
  }

  #isAbove(value: number): boolean {
    return this.#last === null ? value >= 0 : value > this.#last;
  }

  #refill(now: number): void {
    const earned = ((now - this.#refilledAt) * PROGRESS_PER_SECOND) / 1000;
    this.#tokens = Math.min(PROGRESS_PER_SECOND, this.#tokens + earned);
    this.#refilledAt = now;
  }

  #send(progress: Progress): Progress {
    this.#tokens = Math.max(0, this.#tokens - 1);
    this.#held = null;
    this.#last = progress.progress;
    return progress;
  }
}
