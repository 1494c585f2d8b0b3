import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync, backup } from "node:sqlite";
import { Connection, translateError } from "./connection.ts";
import { schemaNumber } from "./migrate.ts";
import { DATABASE_FILE } from "./sqlite.ts";
import { StoreError } from "./store.ts";

/** What else of a data folder a backup carries, where it is there. */
const SECRET_FILES = ["operator-token", "seal.key", "auth.key"] as const;
/** The people's database, which another room of the server writes. */
const AUTH_DATABASE = "auth.db";
const PAGES_A_STEP = 1_000;
const CACHE_KIB = 2_048;
/** How long a lock that a server holds for a moment is waited for. */
const BUSY_MS = 5_000;

/**
 * Copies a data folder into one new file, consistent although a server may be writing: the database
 * as of one moment, and the folder's secrets with it. Rejects with a `StoreError`, leaving no file.
 */
export async function backUp(dataDir: string, file: string): Promise<void> {
  const source = join(dataDir, DATABASE_FILE);
  if (!existsSync(source)) throw new StoreError("unavailable", `There is no ${source}.`);
  // Made first, so that the copy is never readable for others.
  makePrivate(file);
  const from = new DatabaseSync(source, { readOnly: true });
  try {
    await backup(from, file, { rate: PAGES_A_STEP });
    const copy = new Connection(file, { readOnly: false, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
    copy.exec(
      `PRAGMA journal_mode = DELETE;
       CREATE TABLE backup_files (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT`,
    );
    for (const name of SECRET_FILES.filter((known) => existsSync(join(dataDir, known)))) {
      copy.run("INSERT INTO backup_files VALUES (?, ?)", name, readFileSync(join(dataDir, name)));
    }
    // After the other one: a user without an account is better than an account without its user.
    const people = await copyOfPeople(dataDir, `${file}.${AUTH_DATABASE}`);
    if (people !== null) {
      copy.run("INSERT INTO backup_files VALUES (?, ?)", AUTH_DATABASE, people);
    }
    copy.close();
  } catch (error) {
    rmSync(file, { force: true });
    throw translateError(error);
  } finally {
    from.close();
  }
}

/** The people's database as of one moment; null where there is none. `half` is there for a moment. */
async function copyOfPeople(dataDir: string, half: string): Promise<Uint8Array | null> {
  const source = join(dataDir, AUTH_DATABASE);
  if (!existsSync(source)) return null;
  makePrivate(half);
  const from = new DatabaseSync(source, { readOnly: true });
  try {
    await backup(from, half, { rate: PAGES_A_STEP });
    const copy = new Connection(half, { readOnly: false, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
    copy.exec("PRAGMA journal_mode = DELETE");
    copy.close();
    return readFileSync(half);
  } finally {
    from.close();
    rmSync(half, { force: true });
  }
}

/**
 * Makes a data folder of a backup. The folder must be missing or empty; it gets mode 0700. Throws a
 * `StoreError` where the file is no backup or the folder holds something.
 */
export function restore(file: string, dataDir: string): void {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new StoreError("unavailable", `${dataDir} is not empty; restore into a new folder.`);
  }
  const secrets = secretsIn(file);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The database appears under its own name only once it is whole.
  const half = join(dataDir, `${DATABASE_FILE}.restoring`);
  makePrivate(half);
  copyFileSync(file, half);
  const db = new Connection(half, { readOnly: false, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
  db.exec("DROP TABLE backup_files; PRAGMA journal_mode = WAL");
  db.close();
  for (const [name, content] of secrets) {
    writeFileSync(join(dataDir, name), content, { mode: 0o600 });
  }
  renameSync(half, join(dataDir, DATABASE_FILE));
}

/** The secret files in a backup; refuses a file that is no backup. */
function secretsIn(file: string): ReadonlyMap<string, Uint8Array> {
  if (!existsSync(file)) throw new StoreError("unavailable", `There is no ${file}.`);
  try {
    const db = new Connection(file, { readOnly: true, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
    try {
      schemaNumber(db);
      return secretRows(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw new StoreError("corrupt", `${file} is not a backup of a Relay.`, { cause: error });
  }
}

function secretRows(db: Connection): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  for (const name of [...SECRET_FILES, AUTH_DATABASE]) {
    const content = db.get("SELECT content FROM backup_files WHERE name = ?", name)?.["content"];
    if (content instanceof Uint8Array) found.set(name, content);
  }
  return found;
}

function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreError("unavailable", `${file} can't be made: ${why}`, { cause: error });
  }
}
