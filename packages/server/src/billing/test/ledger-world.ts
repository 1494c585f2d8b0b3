import assert from "node:assert/strict";
import type { AccountId, CallId } from "@relay/protocol";
import type { Random } from "../../core/schema/test/random.ts";
import { BILLING_MODES } from "../../core/ledger.ts";
import type { BillingMode } from "../../core/ledger.ts";
import type { OpenedMonth } from "../../core/ledger-book.ts";
import { monthAt, monthNamed } from "../../core/ledger-month.ts";
import type { Reservation } from "../../core/link.ts";
import { mintAccountId, mintLinkId, mintProjectId, mintToken } from "../../ids.ts";
import { openLog } from "../../observe/log.ts";
import type { Quota } from "../../relay/quota.ts";
import { unlimitedQuota } from "../../relay/quota.ts";
import { newCall, newProject } from "../../store/contract/records.ts";
import { inspectMoney } from "../../store/inspect-money.ts";
import type { BookedCredit } from "../../store/money.ts";
import { StoreError } from "../../store/store.ts";
import { performWrite } from "../../store/writes.ts";
import { LedgerQuota } from "../ledger-quota.ts";
import { checkBooks } from "./ledger-books.ts";
import { LedgerDisk } from "./ledger-disk.ts";
import type { Pending } from "./ledger-disk.ts";
import { LedgerModel, sum } from "./ledger-model.ts";
import type { ModelProject, ModelSegment, Settings } from "./ledger-model.ts";

const MINUTE = 60_000;
const NO_PROJECTS = "SELECT project_id FROM projects LIMIT 0";
const LINK = mintLinkId(0);
const log = openLog("silent");

/** A call that was admitted and has not ended. */
type Live = {
  readonly callId: CallId;
  readonly project: ModelProject;
  readonly segment: ModelSegment | null;
  readonly startedAt: number;
};

type Action = readonly [weight: number, act: () => void | Promise<void>];

/** A month that is being opened; outdated once its project is known to have changed. */
type Opening = { readonly project: ModelProject; isOutdated: boolean };

/**
 * A Relay's money with everything around it made of chance: calls that end in every way, settings
 * and credits that change, a disk that fails, a clock that passes midnight, and crashes.
 */
export class LedgerWorld {
  readonly disk = new LedgerDisk();
  readonly model: LedgerModel;
  readonly #random: Random;
  readonly #actions: readonly Action[];
  readonly #weights: number;
  #quota: Quota = unlimitedQuota;
  #ledger: LedgerQuota | null = null;
  #live: Live[] = [];
  #timers: (() => void)[] = [];
  #openings = new Set<Opening>();
  #now: number;
  #run = 0;
  #commits = 0;
  /** What a late verdict found wrong. */
  #fault: unknown = null;
  steps = 0;
  crashes = 0;

