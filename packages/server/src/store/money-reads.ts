import type { AccountId, ProjectId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import type { LedgerEntry, MonthMoney } from "./money.ts";
import {
  ENTRY_COLUMNS,
  MODE_IN_FORCE,
  SEGMENT_COLUMNS,
  accountMoney,
  integerOrNull,
  modeInForce,
  readEntry,
  readSegment,
} from "./money-rows.ts";
import { bytes, integer, text, textOrNull } from "./rows.ts";
import type { Page, Paged } from "./store.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";
import type { DueEvent, EventState, Webhook, WebhookEvent } from "./webhooks.ts";

const PROJECT_MONEY = `SELECT p.account_id, ifnull(m.spent_micros, 0) AS spent_micros FROM projects p
  LEFT JOIN usage_months m ON m.project_id = p.project_id AND m.month = ?2 WHERE p.project_id = ?1`;
const LAST_SEGMENT = `SELECT ${SEGMENT_COLUMNS} FROM segments WHERE project_id = ? AND month = ?
  ORDER BY segment_id DESC LIMIT 1`;
const WEBHOOK = "SELECT url, sealed_secret FROM webhooks WHERE project_id = ?";
const DUE_EVENTS = `SELECT e.event_id, e.project_id, e.type, e.body, e.created_at, e.attempts, w.url,
    w.sealed_secret
  FROM webhook_events e JOIN webhooks w ON w.project_id = e.project_id
  WHERE e.next_at <= ? AND NOT EXISTS (SELECT 1 FROM webhook_events o
    WHERE o.project_id = e.project_id AND o.next_at IS NOT NULL
      AND (o.next_at, o.event_id) < (e.next_at, e.event_id))
  ORDER BY e.next_at, e.event_id LIMIT ?`;

/** Every text this file reads by key with; a test looks at how SQLite would go about each. */
export const MONEY_READ_SQL: readonly string[] = [
  PROJECT_MONEY,
  LAST_SEGMENT,
  MODE_IN_FORCE,
  WEBHOOK,
  DUE_EVENTS,
];

export function getMoney(db: Connection, projectId: ProjectId, month: string): MonthMoney | null {
  const row = db.get(PROJECT_MONEY, projectId, month);
  if (row === undefined) return null;
  // Written by this store, as an account's id.
  const accountId = text(row, "account_id") as AccountId;
  const last = db.get(LAST_SEGMENT, projectId, month);
  const segment = last === undefined ? null : readSegment(last);
  return {
    accountId,
    balanceMicros: accountMoney(db, accountId).balanceMicros,
    spentMicros: integer(row, "spent_micros"),
    segment:
      segment === null
        ? null
        : {
            mode: segment.mode,
            allowance: segment.allowance,
            priceMicros: segment.priceMicros,
            countedAtStart: segment.countedAtStart,
            counted: segment.counted,
            isOfThisMode: segment.epoch === modeInForce(db).epoch,
          },
  };
}

export function getWebhook(db: Connection, projectId: ProjectId): Webhook | null {
  const row = db.get(WEBHOOK, projectId);
  if (row === undefined) return null;
  return { url: text(row, "url"), sealedSecret: bytes(row, "sealed_secret") };
}

export function dueEvents(db: Connection, now: number, most: number): readonly DueEvent[] {
  return db.all(DUE_EVENTS, now, most).map((row) => ({
    eventId: text(row, "event_id"),
    // Written by this store, as a project's id.
    projectId: text(row, "project_id") as ProjectId,
    type: text(row, "type"),
    body: text(row, "body"),
    createdAt: integer(row, "created_at"),
    attempts: integer(row, "attempts"),
    webhook: { url: text(row, "url"), sealedSecret: bytes(row, "sealed_secret") },
  }));
}

const LEDGER = "ledger";

/** Lists an account's entries, the newest first. */
export function listLedger(
  db: Connection,
  accountId: AccountId,
  projectId: ProjectId | null,
  page: Page,
): Paged<LedgerEntry> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(LEDGER, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const found = walk(
    db,
    {
      columns: ENTRY_COLUMNS,
      table: "ledger e",
      joins: "",
      within: [{ sql: "e.account_id = ?", values: [accountId] }],
      order: ["e.created_at", "e.entry_id"],
      descending: true,
      after,
      filter:
        projectId === null
          ? []
          : [{ sql: "(e.project_id IS NULL OR e.project_id = ?)", values: [projectId] }],
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(LEDGER, page.limit, found, readEntry);
}

const EVENTS = "webhook_events";

/** Lists a project's events, the newest first. */
export function listEvents(
  db: Connection,
  projectId: ProjectId,
  page: Page,
): Paged<WebhookEvent> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(EVENTS, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const found = walk(
    db,
    {
      columns: `e.event_id, e.project_id, e.type, e.body, e.created_at, e.state, e.attempts, e.next_at,
        e.last_attempt_at, e.last_status, e.last_error`,
      table: "webhook_events e",
      joins: "",
      within: [{ sql: "e.project_id = ?", values: [projectId] }],
      order: ["e.created_at", "e.event_id"],
      descending: true,
      after,
      filter: [],
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(EVENTS, page.limit, found, (row) => ({
    eventId: text(row, "event_id"),
    projectId,
    type: text(row, "type"),
    body: text(row, "body"),
    createdAt: integer(row, "created_at"),
    // Checked by the table.
    state: text(row, "state") as EventState,
    attempts: integer(row, "attempts"),
    nextAt: integerOrNull(row, "next_at"),
    lastAttemptAt: integerOrNull(row, "last_attempt_at"),
    lastStatus: integerOrNull(row, "last_status"),
    lastError: textOrNull(row, "last_error"),
  }));
}
