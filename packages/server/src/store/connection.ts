import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { StoreError } from "./store.ts";

export type Row = Record<string, SQLOutputValue>;

export type ConnectionOptions = {
  readonly readOnly: boolean;
  /** Memory for pages of the file. */
  readonly cacheKiB: number;
  /** How long a statement blocks its thread while another process, say a shell's, holds a lock. */
  readonly busyMs: number;
};

/** Statements kept prepared; past it they are all let go and prepared again. */
const STATEMENTS_MAX = 256;

/** One connection to a database file, whose statements are prepared once each. */
export class Connection {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, options: ConnectionOptions) {
    this.#db = new DatabaseSync(path, { readOnly: options.readOnly, timeout: options.busyMs });
    this.#db.exec(`PRAGMA cache_size = -${options.cacheKiB}; PRAGMA temp_store = MEMORY`);
  }

  /** Whether a transaction is open; SQLite ends one by itself after some failures. */
  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Runs statements that are not worth keeping prepared. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    if (this.#db.isOpen) this.#db.close();
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= STATEMENTS_MAX) this.#statements.clear();
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** SQLite's primary result codes that mean "not now": the disk, its rights, or somebody's lock. */
const AWAY: ReadonlySet<number> = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  9, // INTERRUPT
  10, // IOERR
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
]);
/** CORRUPT and NOTADB. */
const BROKEN: ReadonlySet<number> = new Set([11, 26]);

/** Translates what SQLite threw; an error that is not the disk's fault is a bug and stays itself. */
export function translateError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (!("errcode" in error) || typeof error.errcode !== "number") return error;
  const primary = error.errcode & 0xff;
  if (BROKEN.has(primary)) {
    return new StoreError("corrupt", `The database is damaged: ${error.message}`, { cause: error });
  }
  if (!AWAY.has(primary)) return error;
  return new StoreError("unavailable", `The database can't be used now: ${error.message}`, {
    cause: error,
  });
}
