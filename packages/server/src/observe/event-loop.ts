import { createHistogram, performance } from "node:perf_hooks";

/** How often a timer is set to see how late it runs. */
const EVERY_MS = 20;

/** What the event loop has been like; times are seconds a timer ran late, `busy` is a share of 1. */
export type EventLoopReading = {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly busy: number;
};

/**
 * Watches this thread's event loop with one timer, which keeps no process alive. Not by
 * `monitorEventLoopDelay`: it leaves out the interval after each reset, so that whatever blocks
 * right after a reading, the rest of a scrape with it, would never be seen.
 */
export class EventLoop {
  /** Nanoseconds. */
  readonly #lateness = createHistogram();
  readonly #timer = setInterval(() => this.#tick(), EVERY_MS).unref();
  #utilization = performance.eventLoopUtilization();
  #tickedAt = performance.now();

  /** Reads what happened since the last reading. */
  read(): EventLoopReading {
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    const hasTicked = this.#lateness.count > 0;
    const reading = {
      p50: hasTicked ? this.#lateness.percentile(50) / 1e9 : 0,
      p99: hasTicked ? this.#lateness.percentile(99) / 1e9 : 0,
      max: hasTicked ? this.#lateness.max / 1e9 : 0,
      busy: performance.eventLoopUtilization(this.#utilization, before).utilization,
    };
    this.#lateness.reset();
    return reading;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    const lateMs = now - this.#tickedAt - EVERY_MS;
    this.#tickedAt = now;
    // A histogram takes whole numbers above 0.
    this.#lateness.record(Math.max(1, Math.round(lateMs * 1e6)));
  }
}
