import type { Segment } from "./ledger.ts";

/** What a developer is told about a month, each once (SPEC 10). */
export const ALERTS = [
  { bit: 1, type: "allowance.reached", percent: 50 },
  { bit: 2, type: "allowance.reached", percent: 80 },
  { bit: 4, type: "allowance.reached", percent: 100 },
  { bit: 8, type: "spend_cap.reached", percent: 50 },
  { bit: 16, type: "spend_cap.reached", percent: 80 },
  { bit: 32, type: "spend_cap.reached", percent: 100 },
  { bit: 64, type: "balance.low", percent: null },
] as const;

export type Alert = (typeof ALERTS)[number];

export type AlertFacts = {
  readonly segment: Segment;
  /** Counted calls, as the segment counts. */
  readonly counted: number;
  readonly spentMicros: number;
  readonly capMicros: number | null;
  readonly balanceMicros: number;
  readonly lowBalanceMicros: number;
  /** Whether the account is paying: a balance is only low for one that does. */
  readonly paying: boolean;
};

/** Returns the alerts that are due and not among those `raised` (their bits) before. */
export function alertsDue(facts: AlertFacts, raised: number): readonly Alert[] {
  if (facts.segment.mode === "off") return [];
  return ALERTS.filter((alert) => (raised & alert.bit) === 0 && isReached(alert, facts));
}

function isReached(alert: Alert, facts: AlertFacts): boolean {
  switch (alert.type) {
    case "allowance.reached":
      return isShare(facts.counted, facts.segment.allowance, alert.percent);
    case "spend_cap.reached":
      return facts.segment.mode === "prepaid" && capIsReached(facts, alert.percent);
    case "balance.low":
      return (
        facts.segment.mode === "prepaid" &&
        facts.paying &&
        facts.balanceMicros < facts.lowBalanceMicros
      );
  }
}

/** A cap is reached in full when not one more call fits under it, which may be a little before. */
function capIsReached({ segment, spentMicros, capMicros }: AlertFacts, percent: number): boolean {
  if (percent < 100) return isShare(spentMicros, capMicros, percent);
  return capMicros !== null && capMicros > 0 && spentMicros + segment.priceMicros > capMicros;
}

/** No share of nothing is worth an alert. */
function isShare(part: number, whole: number | null, percent: number): boolean {
  return whole !== null && whole > 0 && part * 100 >= whole * percent;
}
