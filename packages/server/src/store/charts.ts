import type { Outcome, ProjectId } from "@relay/protocol";
import { HOUR_MS } from "./call-days.ts";
import { BUCKET_COLUMNS, DURATION_BUCKETS_MS } from "./call-writes.ts";
import type { Connection } from "./connection.ts";
import { integer, readOutcome, text } from "./rows.ts";
import type { ChartSpan, HourOfCalls, ToolLatency } from "./store.ts";

/** Tools that one answer shows: those with the most calls. */
const TOOLS_MAX = 200;

/** Adds up the roll-ups of each hour of a span, by outcome; hours without a call are left out. */
export function hours(
  db: Connection,
  projectId: ProjectId,
  { from, to }: ChartSpan,
  tool: string | null,
): readonly HourOfCalls[] {
  const rows = db.all(
    `SELECT hour, outcome, sum(calls) AS calls FROM call_hours
     WHERE project_id = ? AND hour >= ? AND hour < ? ${tool === null ? "" : "AND tool = ?"}
     GROUP BY hour, outcome ORDER BY hour`,
    projectId,
    from - (from % HOUR_MS),
    to,
    ...(tool === null ? [] : [tool]),
  );
  const byHour = new Map<number, Partial<Record<Outcome, number>>>();
  for (const row of rows) {
    const hour = integer(row, "hour");
    const byOutcome = byHour.get(hour) ?? {};
    byOutcome[readOutcome(row)] = integer(row, "calls");
    byHour.set(hour, byOutcome);
  }
  return [...byHour].map(([hour, byOutcome]) => ({ hour, byOutcome }));
}

/** Adds up the histograms of the calls that an app answered in a span, by tool, the busiest first. */
export function latencies(
  db: Connection,
  projectId: ProjectId,
  { from, to }: ChartSpan,
): readonly ToolLatency[] {
  const sums = BUCKET_COLUMNS.map((column) => `sum(${column}) AS ${column}`);
  return db
    .all(
      `SELECT tool, sum(calls) AS calls, ${sums.join(", ")} FROM call_hours
       WHERE project_id = ? AND hour >= ? AND hour < ? AND outcome IN ('ok', 'tool_error')
       GROUP BY tool ORDER BY sum(calls) DESC, tool LIMIT ${TOOLS_MAX}`,
      projectId,
      from - (from % HOUR_MS),
      to,
    )
    .map((row) => ({
      tool: text(row, "tool"),
      calls: integer(row, "calls"),
      buckets: BUCKET_COLUMNS.map((column, at) => ({
        upToMs: DURATION_BUCKETS_MS[at] ?? null,
        calls: integer(row, column),
      })),
    }));
}
