import { strict as assert } from "node:assert";
import type { Outcome, ProjectId } from "@relay/protocol";
import { DAY_MS } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { integer, readOutcome } from "./rows.ts";
import type { Stats, Usage } from "./store.ts";

/** Adds up the roll-ups of a project's month: `YYYY-MM`, UTC. */
export function usage(db: Connection, projectId: ProjectId, month: string): Usage {
  const [start, end] = boundsOf(month);
  const rows = db.all(
    `SELECT hour / ${DAY_MS} AS day_number, outcome, sum(calls) AS calls, sum(counted) AS counted
     FROM call_hours WHERE project_id = ? AND hour >= ? AND hour < ?
     GROUP BY day_number, outcome ORDER BY day_number`,
    projectId,
    start,
    end,
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

/** Counts what there is, and adds up the roll-ups of every project in a month. */
export function stats(db: Connection, month: string): Stats {
  const [start, end] = boundsOf(month);
  const count = (sql: string): number => integer(db.get(sql) ?? {}, "n");
  const rows = db.all(
    `SELECT outcome, sum(calls) AS calls, sum(counted) AS counted
     FROM call_hours WHERE hour >= ? AND hour < ? GROUP BY outcome`,
    start,
    end,
  );
  const sum = (column: string): number =>
    rows.reduce((total, row) => total + integer(row, column), 0);
  return {
    accounts: count("SELECT count(*) AS n FROM accounts"),
    projects: count("SELECT count(*) AS n FROM projects WHERE deleted_at IS NULL"),
    links: count("SELECT ifnull(sum(live_links), 0) AS n FROM projects WHERE deleted_at IS NULL"),
    connected: count("SELECT count(*) AS n FROM links WHERE owner_node IS NOT NULL"),
    month,
    counted: sum("counted"),
    total: sum("calls"),
    byOutcome: Object.fromEntries(rows.map((row) => [readOutcome(row), integer(row, "calls")])),
  };
}

/** The ms at which a month of UTC begins, and at which the next one does. */
function boundsOf(month: string): readonly [number, number] {
  assert.match(month, /^\d{4}-(0[1-9]|1[0-2])$/);
  const [year, number] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  return [Date.UTC(year, number - 1), Date.UTC(year, number)];
}
