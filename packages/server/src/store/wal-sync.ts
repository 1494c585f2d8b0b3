/** Within this time of a commit that was not synced, the log is. SPEC 11 allows a second. */
const SYNC_WITHIN_MS = 800;

/**
 * Sees to it that commits which did not wait for the disk reach it soon, also when no other commit
 * comes. One timer, set by the first such commit. A later commit that does wait does not stop it:
 * one that changed nothing waits for nothing.
 */
export class WalSync {
  readonly #sync: () => boolean;
  #timer: NodeJS.Timeout | null = null;

  /** `sync` makes the write-ahead log durable; false when that failed and must be tried again. */
  constructor(sync: () => boolean) {
    this.#sync = sync;
  }

  /** Notes a commit that did not wait. */
  committed(): void {
    this.#timer ??= setTimeout(() => this.#due(), SYNC_WITHIN_MS);
  }

  /** Syncs what is due now rather than later; what comes after is not waited for. */
  finish(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#sync();
  }

  #due(): void {
    this.#timer = null;
    if (!this.#sync()) this.committed();
  }
}
