import type { Clock } from "../clock.ts";
import type { SegmentId } from "../core/ledger-book.ts";
import type { Log } from "../observe/log.ts";
import type { Meter } from "../observe/meter.ts";
import { StoreError } from "../store/store.ts";
import type { CallRow, Store } from "../store/store.ts";
import { Waits } from "../waits.ts";
import type { LiveProjects } from "./live.ts";
import type { Quota } from "./quota.ts";

/** An answer waits this long for its row, then goes out all the same (SPEC 7). */
const ANSWER_WAIT_MS = 1_000;
/** With this many rows unwritten, new calls are turned away. */
const UNWRITTEN_MAX = 10_000;
const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 5_000;

type SettleDeps = {
  readonly store: Pick<Store, "recordCall">;
  readonly quota: Quota;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Meter | undefined;
  readonly live?: LiveProjects | undefined;
};

/**
 * Writes down how each call ended and only then lets its answer go. A row that can't be written is
 * tried again until it is; its call id makes that safe.
 */
export class Settler {
  readonly #store: Pick<Store, "recordCall">;
  readonly #quota: Quota;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #meter: Meter | undefined;
  readonly #live: LiveProjects | undefined;
  readonly #answerWaits: Waits;
  #unwritten = 0;
  #late = 0;

  constructor(deps: SettleDeps) {
    this.#store = deps.store;
    this.#quota = deps.quota;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#meter = deps.meter;
    this.#live = deps.live;
    this.#answerWaits = new Waits(deps.clock, ANSWER_WAIT_MS);
  }

  /** Rows that are not committed yet. */
  get unwritten(): number {
    return this.#unwritten;
  }

  /** Whether new calls must be turned away until the store has caught up. */
  get isFull(): boolean {
    return this.#unwritten >= UNWRITTEN_MAX;
  }

  /** Whether some row has waited for over a second. */
  get isLate(): boolean {
    return this.#late > 0;
  }

  /** Records a call that reached the app; `release` runs once, when the row is written or late. */
  settle(row: CallRow, release: () => void): void {
    let isLate = false;
    const wait = this.#answerWaits.begin(() => {
      isLate = true;
      this.#late += 1;
      this.#log.warn({ requestId: row.requestId }, "a call's row is late; its answer goes first");
      release();
    });
    this.#record(row, false, (written) => {
      if (row.counted && written) this.#quota.spend(row.projectId, row.callId);
      if (row.counted && !written) this.#quota.release(row.projectId, row.callId);
      if (isLate) {
        this.#late -= 1;
        return;
      }
      wait.cancel();
      release();
    });
  }

  /** Records a refused call; nobody waits for it. */
  note(row: CallRow, rollUpOnly: boolean): void {
    this.#record(row, rollUpOnly, () => undefined);
  }

  /** Waits until every row is written, at most `ms`; returns how many are not. */
  async flush(ms: number): Promise<number> {
    const until = this.#clock.monotonic() + ms;
    while (this.#unwritten > 0 && this.#clock.monotonic() < until) await this.#pause(10);
    return this.#unwritten;
  }

  /**
   * Calls `done` once: with true when the row is committed, however often that has to be tried, and
   * with false where it never can be.
   */
  #record(row: CallRow, rollUpOnly: boolean, done: (written: boolean) => void): void {
    this.#unwritten += 1;
    this.#meter?.callEnded(row.outcome, row.counted);
    if (!rollUpOnly) this.#live?.callEnded(row);
    // While it is held: afterwards nobody knows it any more.
    const segmentId = row.counted ? (this.#quota.segmentOf?.(row.callId) ?? null) : null;
    const endedMs = this.#clock.monotonic();
    const write: RowWrite = { row, rollUpOnly, segmentId, endedMs, done };
    void this.#try(write, RETRY_FIRST_MS);
  }

  /** Tries to write, and again after `waitMs` where the store is away. */
  async #try(write: RowWrite, waitMs: number): Promise<void> {
    const { row, rollUpOnly, segmentId, endedMs, done } = write;
    try {
      await this.#store.recordCall(row, rollUpOnly, segmentId);
    } catch (error) {
      this.#log.error({ err: error, requestId: row.requestId }, "a call's row was not written");
      if (error instanceof StoreError) {
        const next = Math.min(RETRY_MAX_MS, waitMs * 2);
        this.#clock.after(waitMs, () => void this.#try(write, next));
        return;
      }
      // The row itself is wrong: a bug of ours, which trying again would not mend.
      this.#unwritten -= 1;
      done(false);
      return;
    }
    this.#unwritten -= 1;
    this.#meter?.rowWritten(this.#clock.monotonic() - endedMs);
    done(true);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

/** A row on its way into the store. */
type RowWrite = {
  readonly row: CallRow;
  readonly rollUpOnly: boolean;
  readonly segmentId: SegmentId | null;
  /** When its call ended, monotonic ms. */
  readonly endedMs: number;
  readonly done: (written: boolean) => void;
};
