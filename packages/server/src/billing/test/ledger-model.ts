import assert from "node:assert/strict";
import type { CallId, ProjectId } from "@relay/protocol";
import type { BillingMode } from "../../core/ledger.ts";
import type { OpenedMonth } from "../../core/ledger-book.ts";
import type { Reservation } from "../../core/link.ts";

/** A project's settings, as the model has them. */
export type Settings = { allowance: number | null; price: number; cap: number | null };

export type ModelProject = { readonly id: ProjectId; readonly account: string; settings: Settings };

/** A stretch of a month: `counted` of its calls are written down, `live` ones are not. */
export type ModelSegment = {
  readonly id: number;
  readonly project: ModelProject;
  readonly month: string;
  readonly epoch: number;
  readonly mode: BillingMode;
  readonly allowance: number | null;
  readonly price: number;
  readonly start: number;
  counted: number;
  readonly live: Set<CallId>;
};

/** What whoever admits calls was last told of a month. */
type View = { readonly segment: ModelSegment; readonly cap: number | null; isStale: boolean };

type Entry = { readonly account: string; readonly amount: number };

/**
 * What SPEC 10 says, said again in the plainest way: everything is added up from the first call each
 * time it is asked for. Knows which writes are committed and which answers have come back.
 */
export class LedgerModel {
  readonly projects: readonly ModelProject[];
  readonly entries = new Map<string, Entry>();
  readonly segments: ModelSegment[] = [];
  /** Counted calls in no segment, by project and month. */
  readonly outside = new Map<string, number>();
  readonly #views = new Map<string, View>();
  /** How many of an account's entries whoever admits calls was told of. */
  readonly #toldOf = new Map<string, number>();
  mode: BillingMode = "off";
  epoch = 0;
  readonly verdicts = new Map<Reservation, number>();

  constructor(projects: readonly ModelProject[]) {
    this.projects = projects;
  }

  restarted(mode: BillingMode): void {
    if (mode !== this.mode || this.epoch === 0) this.epoch += 1;
    this.mode = mode;
    this.#views.clear();
    this.#toldOf.clear();
    for (const segment of this.segments) segment.live.clear();
  }

  /** A month was opened in a transaction: it must be what the calls so far make of it. */
  opened(project: ModelProject, month: string, opened: OpenedMonth): void {
    const { allowance, price, cap } = project.settings;
    const terms = { allowance, price: this.mode === "quota" ? 0 : price };
    let last = this.segmentsOf(project, month).at(-1);
    const goesOn =
      last !== undefined &&
      last.epoch === this.epoch &&
      last.allowance === terms.allowance &&
      last.price === terms.price;
    if (last === undefined || !goesOn) {
      const { mode, epoch } = this;
      const start = this.countedIn(project, month);
      const id = opened.segmentId;
      const base = { id, project, month, epoch, mode, ...terms, start };
      last = { ...base, counted: 0, live: new Set() };
      this.segments.push(last);
    }
    const earlier = this.segmentsOf(project, month).filter((segment) => segment !== last);
    assert.deepEqual(
      {
        id: opened.segmentId,
        allowance: opened.segment.allowance,
        price: opened.segment.priceMicros,
        mode: opened.segment.mode,
        start: opened.segment.countedAtStart,
        counted: opened.counted,
        earlier: opened.earlierSpentMicros,
        cap: opened.capMicros,
        balance: opened.account.balanceMicros,
        credits: opened.account.credits,
      },
      {
        id: last.id,
        ...terms,
        mode: last.mode,
        start: last.start,
        counted: last.counted,
        earlier: sum(earlier, (segment) => spent(segment, segment.counted)),
        cap,
        balance: this.balance(project.account),
        credits: this.entriesOf(project.account).length,
      },
      "a month was opened as it is",
    );
  }

  /** The answer to an opening came, and was taken. */
  told(project: ModelProject, month: string, opened: OpenedMonth): void {
    const segment = this.segments.find(({ id }) => id === opened.segmentId);
    assert.ok(segment !== undefined);
    const view = { segment, cap: opened.capMicros, isStale: false };
    this.#views.set(`${project.id} ${month}`, view);
    this.toldOfCredits(project.account, opened.account.credits);
  }

  toldOfCredits(account: string, credits: number): void {
    this.#toldOf.set(account, Math.max(credits, this.#toldOf.get(account) ?? 0));
  }

  settingsChanged(project: ModelProject): void {
    for (const [key, view] of this.#views) {
      if (key.startsWith(`${project.id} `)) view.isStale = true;
    }
  }

  /** Judges a verdict and, if it admits, holds the call's place. Returns the call's segment. */
  judge(
    project: ModelProject,
    month: string,
    callId: CallId,
    verdict: Reservation,
  ): ModelSegment | null {
    this.verdicts.set(verdict, (this.verdicts.get(verdict) ?? 0) + 1);
    if (verdict === "busy") return null;
    const view = this.#views.get(`${project.id} ${month}`);
    assert.ok(view !== undefined && !view.isStale, "a call was decided on by old terms");
    assert.equal(verdict, this.#expected(view), "the verdict is the right one, to the call");
    if (verdict !== "admitted") return null;
    view.segment.live.add(callId);
    return view.segment;
  }

  #expected({ segment, cap }: View): Reservation {
    const { project, month, price } = segment;
    const taken = segment.counted + segment.live.size;
    if (spent({ ...segment, price: 1 }, taken + 1) === spent({ ...segment, price: 1 }, taken)) {
      return "admitted";
    }
    if (segment.mode === "quota") return "quota_exceeded";
    if (price === 0) return "admitted";
    const worst = (segments: readonly ModelSegment[]): number =>
      sum(segments, (one) => spent(one, one.counted + one.live.size));
    if (cap !== null && worst(this.segmentsOf(project, month)) + price > cap) return "cap_reached";
    const ofAccount = this.segments.filter((one) => one.project.account === project.account);
    const known = this.entriesOf(project.account).slice(0, this.#toldOf.get(project.account) ?? 0);
    const credit = sum(known, ({ amount }) => amount);
    return worst(ofAccount) + price > credit ? "quota_exceeded" : "admitted";
  }

  segmentsOf(project: ModelProject, month: string): ModelSegment[] {
    return this.segments.filter((one) => one.project === project && one.month === month);
  }

  countedIn(project: ModelProject, month: string): number {
    const counted = sum(this.segmentsOf(project, month), (segment) => segment.counted);
    return counted + (this.outside.get(`${project.id} ${month}`) ?? 0);
  }

  spentIn(project: ModelProject, month: string): number {
    return sum(this.segmentsOf(project, month), (segment) => spent(segment, segment.counted));
  }

  entriesOf(account: string): Entry[] {
    return [...this.entries.values()].filter((entry) => entry.account === account);
  }

  usage(account: string): number {
    const own = this.segments.filter(({ project }) => project.account === account);
    return sum(own, (segment) => spent(segment, segment.counted));
  }

  balance(account: string): number {
    return sum(this.entriesOf(account), ({ amount }) => amount) - this.usage(account);
  }
}

/** What the first `calls` calls of a segment cost, one after the other. */
function spent({ allowance, start, price }: ModelSegment, calls: number): number {
  if (allowance === null) return 0;
  const free = Math.max(0, allowance - start);
  return Math.max(0, calls - free) * price;
}

export function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
