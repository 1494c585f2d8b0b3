import type { CallId, ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { LedgerBook } from "../core/ledger-book.ts";
import type { AccountMoney, SegmentId } from "../core/ledger-book.ts";
import { monthAt } from "../core/ledger-month.ts";
import type { Reservation } from "../core/link.ts";
import type { Log } from "../observe/log.ts";
import type { Quota } from "../relay/quota.ts";
import type { Store } from "../store/store.ts";

/** A month that is not open after this is not waited for: the call ends as `busy`. */
const OPEN_MS = 5_000;
/** How often a call asks for a month whose terms change while they are read. */
const TRIES = 3;
/** Projects whose months are kept in memory; idle ones beyond it are read again. */
const PROJECTS_MAX = 50_000;

export type LedgerQuotaDeps = {
  readonly store: Pick<Store, "openMonth">;
  readonly clock: Clock;
  readonly log: Log;
  readonly projectsMax?: number;
};

/**
 * Admits calls by allowance, cap and balance, from memory (SPEC 10). Only a project's first call,
 * of a month or after a change of its settings, waits for the store. Relies on answers of the store
 * coming in the order of its commits: what is read is never older than what was spent before.
 */
export class LedgerQuota implements Quota {
  readonly #deps: LedgerQuotaDeps;
  readonly #book: LedgerBook;
  /** Months that are being opened, by project and month: one read serves all calls that wait. */
  readonly #opening = new Map<string, Opening>();

  constructor(deps: LedgerQuotaDeps) {
    this.#deps = deps;
    this.#book = new LedgerBook(deps.projectsMax ?? PROJECTS_MAX);
  }

  /** Calls that were admitted and have no row yet. */
  get reservations(): number {
    return this.#book.reservations;
  }

  /** Projects whose months are in memory. */
  get projects(): number {
    return this.#book.projects;
  }

  reserve(projectId: ProjectId, callId: CallId, at: number): Reservation | Promise<Reservation> {
    const verdict = this.#book.admit(projectId, callId, at);
    return verdict === "unknown" ? this.#reserveOnceOpen(projectId, callId, at) : verdict;
  }

  release(_projectId: ProjectId, callId: CallId): void {
    this.#book.release(callId);
  }

  spend(_projectId: ProjectId, callId: CallId): void {
    this.#book.spend(callId);
  }

  segmentOf(callId: CallId): SegmentId | null {
    return this.#book.segmentOf(callId);
  }

  /** What is being read now may be from before the change, and is read again. */
  projectChanged(projectId: ProjectId): void {
    this.#book.changed(projectId);
    for (const opening of this.#opening.values()) {
      if (opening.projectId === projectId) opening.isOutdated = true;
    }
  }

  /** The account has this much credit now. */
  credited(account: AccountMoney): void {
    this.#book.credited(account);
  }

  /** Never rejects. */
  async #reserveOnceOpen(projectId: ProjectId, callId: CallId, at: number): Promise<Reservation> {
    const { clock, log } = this.#deps;
    let stopWaiting = (): void => undefined;
    const late = new Promise<"late">((resolve) => {
      stopWaiting = clock.after(OPEN_MS, () => resolve("late"));
    });
    try {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const opened = await Promise.race([this.#open(projectId, at), late]);
        if (opened === "late") log.warn({ projectId }, "a month was not opened in time");
        if (opened !== true) return "busy";
        const verdict = this.#book.admit(projectId, callId, at);
        if (verdict !== "unknown") return verdict;
      }
      return "busy";
    } finally {
      stopWaiting();
    }
  }

  /** Opens a month, or waits for whoever is opening it; false when that can't be done now. */
  #open(projectId: ProjectId, at: number): Promise<boolean> {
    const { name } = monthAt(at);
    const key = `${projectId} ${name}`;
    const known = this.#opening.get(key);
    if (known !== undefined) return known.done;
    const opening: Opening = { projectId, isOutdated: false, done: Promise.resolve(false) };
    opening.done = this.#read(opening, name, at).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening.done;
  }

  async #read(opening: Opening, month: string, at: number): Promise<boolean> {
    const { store, log } = this.#deps;
    const { projectId } = opening;
    try {
      const opened = await store.openMonth(projectId, month, at);
      if (opened === null) return false;
      if (!opening.isOutdated) this.#book.open(projectId, opened);
      return true;
    } catch (error) {
      log.warn({ err: error, projectId }, "a project's month can't be opened");
      return false;
    }
  }
}

type Opening = {
  readonly projectId: ProjectId;
  isOutdated: boolean;
  done: Promise<boolean>;
};
