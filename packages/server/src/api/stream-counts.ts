import { ApiError } from "./errors.ts";
import { BEAT_MS } from "./stream-beat.ts";

const STREAMS_EACH = 8;

/** How many streams each user has open; holds those alone who have one. */
export class StreamCounts {
  readonly #open = new Map<string, number>();

  /** Counts one more; throws 429 when the user has as many as anyone may. */
  take(owner: string): void {
    const open = this.#open.get(owner) ?? 0;
    if (open >= STREAMS_EACH) {
      throw tooManyStreams(`${STREAMS_EACH} of your pages are watching already; close one`);
    }
    this.#open.set(owner, open + 1);
  }

  giveBack(owner: string): void {
    const left = (this.#open.get(owner) ?? 1) - 1;
    if (left === 0) this.#open.delete(owner);
    else this.#open.set(owner, left);
  }
}

/** Refuses a stream until another one has ended. */
export function tooManyStreams(why: string): ApiError {
  return new ApiError("RATE_LIMITED", why, { "Retry-After": String(BEAT_MS / 1000) });
}

/** Refuses a stream of a Relay that is about to stop. */
export function noMoreStreams(): ApiError {
  return new ApiError("UNAVAILABLE", "The relay is restarting", { "Retry-After": "5" });
}
