import type { LinkId } from "@relay/protocol";
import type { Connection } from "./connection.ts";

/** The time for which what follows holds, ms; nothing is late by more than twice as much. */
export const LAST_CALL_LAG_MS = 250;
/** So often they are written at once, with the calls; past that at the next such time. */
export const WRITES_AT_ONCE = 8;

/**
 * When each link was last called, on its way to the link's row. On a busy server each group of calls
 * concerns other links, on pages of their own: written with every group they would be most of what a
 * commit costs. So on a busy server they are written together, a few times a second. A crash may lose the last of
 * them; the calls themselves are there.
 */
export class LastCalls {
  readonly #times = new Map<LinkId, number>();
  #sinceMs = Number.NEGATIVE_INFINITY;
  #writes = 0;

  get isEmpty(): boolean {
    return this.#times.size === 0;
  }

  note(linkId: LinkId, startedAt: number): void {
    const known = this.#times.get(linkId) ?? 0;
    if (startedAt > known) this.#times.set(linkId, startedAt);
  }

  /** Whether they belong into the transaction that is about to end; `now` is monotonic ms. */
  isDue(now: number): boolean {
    if (this.isEmpty) return false;
    return this.#writes < WRITES_AT_ONCE || now - this.#sinceMs >= LAST_CALL_LAG_MS;
  }

  /** Makes what is noted due now: nothing else will come. */
  hurry(): void {
    this.#writes = 0;
  }

  /** Writes them inside a transaction; they are kept until `committed`. */
  write(db: Connection): void {
    for (const [linkId, startedAt] of this.#times) {
      db.run(
        "UPDATE links SET last_call_at = max(ifnull(last_call_at, 0), ?) WHERE link_id = ?",
        startedAt,
        linkId,
      );
    }
  }

  /** What was written is committed. */
  committed(now: number): void {
    this.#times.clear();
    if (now - this.#sinceMs >= LAST_CALL_LAG_MS) {
      this.#sinceMs = now;
      this.#writes = 0;
    }
    this.#writes += 1;
  }
}
