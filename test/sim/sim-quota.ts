import type { CallId } from "@relay/protocol";
import type { Reservation } from "../../packages/server/src/core/link.ts";
import type { Quota } from "../../packages/server/src/relay/quota.ts";
import type { World } from "./world.ts";

/** How likely each way of the quota to behave is, in one run. */
export type QuotaMood = { late: number; refusing: number; silent: number };

/** An account that decides at once, late, or never, and keeps book of what it reserved. */
export class SimQuota implements Quota {
  readonly mood: QuotaMood;
  readonly #world: World;
  readonly #held = new Set<CallId>();
  readonly #asked = new Set<CallId>();
  readonly #released = new Set<CallId>();
  readonly #spent = new Set<CallId>();

  constructor(world: World, mood: QuotaMood) {
    this.#world = world;
    this.mood = mood;
  }

  get held(): ReadonlySet<CallId> {
    return this.#held;
  }

  get spent(): ReadonlySet<CallId> {
    return this.#spent;
  }

  reserve(_project: unknown, callId: CallId): Reservation | Promise<Reservation> {
    const { random, clock, judge } = this.#world;
    judge.check("reservationOnce", !this.#asked.has(callId), () => `${callId} was reserved twice`);
    this.#asked.add(callId);
    const verdict = random.chance(this.mood.refusing)
      ? random.pick(["cap_reached", "quota_exceeded"] as const)
      : "admitted";
    if (random.chance(this.mood.silent)) {
      this.#say(callId, "never decides");
      return new Promise(() => undefined);
    }
    if (!random.chance(this.mood.late)) return this.#decide(callId, verdict);
    return new Promise((resolve) => {
      clock.after(random.delay(), () => resolve(this.#decide(callId, verdict)));
    });
  }

  release(_project: unknown, callId: CallId): void {
    this.#say(callId, "is given back");
    this.#end(callId, "given back");
    this.#released.add(callId);
  }

  spend(_project: unknown, callId: CallId): void {
    this.#say(callId, "is spent");
    this.#end(callId, "spent");
    this.#spent.add(callId);
  }

  #decide(callId: CallId, verdict: Reservation): Reservation {
    this.#say(callId, verdict);
    if (verdict === "admitted") this.#held.add(callId);
    return verdict;
  }

  #end(callId: CallId, how: string): void {
    const { judge, nameOf } = this.#world;
    judge.check("reservationOnce", this.#held.has(callId), () => {
      const before = this.#spent.has(callId)
        ? "spent"
        : this.#released.has(callId)
          ? "given back"
          : "never reserved";
      return `${nameOf(callId)} was ${how}, and had been ${before}`;
    });
    this.#held.delete(callId);
  }

  #say(callId: CallId, what: string): void {
    this.#world.say(() => `quota: ${this.#world.nameOf(callId)} ${what}`);
  }
}
