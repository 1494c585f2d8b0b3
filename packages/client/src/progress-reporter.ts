import { PROGRESS_MESSAGE_CHARS_MAX } from "@relay/protocol";
import type { Runtime } from "./runtime.ts";
import type { CallContext } from "./tool.ts";

/** Relay passes ten a second on. */
const PAUSE_MS = 100;

/** Sends a call's progress: at most ten frames a second, the newest one wins. */
export function progressReporter(
  id: string,
  after: Runtime["after"],
  send: (frameText: string) => void,
): {
  readonly report: CallContext["progress"];
  /** Sends what waits, and nothing more after it. */
  readonly end: () => void;
} {
  let waiting: object | null = null;
  let isPausing = false;
  let hasEnded = false;
  const pump = (): void => {
    isPausing = waiting !== null && !hasEnded;
    if (waiting !== null) send(JSON.stringify(waiting));
    waiting = null;
    if (isPausing) after(PAUSE_MS, pump);
  };
  return {
    report: (progress, { total, message } = {}) => {
      // A share of nothing is NaN: no reason to fail the call, and no number to send.
      if (hasEnded || !Number.isFinite(progress)) return;
      const cut = message && Array.from(message).slice(0, PROGRESS_MESSAGE_CHARS_MAX).join("");
      waiting = { type: "progress", id, progress, total, message: cut };
      if (!isPausing) pump();
    },
    end: () => {
      hasEnded = true;
      pump();
    },
  };
}
