import type { AccountId, CallId, ProjectId } from "@relay/protocol";
import type { Month } from "./ledger-month.ts";
import { admit, freeUntil, spentIn } from "./ledger.ts";
import type { Admission, Segment } from "./ledger.ts";

/** One stretch of a month in the store, by which a counted call is written down. */
export type SegmentId = number;

/** What the store knows of a project's month, as of one moment. */
export type OpenedMonth = {
  readonly month: Month;
  readonly segmentId: SegmentId;
  readonly segment: Segment;
  /** Calls that counted in this segment. */
  readonly counted: number;
  /** What the month's earlier segments have spent. */
  readonly earlierSpentMicros: number;
  readonly capMicros: number | null;
  readonly account: AccountMoney;
};

/** An account's money; `credits` grows with every entry that is not usage. */
export type AccountMoney = {
  readonly accountId: AccountId;
  readonly balanceMicros: number;
  readonly creditsMicros: number;
  readonly credits: number;
};

/**
 * Admits calls from memory (SPEC 10). Holds, for each project in use, what its month has counted and
 * reserved, and for each account what all its projects hold together. A reservation is one call that
 * counts as if it had counted; where it does not count after all, it is dropped. When its row is
 * written nothing changes here but that it can't be dropped any more.
 */
export class LedgerBook {
  readonly #projectsMax: number;
  readonly #projects = new Map<ProjectId, ProjectBook>();
  readonly #accounts = new Map<AccountId, AccountBook>();
  readonly #reserved = new Map<CallId, SegmentBook>();

  /** Past `projectsMax` projects those without reservations are forgotten, the oldest first. */
  constructor(projectsMax: number) {
    this.#projectsMax = projectsMax;
  }

  get projects(): number {
    return this.#projects.size;
  }

  /** Reservations of calls that have no row yet. */
  get reservations(): number {
    return this.#reserved.size;
  }

  /** Decides on a call made at `at`; `unknown` where the month has to be opened first. */
  admit(projectId: ProjectId, callId: CallId, at: number): Admission | "unknown" {
    const month = this.#projects.get(projectId)?.monthAt(at);
    if (month === undefined || month.isStale) return "unknown";
    const { current, account } = month;
    const verdict = admit({
      segment: current.segment,
      counted: current.taken,
      spentMicros: month.heldMicros,
      capMicros: month.capMicros,
      availableMicros: account.creditsMicros - account.heldMicros,
    });
    if (verdict !== "admitted") return verdict;
    current.take();
    month.reservations += 1;
    this.#reserved.set(callId, current);
    return verdict;
  }

  /** The segment that a reserved call counts in; null for a call without a reservation. */
  segmentOf(callId: CallId): SegmentId | null {
    return this.#reserved.get(callId)?.segmentId ?? null;
  }

  /** The call will not count. */
  release(callId: CallId): void {
    this.#end(callId)?.giveBack();
  }

  /** The call's counted row is written. */
  spend(callId: CallId): void {
    this.#end(callId);
  }

  /** Takes over a month as the store has it; what is reserved in it stays. */
  open(projectId: ProjectId, opened: OpenedMonth): void {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      this.#makeRoom();
      project = new ProjectBook(this.#accountOf(opened.account));
      this.#projects.set(projectId, project);
    }
    this.credited(opened.account);
    project.open(opened);
  }

  /** The project's terms or its cap may be others now: its months must be opened again. */
  changed(projectId: ProjectId): void {
    this.#projects.get(projectId)?.outdate();
  }

