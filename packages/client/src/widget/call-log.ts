import type { CallEvent, CallStatus } from "../call-runner.ts";
import type { Relay } from "../relay.ts";

/** A call as the widget shows it: never its arguments or its result. */
export type LoggedCall = {
  readonly id: string;
  readonly tool: string;
  readonly status: CallStatus;
  /** When it came, in ms since the epoch. */
  readonly at: number;
};

const CALLS_MAX = 20;

/** The last calls of a relay, the newest first. */
export class CallLog {
  #calls: readonly LoggedCall[] = [];
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get calls(): readonly LoggedCall[] {
    return this.#calls;
  }

  add({ id, tool, status }: CallEvent): void {
    const known = this.#calls.find((call) => call.id === id);
    if (known === undefined) {
      const call = { id, tool, status, at: this.#now() };
      this.#calls = [call, ...this.#calls].slice(0, CALLS_MAX);
    } else {
      this.#calls = this.#calls.map((call) => (call === known ? { ...known, status } : call));
    }
  }
}

const logs = new WeakMap<Relay, CallLog>();

/**
 * Keeps the last 20 calls of a relay in memory, from now on and as long as the relay lives, for every
 * `<relay-connect>` that will show it: their tools, times and ends. The element does this by itself
 * when it gets the relay; call it earlier where the element comes later, as a settings page does.
 */
export function keepCalls(relay: Relay): CallLog {
  const kept = logs.get(relay);
  if (kept !== undefined) return kept;
  const log = new CallLog();
  logs.set(relay, log);
  relay.on("call", (event) => log.add(event));
  return log;
}
