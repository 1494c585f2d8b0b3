import type { Connection } from "./connection.ts";
import type { LastCalls } from "./last-calls.ts";
import type { ManifestChanges } from "./manifest-changes.ts";
import type { RecentCalls } from "./recent-calls.ts";

/** What a write works with. It runs inside a savepoint of its group's transaction. */
export type WriteContext = {
  readonly db: Connection;
  /**
   * The INSERT of each day (its number since 1970) whose table is known to be there. Emptied
   * whenever something is rolled back, since the table may have gone with it.
   */
  readonly dayInserts: Map<number, string>;
  readonly recent: RecentCalls;
  readonly lastCalls: LastCalls;
  readonly manifestChanges: ManifestChanges;
};
