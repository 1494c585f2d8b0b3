import type { CallId, Limits } from "@relay/protocol";
import type { Judge } from "./judge.ts";
import type { Random } from "./random.ts";
import type { SimCall } from "./sim-call.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimStore } from "./sim-store.ts";
import type { RelayNode } from "../../packages/server/src/relay/node.ts";

/** What all parts of one simulation share. */
export type World = {
  readonly seed: number;
  readonly random: Random;
  readonly clock: SimClock;
  readonly judge: Judge;
  readonly limits: Limits;
  readonly store: SimStore;
  readonly node: RelayNode;
  /** Every call that was ever made, by its number. */
  readonly calls: SimCall[];
  /** Those that have started and have no outcome yet. */
  readonly open: Set<SimCall>;
  /** Adds a line to the transcript, if there is one. */
  readonly say: (line: () => string) => void;
  /** A call's name in the transcript: ids are random, names are the same in every replay. */
  readonly nameOf: (callId: CallId) => string;
  /** The call that is being handed to the router: an id heard now for the first time is its own. */
  starting: SimCall | null;
  /** Counts the steps of the simulation: what happens in one step happens at once. */
  step: number;
  /** Numbers the answers of all apps, so that no two are alike. */
  answers: number;
};
