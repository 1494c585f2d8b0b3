import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";

const READ_EVERY_MS = 2_000;
const WATCHERS_MAX = 100;

type FeedDeps = {
  /** Takes one reading, as text for everybody who looks. */
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
};

export type HealthWatcher = {
  readonly told: (readingText: string) => void;
  /** This Relay is stopping. */
  readonly ended: () => void;
};

/** Readings of how this Relay is: one every two seconds for all who look, and none for nobody. */
export class HealthFeed {
  readonly #deps: FeedDeps;
  readonly #watchers = new Set<HealthWatcher>();
  #newest: string | null = null;
  #isReading = false;
  #cancelNext: () => void = () => undefined;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** Tells `watcher` the newest reading, and each one from now on; null when too many look. */
  watch(watcher: HealthWatcher): (() => void) | null {
    if (this.#watchers.size >= WATCHERS_MAX) return null;
    this.#watchers.add(watcher);
    if (this.#newest !== null) watcher.told(this.#newest);
    else if (this.#watchers.size === 1 && !this.#isReading) void this.#read();
    return () => this.#leave(watcher);
  }

  /** Ends all who look. */
  close(): void {
    for (const watcher of this.#watchers) watcher.ended();
  }

  #leave(watcher: HealthWatcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#cancelNext();
    // By the time somebody comes back it would be old.
    this.#newest = null;
  }

  async #read(): Promise<void> {
    const { read, clock, log } = this.#deps;
    this.#isReading = true;
    let text: string | null = null;
    try {
      text = await read();
    } catch (error) {
      log.warn({ err: error }, "the operator's health could not be read");
    }
    this.#isReading = false;
    if (this.#watchers.size === 0) return;
    this.#newest = text;
    if (text !== null) for (const watcher of this.#watchers) watcher.told(text);
    this.#cancelNext = clock.after(READ_EVERY_MS, () => void this.#read());
  }
}
