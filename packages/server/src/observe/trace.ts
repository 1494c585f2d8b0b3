import type { IncomingMessage } from "node:http";
import type { Outcome } from "@relay/protocol";

/**
 * Where the trace of a request begins, as a port that the composition root fills: where it is
 * absent, nothing is traced. A trace shows templates, statuses and outcomes; paths, tokens, ids and
 * names that strangers choose are not told to it.
 */
export interface Tracer {
  begin(request: IncomingMessage): RequestTrace;
}

/** The trace of one HTTP request, and of the app's part in it if it is a call. */
export interface RequestTrace {
  /** The app was handed the call. */
  callSent(): void;
  /** The call has its outcome. */
  callEnded(outcome: Outcome): void;
  /** The exchange is over; `whole` says whether the answer was sent to its end. */
  ended(route: string, status: number, whole: boolean): void;
}
