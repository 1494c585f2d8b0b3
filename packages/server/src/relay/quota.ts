import type { CallId, ProjectId } from "@relay/protocol";
import type { Reservation } from "../core/link.ts";

/**
 * What the relay needs of money, as a port that the composition root fills. What is reserved lives
 * in memory only; a count is written with the call's row (SPEC 7).
 */
export interface Quota {
  /** Asks for one more call of the project; a place is held until `release` or `spend`. */
  reserve(projectId: ProjectId, callId: CallId): Reservation | Promise<Reservation>;
  /** The call will not count. */
  release(projectId: ProjectId, callId: CallId): void;
  /** The call's counted row is written. */
  spend(projectId: ProjectId, callId: CallId): void;
}

/** Billing mode `off`: everything is allowed, and still counted by the rows. */
export const unlimitedQuota: Quota = {
  reserve: () => "admitted",
  release: () => undefined,
  spend: () => undefined,
};
