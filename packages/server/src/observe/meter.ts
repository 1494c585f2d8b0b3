import type { CloseCode, Outcome } from "@relay/protocol";

/**
 * What Relay counts as it happens, as a port that the composition root fills: where it is absent,
 * nothing is counted. What can be read when it is asked for, such as how many sockets are open, is
 * not told here but read then. Nothing a stranger chooses may be an argument: it would end up in a
 * label.
 */
export interface Meter {
  /** An HTTP exchange is over. `route` is a template of the code's, never a path. */
  exchangeEnded(route: string, status: StatusClass): void;
  /** A WebSocket upgrade was answered with `status`. */
  upgradeRefused(status: number): void;
  socketOpened(): void;
  socketClosed(end: SocketEnd): void;
  helloAccepted(): void;
  /** A hello, or what came instead of one, was answered by closing with `code`. */
  helloRefused(code: CloseCode): void;
  /** A call has its outcome; every call has one, once. */
  callEnded(outcome: Outcome, counted: boolean): void;
  /** The answer of a call that reached its app is on its way to the host. */
  callAnswered(outcome: Outcome, times: CallTimes): void;
  /** A call's row is committed, `delayMs` after the call had its outcome. */
  rowWritten(delayMs: number): void;
}

/** How an exchange ended: the class of its status, or the client left before the end. */
export type StatusClass = "2xx" | "3xx" | "4xx" | "5xx" | "aborted";

/** Who ended a socket; `network` when neither side said a word. */
export type SocketEnd = { readonly code: number; readonly by: "relay" | "app" | "network" };

/** Ms from the call's start to its answer, and from the frame's sending to the outcome. */
export type CallTimes = { readonly wholeMs: number; readonly appMs: number };

/** Names the class of an answer with `status`; `whole` says whether it was sent to its end. */
export function statusClass(status: number, whole: boolean): StatusClass {
  if (!whole) return "aborted";
  if (status < 300) return "2xx";
  if (status < 400) return "3xx";
  return status < 500 ? "4xx" : "5xx";
}