  constructor(random: Random) {
    this.#random = random;
    // A few minutes before the end of a month.
    this.#now = monthNamed("2026-10").endMs - 5 * MINUTE;
    this.model = new LedgerModel(this.#makeProjects());
    this.#actions = [
      [34, () => this.#call()],
      [24, () => this.#answer()],
      [6, () => this.#disconnect()],
      [20, () => this.#commit()],
      [16, () => this.#hear(1 + random.below(6))],
      [2, () => this.#changeSettings()],
      [2, () => this.#credit()],
      [1, () => this.#replayCredit()],
      [0.5, () => this.#passTime()],
      [0.2, () => this.#fireTimers()],
      [0.8, () => this.#restart(this.model.mode)],
      [0.3, () => this.#restart(random.pick(BILLING_MODES))],
    ];
    this.#weights = sum(this.#actions, ([weight]) => weight);
    this.#restart("prepaid");
  }

  /** Takes one step and looks whether everything still adds up. */
  async step(): Promise<void> {
    let left = this.#random.next() * this.#weights;
    const [, act] = this.#actions.find(([weight]) => (left -= weight) < 0) ?? [0, () => undefined];
    const commits = this.#commits;
    await act();
    await settled();
    if (this.#fault !== null) throw this.#fault;
    this.steps += 1;
    if (this.#commits !== commits) this.#checkBooks();
    this.#checkMemory();
  }

  /** Lets everything end: nothing may stay reserved. */
  async end(): Promise<void> {
    while (this.#live.length > 0) this.#answer();
    while (this.disk.waiting + this.disk.answers > 0) {
      this.disk.commit(50, "committed");
      await this.#hear(50);
      while (this.#live.length > 0) this.#disconnect();
    }
    this.#checkBooks();
    assert.equal(this.#ledger?.reservations ?? 0, 0, "nothing is reserved for ever");
  }

  #makeProjects(): ModelProject[] {
    const accounts = [0, 1].map(() => mintAccountId(0));
    return [0, 0, 1, 1].map((which) => {
      const account = accounts[which] ?? mintAccountId(0);
      const settings = this.#anySettings();
      const project = { id: mintProjectId(0), account, settings };
      const { db } = this.disk;
      db.run(
        "INSERT OR IGNORE INTO accounts (account_id, is_operator, created_at) VALUES (?, 0, 0)",
        account,
      );
      performWrite(this.disk.context, {
        verb: "createProject",
        args: [
          newProject({
            projectId: project.id,
            accountId: account,
            ...columnsOf(settings),
          }),
          [],
        ],
      });
      return project;
    });
  }

  #anySettings(): Settings {
    const random = this.#random;
    return {
      allowance: random.chance(0.05) ? null : random.below(12),
      price: random.pick([0, 1_000, 1_000, 2_500]),
      cap: random.chance(0.2) ? null : random.below(12) * 1_000,
    };
  }

  #call(): void {
    const project = this.#anyProject();
    const callId = mintToken("callId");
    const at = this.#now;
    const run = this.#run;
    const verdict = this.#quota.reserve(project.id, callId, at);
    if (typeof verdict === "string") return this.#decided(project, callId, at, verdict);
    void this.#decidedLate(verdict, (late) => {
      // Else the process that asked is gone.
      if (run === this.#run) this.#decided(project, callId, at, late);
    });
  }

  async #decidedLate(verdict: Promise<Reservation>, then: (late: Reservation) => void) {
    const late = await verdict;
    try {
      then(late);
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #decided(project: ModelProject, callId: CallId, startedAt: number, verdict: Reservation): void {
    const month = monthAt(startedAt).name;
    const segment =
      this.#ledger === null ? null : this.model.judge(project, month, callId, verdict);
    if (verdict !== "admitted") return;
    assert.equal(this.#quota.segmentOf?.(callId) ?? null, segment?.id ?? null);
    this.#live.push({ callId, project, segment, startedAt });
  }

  /** A call counts: it ended `ok`, late or not. */
  #answer(): void {
    const live = this.#takeLive();
    if (live !== null) this.#record(live);
  }

  #record(live: Live): void {
    const { callId, project, segment, startedAt } = live;
    const run = this.#run;
    const row = newCall(project.id, LINK, { callId, startedAt, durationMs: this.#now - startedAt });
    const segmentId = this.#quota.segmentOf?.(callId) ?? null;
    let isCommitted = false;
    const write: Pending = {
      call: [row, false, segmentId],
      perform: (context) =>
        performWrite(context, { verb: "recordCall", args: [row, false, segmentId] }),
      committed: () => {
        if (isCommitted) return;
        isCommitted = true;
        this.#counted(live);
      },
      done: () => run === this.#run && this.#quota.spend(project.id, callId),
      // Its row is tried until it is written; it may have been.
      failed: () => run === this.#run && this.disk.write(write),
    };
    this.disk.write(write);
    if (segment !== null) assert.ok(segment.live.has(callId));
  }

  #counted({ callId, project, segment, startedAt }: Live): void {
    if (segment === null) {
      const key = `${project.id} ${monthAt(startedAt).name}`;
      this.model.outside.set(key, (this.model.outside.get(key) ?? 0) + 1);
      return;
    }
    segment.live.delete(callId);
    segment.counted += 1;
  }

  /** A call does not count: its place is given back, and its row says so. */
  #disconnect(): void {
    const live = this.#takeLive();
    if (live === null) return;
    const { callId, project, segment, startedAt } = live;
    segment?.live.delete(callId);
    this.#quota.release(project.id, callId);
    // Some callers are not sure whether they did already.
    if (this.#random.chance(0.2)) this.#quota.release(project.id, callId);
    const changes = { callId, startedAt, outcome: "disconnected", counted: false } as const;
    const row = newCall(project.id, LINK, changes);
    this.disk.write({
      call: [row, false, null],
      perform: (context) => performWrite(context, { verb: "recordCall", args: [row, false, null] }),
      committed: () => undefined,
      done: () => undefined,
      failed: () => undefined,
    });
  }

  #commit(): void {
    const fate = this.#random.chance(0.04) ? "failed" : this.#random.chance(0.04) ? "lost" : null;
    this.disk.commit(1 + this.#random.below(8), fate ?? "committed");
    this.#commits += 1;
  }

  /** Answers come one by one: what follows from each follows before the next. */
  async #hear(answers: number): Promise<void> {
    for (let n = 0; n < answers && this.disk.answers > 0; n += 1) {
      this.disk.answer(1);
      await settled();
    }
  }

  #changeSettings(): void {
    const project = this.#anyProject();
    const any = this.#anySettings();
    const settings: Settings = this.#random.chance(0.5)
      ? { ...project.settings, cap: any.cap }
      : any;
    const told = (): void => {
      this.model.settingsChanged(project);
      for (const opening of this.#openings)
        if (opening.project === project) opening.isOutdated = true;
      this.#quota.projectChanged?.(project.id);
    };
    this.disk.write({
      call: null,
      perform: (context) => {
        performWrite(context, { verb: "changeProject", args: [project.id, columnsOf(settings)] });
      },
      committed: () => (project.settings = settings),
      done: told,
      failed: told,
    });
  }

  #credit(): void {
    const accounts = this.model.projects.map(({ account }) => account);
    const account = accounts[this.#random.below(accounts.length)] ?? "";
    const amount = (this.#random.below(14) - 2) * 1_000;
    if (amount !== 0) this.#book(account, amount, mintToken("callId"));
  }

  #replayCredit(): void {
    const known = [...this.model.entries];
    const [sourceKey, entry] = known[this.#random.below(known.length)] ?? [];
    if (sourceKey === undefined || entry === undefined) return;
    const isOther = this.#random.chance(0.2);
    this.#book(entry.account, entry.amount + (isOther ? 1 : 0), sourceKey);
  }

  #book(account: string, amountMicros: number, sourceKey: string): void {
    const run = this.#run;
    // Of an account that is there.
    const accountId = account as AccountId;
    const base = { kind: "grant", note: "", createdAt: this.#now } as const;
    const credit = { ...base, entryId: mintToken("callId"), accountId, amountMicros, sourceKey };
    let booked: BookedCredit | null = null;
    const write: Pending = {
      call: null,
      perform: (context) =>
        (booked = performWrite(context, { verb: "bookCredit", args: [credit] })),
      committed: () => {
        const before = this.model.entries.get(sourceKey);
        const isSame = before?.account === account && before.amount === amountMicros;
        const expected = before === undefined ? "booked" : isSame ? "known" : "other_credit";
        assert.equal(booked?.type, expected, "a source key is booked once");
        if (before === undefined)
          this.model.entries.set(sourceKey, { account, amount: amountMicros });
      },
      done: () => {
        if (run !== this.#run || booked === null || !("account" in booked)) return;
        this.model.toldOfCredits(account, booked.account.credits);
        this.#ledger?.credited(booked.account);
      },
      // Whoever told of it tells again.
      failed: () => this.disk.write(write),
    };
    this.disk.write(write);
  }

  /** Some minutes, and now and then so many that a month is over. */
  #passTime(): void {
    const isMonth = this.#random.chance(0.3);
    this.#now += isMonth ? 31 * 24 * 60 * MINUTE : this.#random.below(20) * MINUTE;
  }

  #fireTimers(): void {
    for (const fire of this.#timers.splice(0)) fire();
  }

  /** The process ends at once, and another one starts. */
  #restart(mode: BillingMode): void {
    this.crashes += 1;
    this.#run += 1;
    this.disk.crash();
    this.#live = [];
    this.#timers = [];
    this.model.restarted(mode);
    performWrite(this.disk.context, { verb: "startBilling", args: [mode, 3_000, this.#now] });
    const clock = {
      monotonic: () => this.#now,
      wall: () => this.#now,
      after: (_ms: number, run: () => void) => {
        this.#timers.push(run);
        return () => (this.#timers = this.#timers.filter((other) => other !== run));
      },
    };
    // Fewer than there are, so that some are forgotten.
    const deps = { store: { openMonth: this.#openMonth }, clock, log, projectsMax: 3 };
    this.#ledger = mode === "off" ? null : new LedgerQuota(deps);
    this.#quota = this.#ledger ?? unlimitedQuota;
  }

  readonly #openMonth = (projectId: string, month: string, at: number) => {
    const project = this.model.projects.find(({ id }) => id === projectId);
    assert.ok(project !== undefined);
    const run = this.#run;
    const opening = { project, isOutdated: false };
    this.#openings.add(opening);
    return new Promise<OpenedMonth | null>((resolve, reject) => {
      let opened: OpenedMonth | null = null;
      this.disk.write({
        call: null,
        perform: (context) => {
          opened = performWrite(context, { verb: "openMonth", args: [project.id, month, at] });
        },
        committed: () => {
          assert.ok(opened !== null);
          this.model.opened(project, month, opened);
        },
        done: () => {
          assert.ok(opened !== null);
          this.#openings.delete(opening);
          if (run === this.#run && !opening.isOutdated) this.model.told(project, month, opened);
          resolve(opened);
        },
        failed: () => {
          this.#openings.delete(opening);
          reject(new StoreError("unavailable", "the disk failed"));
        },
      });
    });
  };

  #takeLive(): Live | null {
    const [live] = this.#live.splice(this.#random.below(this.#live.length), 1);
    return live ?? null;
  }

  #anyProject(): ModelProject {
    const project = this.model.projects[this.#random.below(this.model.projects.length)];
    assert.ok(project !== undefined);
    return project;
  }

  /** No account is promised more than it has, and nothing is reserved that nobody waits for. */
  #checkMemory(): void {
    if (this.#ledger === null) return;
    const live = sum(this.model.segments, (segment) => segment.live.size);
    assert.ok(this.#ledger.reservations >= live, "every admitted call is reserved");
  }

  #checkBooks(): void {
    checkBooks(this.disk.db, this.model);
    if (this.#commits % 25 === 0) {
      assert.deepEqual(inspectMoney(this.disk.db, NO_PROJECTS, this.#now).faults, []);
    }
  }
}

/** Lets every promise that is due go on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function columnsOf({ allowance, price, cap }: Settings) {
  return { freeCallsPerMonth: allowance, priceMicrosPerCall: price, spendCapMicros: cap };
}
