import { strict as assert } from "node:assert";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { mintAccountId } from "../ids.ts";
import { callsOf, isCall } from "./call-cells.ts";
import { recordCalls } from "./call-writes.ts";
import type { CallWrite } from "./call-writes.ts";
import { Connection } from "./connection.ts";
import { failureOf } from "./failure.ts";
import { LAST_CALL_LAG_MS, LastCalls } from "./last-calls.ts";
import { ManifestChanges } from "./manifest-changes.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import { RecentCalls } from "./recent-calls.ts";
import { WalSync } from "./wal-sync.ts";
import type { WriteContext } from "./write-context.ts";
import { performWrite } from "./writes.ts";
import type { Write } from "./writes.ts";
import type {
  FromWriter,
  GroupDone,
  Outcome,
  ToWriter,
  WriterSettings,
} from "./writer-messages.ts";

const CACHE_KIB = 16_384;
const BUSY_MS = 1_000;
/** Retries of calls without a row come within seconds; so many are remembered. */
const RECENT_CALLS_MAX = 20_000;
/** Comparisons of manifests kept: a few kilobytes each at most. */
const MANIFEST_CHANGES_MAX = 256;
/** The log is cut to this size when it begins anew, however long its longest reader once made it. */
const WAL_BYTES_KEPT = 16 * 1024 * 1024;

/** One object for every write that has nothing to tell: it crosses between threads once a group. */
const DONE: Outcome = { result: undefined };

/** The one connection that writes. Runs on a thread of its own, one group of writes at a time. */
class Writer {
  readonly #db: Connection;
  readonly #context: WriteContext;
  readonly #alwaysSynced: boolean;
  readonly #walFile: number;
  readonly #walSync: WalSync;
  #isSynced = true;
  #lastCallsTimer: NodeJS.Timeout | null = null;

