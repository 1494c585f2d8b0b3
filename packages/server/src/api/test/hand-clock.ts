import type { Clock } from "../../clock.ts";

/** A clock that stands until it is moved, for tests. */
export class HandClock implements Clock {
  #now = 1_000_000;
  #due: { readonly at: number; readonly run: () => void }[] = [];

  /** Timers that are set now. */
  get timers(): number {
    return this.#due.length;
  }

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#due.push(timer);
    return () => {
      this.#due = this.#due.filter((other) => other !== timer);
    };
  }

  /** Lets `ms` pass, and what was due in it be done, with what follows from it at once. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const [next] = this.#due.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#due = this.#due.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settled();
    }
    this.#now = until;
  }
}

/** Resolves when everything that waits for nothing has been done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
