import { cellsOf, isCall } from "./call-cells.ts";
import type { CallWrite } from "./call-writes.ts";
import { errorOf } from "./failure.ts";
import type { StoreThread } from "./store-thread.ts";
import { StoreError } from "./store.ts";
import type { FromWriter, GroupDone, Outcome, ToWriter } from "./writer-messages.ts";
import type { Write, WriteArgs, WriteResult, WriteVerb } from "./writes.ts";

/** Past so many writes that wait, new ones are refused: something is very wrong with the disk. */
const QUEUED_MAX = 100_000;
/** What one group may weigh: every write weighs 1, a manifest 1 more for each 4,096 characters. */
const GROUP_WEIGHT_MAX = 512;
const MANIFEST_CHARS_PER_WEIGHT = 4_096;

type Queued = {
  readonly write: Write;
  readonly sinceMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** How the store has been writing since it was opened. */
export type WriteCounts = {
  readonly groups: number;
  /** Groups that waited for the disk. */
  readonly syncedGroups: number;
  readonly writes: number;
  /** Times the log was synced for commits that had not waited. */
  readonly walSyncs: number;
};

/**
 * The writes that wait for the writer thread. While it commits one group the next one collects:
 * the busier the store, the larger its groups, with no delay when it is idle.
 */
export class WriteQueue {
  readonly #thread: StoreThread<ToWriter, FromWriter>;
  #queue: Queued[] = [];
  #inFlight: Queued[] = [];
  #isScheduled = false;
  #refusal: StoreError | null = null;
  #onIdle: (() => void) | null = null;
  #counts = { groups: 0, syncedGroups: 0, writes: 0, walSyncs: 0 };

  constructor(thread: StoreThread<ToWriter, FromWriter>) {
    this.#thread = thread;
    thread.listen({
      message: (message) => {
        if (message.type === "done") this.#done(message);
        else if (message.type === "synced") this.#counts.walSyncs += 1;
      },
      died: (error) => {
        this.#refusal = error;
        const lost = [...this.#inFlight, ...this.#queue];
        this.#queue = [];
        this.#fail(lost, error);
      },
    });
  }

  get counts(): WriteCounts {
    return { ...this.#counts };
  }

  /** The age in ms of the oldest write that is not committed, 0 when there is none. */
  delayMs(): number {
    const oldest = this.#inFlight[0] ?? this.#queue[0];
    return oldest === undefined ? 0 : performance.now() - oldest.sinceMs;
  }

  /** Resolves with the write's result when its group is committed. */
  write<Verb extends WriteVerb>(verb: Verb, ...args: WriteArgs[Verb]): Promise<WriteResult[Verb]> {
    return new Promise((resolve, reject) => {
      if (this.#refusal !== null) {
        reject(this.#refusal);
      } else if (this.#queue.length >= QUEUED_MAX) {
        reject(new StoreError("unavailable", "Too many writes are waiting for the disk."));
      } else {
        this.#queue.push({
          write: { verb, args },
          sinceMs: performance.now(),
          // The writer thread answers a verb with that verb's result.
          resolve: resolve as (result: unknown) => void,
          reject,
        });
        this.#schedule();
      }
    });
  }

  /** Refuses what comes from now on, waits for what is queued, and ends the thread. */
  async close(): Promise<void> {
    const isDead = this.#refusal !== null;
    this.#refusal ??= new StoreError("closed", "The store is closed.");
    if (isDead) return;
    if (this.#queue.length + this.#inFlight.length > 0) {
      await new Promise<void>((resolve) => (this.#onIdle = resolve));
    }
    await this.#thread.close({ type: "close" });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0 || this.#queue.length === 0) return;
    this.#isScheduled = true;
    // Everything that this turn of the event loop still brings belongs to the group.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendGroup();
    });
  }

  #sendGroup(): void {
    let weight = 0;
    const end = this.#queue.findIndex(
      ({ write }) => (weight += weightOf(write)) > GROUP_WEIGHT_MAX,
    );
    this.#inFlight = this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end));
    if (this.#inFlight.length === 0) return;
    try {
      this.#thread.post(messageOf(this.#inFlight));
    } catch (error) {
      // One of them holds what can't cross to a thread, which is its caller's bug.
      this.#fail(this.#inFlight, error);
    }
  }

  #fail(lost: readonly Queued[], error: unknown): void {
    this.#inFlight = [];
    for (const queued of lost) queued.reject(error);
    this.#next();
  }

  #next(): void {
    if (this.#queue.length === 0) this.#onIdle?.();
    this.#schedule();
  }

  #done({ outcomes, synced }: GroupDone): void {
    const group = this.#inFlight;
    this.#inFlight = [];
    this.#counts.groups += 1;
    this.#counts.writes += group.length;
    if (synced) this.#counts.syncedGroups += 1;
    if (outcomes === null) for (const queued of group) queued.resolve(undefined);
    else for (const [at, queued] of group.entries()) settle(queued, outcomes[at]);
    this.#next();
  }
}

function messageOf(group: readonly Queued[]): ToWriter {
  const calls: CallWrite[] = [];
  for (const { write } of group) if (isCall(write)) calls.push(write.args);
  return calls.length === group.length
    ? { type: "calls", cells: cellsOf(calls) }
    : { type: "group", writes: group.map(({ write }) => write) };
}

function settle(queued: Queued, outcome: Outcome | undefined): void {
  if (outcome === undefined) queued.reject(new Error("the writer left a write out"));
  else if ("failure" in outcome) queued.reject(errorOf(outcome.failure));
  else queued.resolve(outcome.result);
}

function weightOf(write: Write): number {
  if (write.verb !== "claimLink") return 1;
  const [{ manifest }] = (write as Write<"claimLink">).args;
  return 1 + manifest.toolsText.length / MANIFEST_CHARS_PER_WEIGHT;
}
