/** A clock that stands still until a test moves it. */
export class FakeClock {
  now = 0;
  /** Ms since the epoch at `now` 0: far from this machine's, as a device's clock may be. */
  epoch = Date.UTC(2001, 0, 1);
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  readonly monotonic = (): number => this.now;
  readonly wall = (): number => this.epoch + this.now;
  readonly after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.length;
  }

  /** Lets `ms` pass: runs each timer when it is due, and lets what it caused settle. */
  async pass(ms = 0): Promise<void> {
    const end = this.now + ms;
    await settled();
    for (;;) {
      const [next] = this.#timers.toSorted((one, other) => one.at - other.at);
      if (next === undefined || next.at > end) break;
      this.now = Math.max(this.now, next.at);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.run();
      await settled();
    }
    this.now = end;
  }
}

/** Resolves when every promise that can settle by itself has. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
