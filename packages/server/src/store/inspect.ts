import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { listDays, startOfDay, tableOf, DAY_MS } from "./call-days.ts";
import { Connection, translateError } from "./connection.ts";
import { inspectMoney } from "./inspect-money.ts";
import type { MoneyInspection } from "./inspect-money.ts";
import { schemaNumber } from "./migrate.ts";
import { accounts } from "./migrations/0004-accounts.ts";
import { dashboard } from "./migrations/0005-dashboard.ts";
import { integer } from "./rows.ts";
import { DATABASE_FILE } from "./sqlite.ts";

const CACHE_KIB = 16_384;
/** How long a lock that a server holds for a moment is waited for. */
const BUSY_MS = 5_000;

/** A day whose counted rows and hourly sums differ, in a project. */
export type CountFault = {
  readonly projectId: string;
  readonly day: string;
  readonly rows: number;
  readonly sums: number;
};

/** What is in a data folder, read beside a server that may be running, as of one moment. */
export type Inspection = {
  readonly bytes: number;
  readonly schema: number;
  /** What SQLite finds broken in the file, at most a few lines. */
  readonly damage: readonly string[];
  readonly projects: number;
  readonly links: number;
  readonly connected: number;
  /** Days whose rows are kept. */
  readonly days: number;
  readonly counted: number;
  readonly countFaults: readonly CountFault[];
  readonly money: MoneyInspection;
  /** Whether the dashboard's first user was made. */
  readonly isSetUp: boolean;
  /** When the newest call began; null without one. */
  readonly newestCallAt: number | null;
};

/** Looks through the database of a data folder; null where there is none. Throws `StoreError`. */
export function inspect(dataDir: string): Inspection | null {
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) return null;
  try {
    const db = new Connection(path, { readOnly: true, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
    try {
      db.exec("BEGIN");
      return look(db, statSync(path).size);
    } finally {
      db.close();
    }
  } catch (error) {
    throw translateError(error);
  }
}

function look(db: Connection, bytes: number): Inspection {
  const number = (sql: string): number => integer(db.get(sql) ?? {}, "n");
  const damage = db
    .all("PRAGMA quick_check(5)")
    .map((row) => String(row["quick_check"]))
    .filter((line) => line !== "ok");
  const days = listDays(db);
  const [newest] = days;
  const newestCall =
    newest === undefined
      ? undefined
      : db.get(`SELECT max(started_at) AS n FROM ${tableOf(newest)}`)?.["n"];
  return {
    bytes,
    schema: schemaNumber(db),
    damage,
    projects: number(
      `SELECT count(*) AS n FROM projects WHERE project_id NOT IN (${goneProjects(db)})`,
    ),
    links: number("SELECT count(*) AS n FROM links WHERE revoked_at IS NULL"),
    connected: number("SELECT count(*) AS n FROM links WHERE owner_node IS NOT NULL"),
    days: days.length,
    counted: number("SELECT ifnull(sum(counted), 0) AS n FROM call_hours"),
    countFaults: days.flatMap((day) => countFaultsOf(db, day)),
    money: inspectMoney(db, goneProjects(db), Date.now()),
    isSetUp:
      schemaNumber(db) >= accounts.number &&
      number("SELECT count(*) AS n FROM set_up WHERE user_id IS NOT NULL") > 0,
    newestCallAt: typeof newestCall === "number" ? newestCall : null,
  };
}

/** Compares a day's counted rows with its hourly sums, project by project (SPEC 7). */
function countFaultsOf(db: Connection, day: string): CountFault[] {
  const start = startOfDay(day);
  return db
    .all(
      `SELECT project_id, sum(in_rows) AS in_rows, sum(in_sums) AS in_sums FROM (
         SELECT project_id, sum(counted) AS in_rows, 0 AS in_sums FROM ${tableOf(day)} GROUP BY project_id
         UNION ALL
         SELECT project_id, 0, sum(counted) FROM call_hours WHERE hour >= ? AND hour < ? GROUP BY project_id
       ) WHERE project_id NOT IN (${goneProjects(db)})
       GROUP BY project_id HAVING sum(in_rows) <> sum(in_sums)`,
      start,
      start + DAY_MS,
    )
    .map((row) => ({
      projectId: String(row["project_id"]),
      day: new Date(start).toISOString().slice(0, 10),
      rows: integer(row, "in_rows"),
      sums: integer(row, "in_sums"),
    }));
}

/** Selects the deleted projects, whose rows and sums are on their way out. */
function goneProjects(db: Connection): string {
  return schemaNumber(db) < dashboard.number
    ? "SELECT project_id FROM projects LIMIT 0"
    : "SELECT project_id FROM projects WHERE deleted_at IS NOT NULL";
}
