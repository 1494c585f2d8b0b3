import type { Connection, Row } from "./connection.ts";
import { first } from "./migrations/0001-first.ts";
import { histories } from "./migrations/0002-histories.ts";
import { accounts } from "./migrations/0004-accounts.ts";
import { money } from "./migrations/0003-money.ts";
import { dashboard } from "./migrations/0005-dashboard.ts";
import { accountOrder } from "./migrations/0006-account-order.ts";
import { StoreError } from "./store.ts";

/**
 * One step of the schema. Only ever added to the end, and only ever adding: a database is never
 * migrated backwards, and an older step never changes once it has been released (SPEC 11).
 */
export type Migration = { readonly number: number; readonly name: string; readonly sql: string };

export const MIGRATIONS: readonly Migration[] = [
  first,
  histories,
  money,
  accounts,
  dashboard,
  accountOrder,
];

/** Marks the file as one of Relay's ("RLAY"), so that no other program's database is migrated. */
const APPLICATION_ID = 0x52_4c_41_59;

/**
 * Brings the database up to date in one transaction; a new file becomes a Relay database. Refuses
 * one of a newer version, another program's, and a damaged one, changing nothing in it.
 */
export function migrate(db: Connection, migrations: readonly Migration[], now: number): void {
  const applied = isNew(db) ? 0 : schemaNumber(db);
  const newest = migrations.at(-1)?.number ?? 0;
  if (applied > newest) {
    throw new StoreError(
      "newer",
      `The database was written by a newer Relay (its schema is number ${applied}, this one knows ${newest}). Use that version, or restore a backup from before it.`,
    );
  }
  // Takes effect only while the file is empty.
  if (applied === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  if (db.get("PRAGMA journal_mode = WAL")?.["journal_mode"] !== "wal") {
    throw new StoreError(
      "unavailable",
      "The data folder's file system can't hold a database in WAL mode; use a local disk.",
    );
  }
  const missing = migrations.filter(({ number }) => number > applied);
  if (missing.length === 0) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    if (applied === 0) {
      db.exec(
        `PRAGMA application_id = ${APPLICATION_ID};
         CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`,
      );
    }
    for (const { number, name, sql } of missing) {
      db.exec(sql);
      db.run("INSERT INTO migrations VALUES (?, ?, ?)", number, name, now);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isInTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Whether the file is empty: no program has written a table or its mark into it. */
function isNew(db: Connection): boolean {
  const tables = numberIn(db.get("SELECT count(*) AS n FROM sqlite_schema"), "n");
  return tables === 0 && numberIn(db.get("PRAGMA application_id"), "application_id") === 0;
}

/** The number of the newest migration applied; refuses another program's database. */
export function schemaNumber(db: Connection): number {
  if (numberIn(db.get("PRAGMA application_id"), "application_id") !== APPLICATION_ID) {
    throw new StoreError("corrupt", "The file is a database of another program.");
  }
  return numberIn(db.get("SELECT ifnull(max(number), 0) AS n FROM migrations"), "n");
}

function numberIn(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0);
}
