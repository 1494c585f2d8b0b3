import { strict as assert } from "node:assert";
import { DAY_MS, dayOf, HOUR_MS, makeDay, tableOf } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import type { CallRow } from "./store.ts";
import type { WriteContext } from "./write-context.ts";

/** The histogram of the roll-ups: a column for calls of at most so many ms, and one for the rest. */
export const DURATION_BUCKETS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
];

/** The tool of a roll-up whose calls named tools the app does not have. */
const UNKNOWN_TOOL = "-";

export function recordCall(context: WriteContext, call: CallRow, rollUpOnly: boolean): void {
  const { db, recent } = context;
  if (recent.has(call.callId)) return;
  if (!rollUpOnly && !insertRow(context, call)) return;
  rollUp(db, call);
  db.run(
    "UPDATE links SET last_call_at = max(ifnull(last_call_at, 0), ?) WHERE link_id = ?",
    call.startedAt,
    call.linkId,
  );
  if (rollUpOnly) recent.note(call.callId);
}

/** Inserts the row; false when a row of that call was there already, so that all was written. */
function insertRow({ db, dayInserts }: WriteContext, call: CallRow): boolean {
  const inserted = db.run(
    insertSql(db, dayInserts, call.startedAt),
    call.projectId,
    call.startedAt,
    call.callId,
    call.linkId,
    call.tool,
    Number(call.toolKnown),
    call.client?.name ?? null,
    call.client?.version ?? null,
    call.outcome,
    Number(call.counted),
    call.durationMs,
    call.requestBytes,
    call.resultBytes,
    call.requestId,
  );
  return inserted > 0;
}

/** Returns the INSERT of a day's table, which is made before the day's first row. */
function insertSql(db: Connection, dayInserts: Map<number, string>, startedAt: number): string {
  const dayNumber = Math.floor(startedAt / DAY_MS);
  const known = dayInserts.get(dayNumber);
  if (known !== undefined) return known;
  const day = dayOf(startedAt);
  makeDay(db, day);
  const sql = `INSERT INTO ${tableOf(day)} (project_id, started_at, call_id, link_id, tool,
      tool_known, client_name, client_version, outcome, counted, duration_ms, request_bytes,
      result_bytes, request_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
  dayInserts.set(dayNumber, sql);
  return sql;
}

function rollUp(db: Connection, call: CallRow): void {
  db.run(
    rollUpSql(call.durationMs),
    call.projectId,
    call.startedAt - (call.startedAt % HOUR_MS),
    call.toolKnown ? call.tool : UNKNOWN_TOOL,
    call.outcome,
    Number(call.counted),
    call.durationMs,
  );
}

/** One text for each bucket, so that its statement is prepared once. */
const ROLL_UP_SQL: readonly string[] = [...DURATION_BUCKETS_MS.map(String), "more"].map(
  (
    name,
  ) => `INSERT INTO call_hours (project_id, hour, tool, outcome, calls, counted, duration_ms, ms_${name})
   VALUES (?, ?, ?, ?, 1, ?, ?, 1) ON CONFLICT DO UPDATE SET calls = calls + 1,
     counted = counted + excluded.counted, duration_ms = duration_ms + excluded.duration_ms,
     ms_${name} = ms_${name} + 1`,
);

function rollUpSql(durationMs: number): string {
  const bucket = DURATION_BUCKETS_MS.findIndex((most) => durationMs <= most);
  // Where no bucket is long enough the index is -1, which is the last text.
  const sql = ROLL_UP_SQL.at(bucket);
  assert(sql !== undefined);
  return sql;
}
