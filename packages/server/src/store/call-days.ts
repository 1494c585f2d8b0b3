import { strict as assert } from "node:assert";
import type { Connection } from "./connection.ts";

/** A UTC day as `YYYYMMDD`, which sorts by age. */
export type CallDay = string;

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Calls live in one table for each UTC day of their start, so that a day can be dropped whole. */
const TABLE = "calls_";
/** A day on its way out: no list sees it any more, and it is emptied in small steps. */
const EXPIRED = "expired_";
const DAY = /^\d{8}$/;

export function dayOf(startedAt: number): CallDay {
  return new Date(startedAt).toISOString().slice(0, 10).replaceAll("-", "");
}

/** The ms at which a day begins. */
export function startOfDay(day: CallDay): number {
  assert.match(day, DAY);
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
}

export function tableOf(day: CallDay): string {
  return `${TABLE}${day}`;
}

/** Lists the days that have a table, the newest first. */
export function listDays(db: Connection): readonly CallDay[] {
  return daysNamed(db, TABLE).toReversed();
}

/** Makes a day's table unless it is there. Its key is the order in which calls are listed. */
export function makeDay(db: Connection, day: CallDay): void {
  assert.match(day, DAY);
  db.exec(`CREATE TABLE IF NOT EXISTS ${tableOf(day)} (
    project_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    link_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_known INTEGER NOT NULL,
    client_name TEXT,
    client_version TEXT,
    outcome TEXT NOT NULL,
    counted INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    request_bytes INTEGER NOT NULL,
    result_bytes INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    PRIMARY KEY (project_id, started_at, call_id)
  ) STRICT, WITHOUT ROWID`);
}

/** Takes the oldest day that ended by `cutoff` out of every list; false when there is none. */
export function expireOldestDay(db: Connection, cutoff: number): boolean {
  const [oldest] = daysNamed(db, TABLE);
  if (oldest === undefined || startOfDay(oldest) + DAY_MS > cutoff) return false;
  db.exec(`ALTER TABLE ${tableOf(oldest)} RENAME TO ${EXPIRED}${oldest}`);
  return true;
}

/** Up to so many rows a table is dropped at once: about 10 ms. */
const DROP_ROWS_MAX = 20_000;
/** Rows deleted in one step: about 5 ms. */
const STEP_ROWS = 2_000;

/**
 * Drops a small part of what has expired; false when nothing is left. A whole table of a million
 * rows would hold the writer up for 0.4 s.
 */
export function dropExpired(db: Connection): boolean {
  const [day] = daysNamed(db, EXPIRED);
  if (day === undefined) return false;
  const table = `${EXPIRED}${day}`;
  if (db.get(`SELECT 1 FROM ${table} LIMIT 1 OFFSET ${DROP_ROWS_MAX}`) === undefined) {
    db.exec(`DROP TABLE ${table}`);
    return true;
  }
  let dropped = 0;
  while (dropped < STEP_ROWS) dropped += deleteFirstRows(db, table);
  return true;
}

/** Deletes up to `STEP_ROWS` rows of the first project in a table that has rows. */
function deleteFirstRows(db: Connection, table: string): number {
  return db.run(
    `WITH first AS (SELECT project_id FROM ${table} LIMIT 1)
     DELETE FROM ${table} WHERE project_id = (SELECT project_id FROM first) AND started_at <= ifnull(
       (SELECT started_at FROM ${table} WHERE project_id = (SELECT project_id FROM first)
        ORDER BY started_at LIMIT 1 OFFSET ${STEP_ROWS}), ${Number.MAX_SAFE_INTEGER})`,
  );
}

function daysNamed(db: Connection, prefix: string): CallDay[] {
  return db
    .all(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? ORDER BY name",
      `${prefix}[0-9]*`,
    )
    .map(({ name }) => String(name).slice(prefix.length));
}
