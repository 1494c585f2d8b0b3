import { FINAL_CLOSE_CODES } from "@relay/protocol";

const FIRST_WAIT_SECONDS = 1;
const LONGEST_WAIT_SECONDS = 30;

/** Tells whether an app must stay away after this close code until the person acts. */
export function isFinalClose(code: number): boolean {
  return FINAL_CLOSE_CODES.includes(code);
}

/**
 * Returns the ms to wait before connecting again: 1 s doubling to 30 s, of which a random half or
 * more, so that apps do not come back all at once. `attempt` counts from 0 and starts anew with
 * `ready`; `random` is in [0, 1).
 */
export function reconnectDelayMs(attempt: number, random: number): number {
  const seconds = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** attempt);
  return seconds * (0.5 + random / 2) * 1000;
}
