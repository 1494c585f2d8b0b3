import type { AccountId, ProjectId, RequestId, UserId } from "@relay/protocol";
import type { AuditEntry } from "./account-store.ts";
import type { Connection, Row } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import { integer, text, textOrNull } from "./rows.ts";
import type { Page, Paged } from "./store.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";
import type { WriteContext } from "./write-context.ts";

const LIST = "audit";
const DAY_MS = 24 * 60 * 60 * 1_000;
/** As the database's own trigger has it. */
const KEPT_DAYS = 400;
const STEP_ROWS = 200;

export function recordAudit({ db }: WriteContext, entry: AuditEntry): void {
  db.run(
    `INSERT INTO audit (audit_id, at, account_id, project_id, user_id, actor, action, target, before,
       after, address, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    entry.auditId,
    entry.at,
    entry.accountId,
    entry.projectId,
    entry.userId,
    entry.actor,
    entry.action,
    entry.target,
    entry.before,
    entry.after,
    entry.address,
    entry.requestId,
  );
}

/** Lists the lines of one account, or all lines, the newest first. */
export function listAudit(
  db: Connection,
  accountId: AccountId | null,
  page: Page,
): Paged<AuditEntry> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(LIST, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const ofAccount = { sql: "a.account_id = ?", values: [accountId] };
  const found = walk(
    db,
    {
      columns: "a.*",
      table: "audit a",
      joins: "",
      within: [accountId === null ? { sql: "true", values: [] } : ofAccount],
      order: ["a.at", "a.audit_id"],
      descending: true,
      after,
      filter: [],
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(LIST, page.limit, found, readEntry);
}

/** Drops some of the lines that are too old; whether there were any. */
export function dropOldAudit({ db }: WriteContext, now: number): boolean {
  const dropped = db.run(
    `DELETE FROM audit WHERE audit_id IN
       (SELECT audit_id FROM audit WHERE at < ? ORDER BY at LIMIT ${STEP_ROWS})`,
    // A day later than the trigger lets go, so that the two clocks need not agree.
    now - (KEPT_DAYS + 1) * DAY_MS,
  );
  return dropped > 0;
}

function readEntry(row: Row): AuditEntry {
  // Ids end at the database and begin again here: nothing but `recordAudit` has put them there.
  return {
    auditId: text(row, "audit_id"),
    at: integer(row, "at"),
    accountId: textOrNull(row, "account_id") as AccountId | null,
    projectId: textOrNull(row, "project_id") as ProjectId | null,
    userId: textOrNull(row, "user_id") as UserId | null,
    actor: text(row, "actor"),
    action: text(row, "action"),
    target: textOrNull(row, "target"),
    before: textOrNull(row, "before"),
    after: textOrNull(row, "after"),
    address: text(row, "address"),
    requestId: text(row, "request_id") as RequestId,
  };
}
