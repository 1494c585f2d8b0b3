import { strict as assert } from "node:assert";
import type { Outcome, ProjectId } from "@relay/protocol";
import { DAY_MS } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { integer, readOutcome } from "./rows.ts";
import type { Usage } from "./store.ts";

/** Adds up the roll-ups of a project's month: `YYYY-MM`, UTC. */
export function usage(db: Connection, projectId: ProjectId, month: string): Usage {
  assert.match(month, /^\d{4}-(0[1-9]|1[0-2])$/);
  const [year, number] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  const rows = db.all(
    `SELECT hour / ${DAY_MS} AS day_number, outcome, sum(calls) AS calls, sum(counted) AS counted
     FROM call_hours WHERE project_id = ? AND hour >= ? AND hour < ?
     GROUP BY day_number, outcome ORDER BY day_number`,
    projectId,
    Date.UTC(year, number - 1),
    Date.UTC(year, number),
  );
  const byOutcome: Partial<Record<Outcome, number>> = {};
  const days = new Map<string, { day: string; counted: number; total: number }>();
  for (const row of rows) {
    const outcome = readOutcome(row);
    const calls = integer(row, "calls");
    const day = new Date(integer(row, "day_number") * DAY_MS).toISOString().slice(0, 10);
    const sums = days.get(day) ?? { day, counted: 0, total: 0 };
    byOutcome[outcome] = (byOutcome[outcome] ?? 0) + calls;
    sums.total += calls;
    sums.counted += integer(row, "counted");
    days.set(day, sums);
  }
  const list = [...days.values()];
  const total = list.reduce((sum, day) => sum + day.total, 0);
  const counted = list.reduce((sum, day) => sum + day.counted, 0);
  return { month, counted, total, byOutcome, days: list };
}
