import { isCounted } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";

export type Prediction = {
  readonly linkId: string;
  readonly outcome: Outcome;
  readonly counted: boolean;
  readonly scenario: string;
};

/** The first faults are kept in words, the others are only counted. */
const FAULTS_KEPT = 40;

/** What the soak has done, how each call must have ended, and what went otherwise. */
export class Book {
  /** By request id. */
  readonly predictions = new Map<string, Prediction>();
  /** Calls that a host left before it knew anything, by link: each may have left one row or none. */
  readonly hasty = new Map<string, number>();
  readonly faults: string[] = [];
  readonly scenarios = new Map<string, number>();
  unexplained = 0;
  /** Calls that timed out because this process, which is the app, was itself too late to answer. */
  answeredTooLate = 0;

  /** A call of which the host knows the request id will be written down as this; it reached the app if that matters. */
  predict(requestId: string, linkId: string, outcome: Outcome, scenario: string): void {
    if (!requestId.startsWith("req_")) this.fault(`${scenario}: no request id`);
    if (this.predictions.has(requestId)) this.fault(`${scenario}: ${requestId} came twice`);
    const counted = isCounted(outcome, true);
    this.predictions.set(requestId, { linkId, outcome, counted, scenario });
  }

  addHasty(linkId: string): void {
    this.hasty.set(linkId, (this.hasty.get(linkId) ?? 0) + 1);
  }

  ran(scenario: string): void {
    this.scenarios.set(scenario, (this.scenarios.get(scenario) ?? 0) + 1);
  }

  /** Something that nothing done to the link explains. */
  fault(what: string): void {
    this.unexplained += 1;
    if (this.faults.length < FAULTS_KEPT) this.faults.push(what);
  }
}