  constructor(settings: WriterSettings, onSynced: () => void) {
    this.#db = new Connection(settings.path, {
      readOnly: false,
      cacheKiB: CACHE_KIB,
      busyMs: BUSY_MS,
    });
    migrate(this.#db, MIGRATIONS, Date.now());
    // A file system that can sync for real (macOS) is asked to.
    this.#db.exec(`PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
      PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`);
    makeOperator(this.#db);
    this.#context = {
      db: this.#db,
      dayInserts: new Map(),
      recent: new RecentCalls(RECENT_CALLS_MAX),
      lastCalls: new LastCalls(),
      manifestChanges: new ManifestChanges(MANIFEST_CHANGES_MAX),
    };
    this.#alwaysSynced = settings.durability === "full";
    // SQLite puts no locks on this file, so that closing our own handle can't end any.
    this.#walFile = openSync(`${settings.path}-wal`, "r+");
    this.#walSync = new WalSync(() => {
      try {
        fdatasyncSync(this.#walFile);
      } catch {
        return false;
      }
      onSynced();
      return true;
    });
  }

  /** Commits what succeeds of a group of writes in one transaction. Never throws. */
  perform(writes: readonly Write[]): GroupDone {
    const synced = this.#alwaysSynced || !writes.every(isCall);
    return this.#commit(writes, synced, () => this.#performEach(writes));
  }

  /** The same for a group of calls. */
  record(calls: readonly CallWrite[]): GroupDone {
    return this.#commit(calls, this.#alwaysSynced, () =>
      this.#recordAll(calls) ? null : this.#performEach(calls.map(writeOf)),
    );
  }

  #commit(
    group: readonly unknown[],
    synced: boolean,
    perform: () => readonly Outcome[] | null,
  ): GroupDone {
    const { dayInserts, recent, lastCalls } = this.#context;
    const now = performance.now();
    let outcomes: readonly Outcome[] | null;
    try {
      this.#setSynced(synced);
      this.#db.run("BEGIN IMMEDIATE");
      outcomes = perform();
      const takesLastCalls = lastCalls.isDue(now);
      if (takesLastCalls) lastCalls.write(this.#db);
      this.#db.run("COMMIT");
      if (takesLastCalls) lastCalls.committed(now);
    } catch (error) {
      this.#rollBack();
      dayInserts.clear();
      recent.rollBack();
      if (!lastCalls.isEmpty) this.#writeLastCallsLater();
      const failure = failureOf(error);
      return { type: "done", synced: false, outcomes: group.map(() => ({ failure })) };
    }
    recent.commit();
    if (!lastCalls.isEmpty) this.#writeLastCallsLater();
    if (!synced) this.#walSync.committed();
    return { type: "done", synced, outcomes };
  }

  close(): void {
    this.#context.lastCalls.hurry();
    this.#writeLastCalls();
    if (this.#lastCallsTimer !== null) clearTimeout(this.#lastCallsTimer);
    // Where somebody else has the database open too, closing it syncs nothing.
    this.#walSync.finish();
    this.#db.close();
    closeSync(this.#walFile);
  }

  /** Sees to it that the last calls of a busy moment are written when nothing else comes. */
  #writeLastCallsLater(): void {
    this.#lastCallsTimer ??= setTimeout(() => {
      this.#lastCallsTimer = null;
      this.#writeLastCalls();
    }, LAST_CALL_LAG_MS);
  }

  #writeLastCalls(): void {
    if (this.#context.lastCalls.isEmpty) return;
    this.#commit([], this.#alwaysSynced, () => null);
  }

  #rollBack(): void {
    try {
      if (this.#db.isInTransaction) this.#db.run("ROLLBACK");
    } catch {
      // Then the next group's BEGIN fails, and it is tried again.
    }
  }

  /** Records the calls in one go; false when that failed, so that each must be tried by itself. */
  #recordAll(calls: readonly CallWrite[]): boolean {
    this.#db.run("SAVEPOINT calls");
    try {
      recordCalls(this.#context, calls);
      this.#db.run("RELEASE calls");
      return true;
    } catch (error) {
      if (!this.#db.isInTransaction) throw error;
      this.#db.run("ROLLBACK TO calls");
      this.#db.run("RELEASE calls");
      this.#context.dayInserts.clear();
      this.#context.recent.rollBack();
      return false;
    }
  }

  #performEach(writes: readonly Write[]): Outcome[] {
    return writes.map((write) => this.#performOne(write));
  }

  /** One write that fails, such as for a broken constraint, takes no other down with it. */
  #performOne(write: Write): Outcome {
    this.#db.run("SAVEPOINT one");
    try {
      const result = performWrite(this.#context, write);
      this.#db.run("RELEASE one");
      return result === undefined ? DONE : { result };
    } catch (error) {
      // SQLite has rolled back everything: the group has failed.
      if (!this.#db.isInTransaction) throw error;
      this.#db.run("ROLLBACK TO one");
      this.#db.run("RELEASE one");
      this.#context.dayInserts.clear();
      return { failure: failureOf(error) };
    }
  }

  #setSynced(synced: boolean): void {
    if (synced === this.#isSynced) return;
    this.#db.exec(`PRAGMA synchronous = ${synced ? "FULL" : "NORMAL"}`);
    this.#isSynced = synced;
  }
}

function writeOf(args: CallWrite): Write<"recordCall"> {
  return { verb: "recordCall", args: [...args] };
}

/** The operator's own account is made when the database is. */
function makeOperator(db: Connection): void {
  const now = Date.now();
  db.run(
    `INSERT INTO accounts (account_id, is_operator, created_at) SELECT ?, 1, ?
     WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE is_operator = 1)`,
    mintAccountId(now),
    now,
  );
}

const port = parentPort;
assert(port !== null, "runs as a worker thread");
const say = (message: FromWriter): void => port.postMessage(message);
try {
  // Both ends of this channel are this folder's own.
  const writer = new Writer(workerData as WriterSettings, () => say({ type: "synced" }));
  port.on("message", (message: ToWriter) => {
    if (message.type === "close") {
      writer.close();
      port.close();
      return;
    }
    if (message.type === "calls") say(writer.record(callsOf(message.cells)));
    else say(writer.perform(message.writes));
  });
  say({ type: "opened" });
} catch (error) {
  say({ type: "failed", failure: failureOf(error) });
  port.close();
}
