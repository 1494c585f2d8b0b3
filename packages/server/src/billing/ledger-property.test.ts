/** Money adds up after every step, whatever happens in whatever order (SPEC 10). */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { Random } from "../core/schema/test/random.ts";
import type { Reservation } from "../core/link.ts";
import { LedgerWorld } from "./test/ledger-world.ts";

/** With `TEST_FULL=1` there are 100,000, in `npm run long` a million. */
const USUALLY = process.env["TEST_FULL"] === undefined ? 24_000 : 100_000;
const STEPS = process.env["TEST_LONG"] === undefined ? USUALLY : 1_000_000;
/** Each world has accounts and a database of its own. */
const STEPS_PER_WORLD = 4_000;
const seed = Number(process.env["LEDGER_SEED"] ?? Date.now() % 1_000_000_000);

test(`the six invariants hold after each of ${STEPS} random steps (LEDGER_SEED=${seed})`, async (context) => {
  const verdicts = new Map<Reservation, number>();
  let crashes = 0;
  for (let first = 0; first < STEPS; first += STEPS_PER_WORLD) {
    const world = new LedgerWorld(new Random(seed + first));
    try {
      while (world.steps < STEPS_PER_WORLD) await world.step();
      await world.end();
    } catch (error) {
      context.diagnostic(`LEDGER_SEED=${seed}, world ${first}, step ${world.steps}`);
      throw error;
    } finally {
      world.disk.end();
    }
    crashes += world.crashes;
    for (const [verdict, n] of world.model.verdicts) {
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + n);
    }
  }
  context.diagnostic(`${crashes} crashes, ${JSON.stringify(Object.fromEntries(verdicts))}`);
  // Each kind of decision was taken often enough to have been tried.
  for (const verdict of ["admitted", "cap_reached", "quota_exceeded"] as const) {
    assert.ok((verdicts.get(verdict) ?? 0) > STEPS / 100, `${verdict} was hardly tried`);
  }
});
