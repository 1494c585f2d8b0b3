import type { TestContext } from "node:test";
import type { AccountId } from "@relay/protocol";
import type { Store } from "../store.ts";

/** One empty store under test, and what the suite must do to it from outside. */
export type StoreHarness = {
  /** The store as it is open now. */
  readonly store: () => Store;
  /** Closes the store and opens what it kept. */
  readonly reopen: () => Promise<Store>;
  /** Makes an account that is not the operator's. */
  readonly addAccount: () => Promise<AccountId>;
  /** Closes the store and removes what it kept. */
  readonly end: () => Promise<void>;
};

export type OpenHarness = () => Promise<StoreHarness>;

/** Opens an empty store for one test and ends it with the test. */
export async function openFor(t: TestContext, open: OpenHarness): Promise<StoreHarness> {
  const harness = await open();
  t.after(() => harness.end());
  return harness;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this run: `RELAY_TEST_SEED`, else a new one; printed, so that a run can be repeated. */
export function seedOf(t: TestContext): number {
  const set = process.env["RELAY_TEST_SEED"];
  const seed = set === undefined ? Date.now() % 1_000_000_000 : Number(set);
  t.diagnostic(`RELAY_TEST_SEED=${seed}`);
  return seed;
}
