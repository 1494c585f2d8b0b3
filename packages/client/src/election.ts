import { ignore } from "./attempt.ts";
import type { Locks } from "./runtime.ts";

/** Lets one tab of a browser lead: the one that holds a Web Lock, until it closes or resigns. */
export type Election = {
  /** Tries for the lock, or takes it from whoever has it; tells the outcome, and every later one. */
  readonly run: (steals: boolean) => void;
  readonly resign: () => void;
};

/** `name` is the lock's; `tell` hears whether this tab leads, each time that changes. */
export function election(
  locks: Locks,
  name: string,
  tell: (outcome: "lead" | "follow") => void,
): Election {
  /** Ends the current go at the lock: the wait for it, or the hold on it. */
  let end = new AbortController();

  const request = async (signal: AbortSignal, options: LockOptions): Promise<void> => {
    let isRefused = true;
    const hold = (lock: unknown): Promise<void> | void => {
      isRefused = false;
      if (lock === null || signal.aborted) return;
      tell("lead");
      return new Promise((release) => signal.addEventListener("abort", () => release()));
    };
    // Rejects when another tab steals the lock, and where a page may have none.
    await locks.request(name, options, hold).catch(ignore);
    if (signal.aborted) return;
    // As in a sandboxed frame: the tab goes on as if it were alone.
    if (isRefused) return tell("lead");
    tell("follow");
    return request(signal, { signal });
  };

  return {
    run: (steals) => {
      end.abort();
      end = new AbortController();
      void request(end.signal, steals ? { steal: true } : { ifAvailable: true });
    },
    resign: () => end.abort(),
  };
}

type LockOptions = Parameters<Locks["request"]>[1];
