import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordCalls } from "../../store/call-writes.ts";
import type { CallWrite } from "../../store/call-writes.ts";
import { Connection } from "../../store/connection.ts";
import { LastCalls } from "../../store/last-calls.ts";
import { ManifestChanges } from "../../store/manifest-changes.ts";
import { MIGRATIONS, migrate } from "../../store/migrate.ts";
import { RecentCalls } from "../../store/recent-calls.ts";
import type { WriteContext } from "../../store/write-context.ts";

/** A write that waits: `perform` in a transaction, then `done` or `failed` once its answer comes. */
export type Pending = {
  readonly call: CallWrite | null;
  readonly perform: (context: WriteContext) => void;
  /** Told when it is committed, in the order of the commits. */
  readonly committed: () => void;
  readonly done: () => void;
  readonly failed: () => void;
};

/** What becomes of a group: it is committed; it is not; it is, and its answers are lost. */
export type Fate = "committed" | "failed" | "lost";

/**
 * The writer thread of a store, step by step: writes wait, groups are committed, answers come. A
 * crash may fall between any two.
 */
export class LedgerDisk {
  readonly folder = mkdtempSync(join(tmpdir(), "relay-ledger-"));
  readonly db: Connection;
  readonly context: WriteContext;
  #queue: Pending[] = [];
  #answers: (() => void)[] = [];

  constructor() {
    const path = join(this.folder, "relay.db");
    this.db = new Connection(path, { readOnly: false, cacheKiB: 8_192, busyMs: 0 });
    migrate(this.db, MIGRATIONS, 0);
    this.db.exec("PRAGMA synchronous = OFF");
    this.context = this.#freshContext();
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get answers(): number {
    return this.#answers.length;
  }

  write(pending: Pending): void {
    this.#queue.push(pending);
  }

  /** Takes the first `size` writes as one group. */
  commit(size: number, fate: Fate): void {
    const group = this.#queue.splice(0, size);
    if (group.length === 0) return;
    this.db.run("BEGIN IMMEDIATE");
    const calls = group.flatMap(({ call }) => (call === null ? [] : [call]));
    if (calls.length === group.length) recordCalls(this.context, calls);
    else for (const one of group) one.perform(this.context);
    this.db.run(fate === "failed" ? "ROLLBACK" : "COMMIT");
    if (fate === "failed") {
      this.context.dayInserts.clear();
      this.context.recent.rollBack();
      this.#answers.push(...group.map(({ failed }) => failed));
      return;
    }
    this.context.recent.commit();
    for (const one of group) one.committed();
    this.#answers.push(...group.map((one) => (fate === "lost" ? one.failed : one.done)));
  }

  /** Lets the first answers come. */
  answer(count: number): void {
    for (const tell of this.#answers.splice(0, count)) tell();
  }

  /** The process is gone: what waited and what was not answered never comes. */
  crash(): void {
    this.#queue = [];
    this.#answers = [];
    this.context.dayInserts.clear();
  }

  end(): void {
    this.db.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #freshContext(): WriteContext {
    return {
      db: this.db,
      dayInserts: new Map(),
      recent: new RecentCalls(1_000),
      lastCalls: new LastCalls(),
      manifestChanges: new ManifestChanges(1),
    };
  }
}
