import type { CallId } from "@relay/protocol";

/** The ids of calls that left no row, so that a retry is not counted twice. */
export class RecentCalls {
  readonly #most: number;
  /** In the order they came. */
  readonly #committed = new Set<CallId>();
  readonly #written = new Set<CallId>();

  /** Remembers the last `most` calls. */
  constructor(most: number) {
    this.#most = most;
  }

  has(callId: CallId): boolean {
    return this.#committed.has(callId) || this.#written.has(callId);
  }

  /** Notes a call whose roll-up is written, but not committed. */
  note(callId: CallId): void {
    this.#written.add(callId);
  }

  /** Keeps what was noted since the last group. */
  commit(): void {
    for (const callId of this.#written) this.#committed.add(callId);
    this.#written.clear();
    for (const callId of this.#committed) {
      if (this.#committed.size <= this.#most) break;
      this.#committed.delete(callId);
    }
  }

  /** Forgets what was noted since the last group: it was not written after all. */
  rollBack(): void {
    this.#written.clear();
  }
}
