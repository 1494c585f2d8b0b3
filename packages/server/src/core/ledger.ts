/**
 * What a call costs and how far a project has come in its month (SPEC 10). Integers only: money in
 * micro-units, calls by count. Nothing here reads a clock.
 */

/** How calls are paid for: not at all, by an allowance alone, or by an allowance and then credit. */
export const BILLING_MODES = ["off", "quota", "prepaid"] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** The greatest number that money and counts may reach, so that sums and products stay exact. */
export const PRICE_MICROS_MAX = 1_000_000_000;
export const FREE_CALLS_MAX = 1_000_000_000;
export const MONEY_MICROS_MAX = 1_000_000_000_000_000;

/** On what terms a project's calls are made. An `allowance` of null is unlimited. */
export type Terms = {
  readonly mode: BillingMode;
  readonly allowance: number | null;
  readonly priceMicros: number;
};

/**
 * A stretch of a project's month under the same terms. `countedAtStart` is how many calls of the
 * month had counted when it began, by which its free calls are measured.
 */
export type Segment = Terms & { readonly countedAtStart: number };

/** What a project is set to; of it the mode uses what it needs. */
export type MoneySettings = {
  readonly freeCallsPerMonth: number | null;
  readonly priceMicrosPerCall: number;
};

/** The terms that a mode makes of a project's settings: `quota` knows no price, `off` nothing. */
export function termsOf(mode: BillingMode, settings: MoneySettings): Terms {
  switch (mode) {
    case "off":
      return { mode, allowance: null, priceMicros: 0 };
    case "quota":
      return { mode, allowance: settings.freeCallsPerMonth, priceMicros: 0 };
    case "prepaid":
      return {
        mode,
        allowance: settings.freeCallsPerMonth,
        priceMicros: settings.priceMicrosPerCall,
      };
  }
}

/** Whether two terms are the same, so that no new segment has to begin. */
export function sameTerms(a: Terms, b: Terms): boolean {
  return a.mode === b.mode && a.allowance === b.allowance && a.priceMicros === b.priceMicros;
}

/** The count up to which a segment's calls are free; null when all of them are. */
export function freeUntil({ allowance, countedAtStart }: Segment): number | null {
  return allowance === null ? null : Math.max(allowance, countedAtStart);
}

/**
 * What a segment has spent once `counted` calls of the month have counted, its own on top of those
 * before it. A function of the counter: which calls were the free ones does not matter.
 */
export function spentIn(segment: Segment, counted: number): number {
  const free = freeUntil(segment);
  return free === null ? 0 : Math.max(0, counted - free) * segment.priceMicros;
}

/** Why a call is not admitted, or that it is. */
export type Admission = "admitted" | "cap_reached" | "quota_exceeded";

/** All that an admission looks at: what is reserved is part of `counted`, `spent` and `balance`. */
export type AdmissionFacts = {
  readonly segment: Segment;
  /** Counted and reserved calls, as the segment counts. */
  readonly counted: number;
  /** What the project has spent in the month, with what is reserved. */
  readonly spentMicros: number;
  readonly capMicros: number | null;
  /** What is left of the account's balance once everything reserved is paid. */
  readonly availableMicros: number;
};

/**
 * Decides on one more call: it is free, or it fits the spend cap and the balance. The cap comes
 * first; in mode `quota` there is nothing but the allowance.
 */
export function admit(facts: AdmissionFacts): Admission {
  const { segment, counted, spentMicros, capMicros, availableMicros } = facts;
  const free = freeUntil(segment);
  if (free === null || counted < free) return "admitted";
  if (segment.mode === "quota") return "quota_exceeded";
  const cost = segment.priceMicros;
  if (cost === 0) return "admitted";
  if (capMicros !== null && spentMicros + cost > capMicros) return "cap_reached";
  return availableMicros < cost ? "quota_exceeded" : "admitted";
}

/** Where a project stands in a month; null is unlimited. */
export type Standing = {
  readonly allowance: number | null;
  readonly allowanceLeft: number | null;
  readonly spentMicros: number;
  readonly spendCapMicros: number | null;
  readonly balanceMicros: number;
  /** How many more calls can be made now: the one number to look at. */
  readonly callsLeft: number | null;
};

export type StandingFacts = {
  readonly segment: Segment;
  /** Counted calls, as the segment counts. */
  readonly counted: number;
  readonly spentMicros: number;
  readonly capMicros: number | null;
  readonly balanceMicros: number;
};

/** Works out where a project stands; in the modes without money the cap says nothing. */
export function standingOf(facts: StandingFacts): Standing {
  const { segment, counted, spentMicros, balanceMicros } = facts;
  const free = freeUntil(segment);
  const allowanceLeft = free === null ? null : Math.max(0, free - counted);
  const spendCapMicros = segment.mode === "prepaid" ? facts.capMicros : null;
  return {
    allowance: segment.allowance,
    allowanceLeft,
    spentMicros,
    spendCapMicros,
    balanceMicros,
    callsLeft: callsLeft(segment, allowanceLeft, {
      capRoom: spendCapMicros === null ? null : spendCapMicros - spentMicros,
      balanceMicros,
    }),
  };
}

function callsLeft(
  { mode, priceMicros }: Terms,
  allowanceLeft: number | null,
  money: { readonly capRoom: number | null; readonly balanceMicros: number },
): number | null {
  if (allowanceLeft === null) return null;
  if (mode !== "prepaid") return allowanceLeft;
  if (priceMicros === 0) return null;
  const payable = Math.min(money.balanceMicros, money.capRoom ?? money.balanceMicros);
  return allowanceLeft + Math.floor(Math.max(0, payable) / priceMicros);
}
