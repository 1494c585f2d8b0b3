import type { CallId, ProjectId } from "@relay/protocol";
import type { SegmentId } from "../core/ledger-book.ts";
import type { Reservation } from "../core/link.ts";

/**
 * What the relay needs of money, as a port that the composition root fills. What is reserved lives
 * in memory only; a count is written with the call's row (SPEC 7).
 */
export interface Quota {
  /**
   * Asks for one more call of the project, made at `at` (wall clock); a place is held until
   * `release` or `spend`. Answers at once, but for the first call of a month.
   */
  reserve(projectId: ProjectId, callId: CallId, at: number): Reservation | Promise<Reservation>;
  /** The call will not count. */
  release(projectId: ProjectId, callId: CallId): void;
  /** The call's counted row is written. */
  spend(projectId: ProjectId, callId: CallId): void;
  /** The segment of the month that a held call counts in; absent where calls are not paid for. */
  segmentOf?(callId: CallId): SegmentId | null;
  /** The project's allowance, price or cap may be others now; absent where none of them matters. */
  projectChanged?(projectId: ProjectId): void;
}

/** Billing mode `off`: everything is allowed, and still counted by the rows. */
export const unlimitedQuota: Quota = {
  reserve: () => "admitted",
  release: () => undefined,
  spend: () => undefined,
};
