import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AUTH_DATABASE_FILE } from "./auth-file.ts";

const BUSY_MS = 5_000;

/** What is in the people's database, read beside a server that may be running. */
export type PeopleInspection = {
  /** What SQLite finds broken in the file, at most a few lines. */
  readonly damage: readonly string[];
  readonly users: number;
  readonly sessions: number;
};

/** Looks through the people's database of a data folder; null where nobody ever signed in. */
export function inspectPeople(dataDir: string): PeopleInspection | null {
  const path = join(dataDir, AUTH_DATABASE_FILE);
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
  try {
    const tables = db.prepare("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'user'").get();
    if (tables?.["n"] === 0) return null;
    const count = (table: string): number =>
      Number(db.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.["n"]);
    const damage = db
      .prepare("PRAGMA quick_check(5)")
      .all()
      .map((row) => String(row["quick_check"]))
      .filter((line) => line !== "ok");
    return { damage, users: count("user"), sessions: count("session") };
  } finally {
    db.close();
  }
}
