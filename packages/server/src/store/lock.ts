import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "./store.ts";

/** Held for as long as its process lives, unless released before. */
export type FolderLock = { release(): void };

/** A lock that is garbage collected would be released: those in force are held here. */
const held = new Set<DatabaseSync>();

/**
 * Takes the one lock of a data folder, which is made if it is not there (mode 0700). Returns null
 * when somebody else holds it. The system gives it back when the process dies, however it dies.
 * Nothing else may open `lock.db` in this process: closing any handle to it would end the lock.
 */
export function lockDataFolder(dataDir: string): FolderLock | null {
  const path = join(dataDir, "lock.db");
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    makePrivateFile(path);
    // SQLite would open a file it may not write for reading, and then lock nothing.
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const message = `The data folder ${dataDir} can't be written: ${textOf(error)}`;
    throw new StoreError("unavailable", message, { cause: error });
  }
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw new StoreError("unavailable", `${path} can't be locked: ${textOf(error)}`, {
      cause: error,
    });
  }
  held.add(db);
  return {
    release: () => {
      if (held.delete(db)) db.close();
    },
  };
}

/** Makes an empty file that only its owner can read, unless the file is there already. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