  /** The account was credited; an older word of it changes nothing. */
  credited({ accountId, credits, creditsMicros }: AccountMoney): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined || account.credits >= credits) return;
    account.credits = credits;
    account.creditsMicros = creditsMicros;
  }

  #end(callId: CallId): SegmentBook | undefined {
    const segment = this.#reserved.get(callId);
    if (segment === undefined) return undefined;
    this.#reserved.delete(callId);
    segment.month.reservations -= 1;
    return segment;
  }

  #accountOf(money: AccountMoney): AccountBook {
    const known = this.#accounts.get(money.accountId);
    if (known !== undefined) return known;
    const account = new AccountBook(money);
    this.#accounts.set(money.accountId, account);
    return account;
  }

  /** An account is forgotten with the last of its projects. */
  #makeRoom(): void {
    for (const [projectId, project] of this.#projects) {
      if (this.#projects.size < this.#projectsMax) return;
      if (project.isInUse) continue;
      this.#projects.delete(projectId);
      project.account.projects -= 1;
      if (project.account.projects === 0) this.#accounts.delete(project.account.accountId);
    }
  }
}

class AccountBook {
  readonly accountId: AccountId;
  /** Projects in the book that are this account's. */
  projects = 0;
  credits: number;
  creditsMicros: number;
  /** What was spent and is reserved, of all its projects and months. */
  heldMicros: number;

  constructor({ accountId, credits, creditsMicros, balanceMicros }: AccountMoney) {
    this.accountId = accountId;
    this.credits = credits;
    this.creditsMicros = creditsMicros;
    this.heldMicros = creditsMicros - balanceMicros;
  }
}

class ProjectBook {
  readonly account: AccountBook;
  /** Most often one; the month before stays while calls of it have no row. */
  #months: MonthBook[] = [];

  constructor(account: AccountBook) {
    this.account = account;
    account.projects += 1;
  }

  get isInUse(): boolean {
    return this.#months.some(({ reservations }) => reservations > 0);
  }

  monthAt(at: number): MonthBook | undefined {
    return this.#months.find(({ month }) => at >= month.startMs && at < month.endMs);
  }

  open(opened: OpenedMonth): void {
    const known = this.#months.find(({ month }) => month.name === opened.month.name);
    if (known !== undefined) {
      known.reopen(opened);
      return;
    }
    this.#months = this.#months.filter(({ reservations }) => reservations > 0);
    this.#months.push(new MonthBook(this.account, opened));
  }

  outdate(): void {
    for (const month of this.#months) month.isStale = true;
  }
}

class MonthBook {
  readonly account: AccountBook;
  readonly month: Month;
  current: SegmentBook;
  capMicros: number | null;
  /** What the month has spent and what is reserved in it, of all its segments. */
  heldMicros: number;
  reservations = 0;
  isStale = false;

  constructor(account: AccountBook, opened: OpenedMonth) {
    this.account = account;
    this.month = opened.month;
    this.capMicros = opened.capMicros;
    this.current = new SegmentBook(this, opened);
    this.heldMicros = opened.earlierSpentMicros + spentIn(opened.segment, this.current.taken);
  }

  /** A segment that is known here is known better than by the store: it has the reservations. */
  reopen(opened: OpenedMonth): void {
    this.isStale = false;
    this.capMicros = opened.capMicros;
    if (opened.segmentId === this.current.segmentId) return;
    this.current = new SegmentBook(this, opened);
  }
}

class SegmentBook {
  readonly month: MonthBook;
  readonly segmentId: SegmentId;
  readonly segment: Segment;
  /** Counted and reserved calls, as the segment counts. */
  taken: number;
  readonly #freeUntil: number;

  constructor(month: MonthBook, { segmentId, segment, counted }: OpenedMonth) {
    this.month = month;
    this.segmentId = segmentId;
    this.segment = segment;
    this.taken = segment.countedAtStart + counted;
    this.#freeUntil = freeUntil(segment) ?? Number.MAX_SAFE_INTEGER;
  }

  take(): void {
    this.#hold(this.taken >= this.#freeUntil ? this.segment.priceMicros : 0);
    this.taken += 1;
  }

  giveBack(): void {
    this.taken -= 1;
    this.#hold(this.taken >= this.#freeUntil ? -this.segment.priceMicros : 0);
  }

  #hold(micros: number): void {
    this.month.heldMicros += micros;
    this.month.account.heldMicros += micros;
  }
}
