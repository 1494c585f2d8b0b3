import type { SegmentId } from "../core/ledger-book.ts";
import { DAY_MS, dayOf, HOUR_MS, makeDay, tableOf } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { countCalls } from "./money-writes.ts";
import type { CallRow } from "./store.ts";
import type { WriteContext } from "./write-context.ts";

/** The histogram of the roll-ups: a column for calls of at most so many ms, and one for the rest. */
export const DURATION_BUCKETS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
];

/** The tool of a roll-up whose calls named tools the app does not have. */
const UNKNOWN_TOOL = "-";

/**
 * One call to record: its row, whether only the roll-up takes it, and the segment it counts in where
 * calls are paid for.
 */
export type CallWrite = readonly [
  call: CallRow,
  rollUpOnly: boolean,
  segmentId?: SegmentId | null | undefined,
];

export function recordCall(context: WriteContext, ...write: CallWrite): void {
  recordCalls(context, [write]);
}

/**
 * Records calls together: each has its row, while what they add to one roll-up or to a project's
 * month is written once. All of them are written, or it throws.
 */
export function recordCalls(context: WriteContext, writes: readonly CallWrite[]): void {
  const { db, recent, lastCalls } = context;
  const sums = new Map<string, Sum>();
  const paid = new Map<SegmentId, { calls: number; at: number }>();
  for (const [call, rollUpOnly, segmentId] of writes) {
    if (recent.has(call.callId)) continue;
    if (!rollUpOnly && !insertRow(context, call)) continue;
    if (rollUpOnly) recent.note(call.callId);
    addTo(sums, call);
    if (segmentId !== null && segmentId !== undefined && call.counted) {
      const before = paid.get(segmentId);
      const endedAt = call.startedAt + call.durationMs;
      paid.set(segmentId, {
        calls: (before?.calls ?? 0) + 1,
        at: Math.max(before?.at ?? 0, endedAt),
      });
    }
    lastCalls.note(call.linkId, call.startedAt);
  }
  for (const sum of sums.values()) writeSum(db, sum);
  for (const [segmentId, { calls, at }] of paid) countCalls(context, segmentId, calls, at);
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

/** What a group of calls adds to one row of the roll-ups. */
type Sum = {
  readonly key: readonly [projectId: string, hour: number, tool: string, outcome: string];
  calls: number;
  counted: number;
  durationMs: number;
  /** How many calls fell into each bucket, the last one being for the rest. */
  readonly buckets: number[];
};

function addTo(sums: Map<string, Sum>, call: CallRow): void {
  const hour = call.startedAt - (call.startedAt % HOUR_MS);
  const tool = call.toolKnown ? call.tool : UNKNOWN_TOOL;
  // The tool comes last, since it is the one part that may hold any character.
  const name = `${call.projectId} ${hour} ${call.outcome} ${tool}`;
  let sum = sums.get(name);
  if (sum === undefined) {
    const buckets = Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0);
    const key = [call.projectId, hour, tool, call.outcome] as const;
    sum = { key, calls: 0, counted: 0, durationMs: 0, buckets };
    sums.set(name, sum);
  }
  const fits = DURATION_BUCKETS_MS.findIndex((most) => call.durationMs <= most);
  const bucket = fits === -1 ? DURATION_BUCKETS_MS.length : fits;
  sum.calls += 1;
  sum.counted += Number(call.counted);
  sum.durationMs += call.durationMs;
  sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + 1;
}

function writeSum(db: Connection, { key, calls, counted, durationMs, buckets }: Sum): void {
  db.run(ROLL_UP_SQL, ...key, calls, counted, durationMs, ...buckets);
}

/** The columns of the histogram, in the order of `DURATION_BUCKETS_MS`, the last for the rest. */
export const BUCKET_COLUMNS: readonly string[] = [...DURATION_BUCKETS_MS.map(String), "more"].map(
  (name) => `ms_${name}`,
);
const SUMMED_COLUMNS = ["calls", "counted", "duration_ms", ...BUCKET_COLUMNS];

const ROLL_UP_SQL = `INSERT INTO call_hours (project_id, hour, tool, outcome, ${SUMMED_COLUMNS.join(", ")})
  VALUES (?, ?, ?, ?, ${SUMMED_COLUMNS.map(() => "?").join(", ")}) ON CONFLICT DO UPDATE SET
  ${SUMMED_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`;
