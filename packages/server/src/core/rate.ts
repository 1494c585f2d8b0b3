/** The length of every "per minute" window, in ms. */
export const MINUTE_MS = 60_000;

/**
 * Counts up to a limit within a minute that starts with the first thing counted. What is refused
 * does not use it up. The limit is an argument, since a project can change it at any time.
 */
export class MinuteWindow {
  #startedAt = Number.NEGATIVE_INFINITY;
  #used = 0;

  /** Whole seconds until `limit` allows one more, at least 1; 0 when it does so now. */
  wait(now: number, limit: number): number {
    if (this.#used < limit || this.isOver(now)) return 0;
    return Math.max(1, Math.ceil((this.#startedAt + MINUTE_MS - now) / 1000));
  }

  /** Counts `amount`; to be asked `wait` first. */
  add(now: number, amount = 1): void {
    if (this.isOver(now)) {
      this.#startedAt = now;
      this.#used = 0;
    }
    this.#used += amount;
  }

  /** Counts one if `limit` allows it; returns what `wait` would have. */
  take(now: number, limit: number): number {
    const wait = this.wait(now, limit);
    if (wait === 0) this.add(now);
    return wait;
  }

  /** Takes one back, for what was refused after it was counted. */
  giveBack(): void {
    this.#used = Math.max(0, this.#used - 1);
  }

  /** Whether the minute has ended, so that forgetting this window would change nothing. */
  isOver(now: number): boolean {
    return now - this.#startedAt >= MINUTE_MS;
  }
}

/**
 * One window per key (an IP address, a project), for at most `keysMax` keys: past that the oldest
 * window is forgotten, which can only be lenient.
 */
export class MinuteWindows {
  readonly #windows = new Map<string, MinuteWindow>();
  readonly #keysMax: number;

  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  wait(key: string, now: number, limit: number): number {
    return this.#windows.get(key)?.wait(now, limit) ?? 0;
  }

  take(key: string, now: number, limit: number): number {
    return this.#windowOf(key, now).take(now, limit);
  }

  /** Takes one of the key's back, for what was refused after it was counted. */
  giveBack(key: string): void {
    this.#windows.get(key)?.giveBack();
  }

  #windowOf(key: string, now: number): MinuteWindow {
    const known = this.#windows.get(key);
    if (known !== undefined && !known.isOver(now)) return known;
    // Re-inserted, so that the map's order is the order in which windows began.
    this.#windows.delete(key);
    this.#forget(now);
    const window = new MinuteWindow();
    this.#windows.set(key, window);
    return window;
  }

  /** Drops windows that are over from the old end, and the oldest where the map is full. */
  #forget(now: number): void {
    for (const [key, window] of this.#windows) {
      if (!window.isOver(now) && this.#windows.size < this.#keysMax) return;
      this.#windows.delete(key);
    }
  }
}
