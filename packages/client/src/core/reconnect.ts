import { FINAL_CLOSE_CODES } from "@relay/protocol";
import type { Reason } from "./link-keeper.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Tells whether an app must stay away after this close code until the person acts. */
export function isFinalClose(code: Reason["code"]): boolean {
  return FINAL_CLOSE_CODES.includes(Number(code));
}

/**
 * Returns the ms to wait before connecting again: 1 s doubling to 30 s, of which a random half or
 * more, so that apps do not come back all at once. `attempt` counts from 0 and starts anew with
 * `ready`; `random` is in [0, 1).
 */
export function reconnectDelayMs(attempt: number, random: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + random / 2);
}
