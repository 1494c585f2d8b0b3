/**
 * Runs many simulations and holds every invariant against them. A failure names its seed; `npm run
 * sim -- --seed N --trace` shows that run line by line.
 */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { OUTCOME_NAMES } from "@relay/protocol";
import { INVARIANTS } from "./judge.ts";
import type { InvariantName } from "./judge.ts";
import { simulate } from "./simulation.ts";
import type { Report } from "./simulation.ts";

const SEEDS = process.env["TEST_LONG"] === "1" ? 1_000 : 200;

/** The runs so far; each seed runs once, however many invariants ask for it. */
const reports = new Map<number, Report>();

async function reportOf(seed: number): Promise<Report> {
  const report = reports.get(seed) ?? (await simulate(seed));
  reports.set(seed, report);
  return report;
}

// The table's own keys.
for (const name of Object.keys(INVARIANTS) as InvariantName[]) {
  test(`${name}: ${INVARIANTS[name]}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const what = (await reportOf(seed)).broken.get(name);
      if (what !== undefined) assert.fail(`${what}\nreplay: npm run sim -- --seed ${seed} --trace`);
    }
  });
}

test("the runs reach every way a call can end, each many times", async () => {
  const reached = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    for (const [outcome, calls] of (await reportOf(seed)).outcomes) {
      reached.set(outcome, (reached.get(outcome) ?? 0) + calls);
    }
  }
  const rare = OUTCOME_NAMES.filter((outcome) => (reached.get(outcome) ?? 0) < SEEDS);
  assert.deepEqual(rare, []);
});

test("a seed does the same every time, line by line", async () => {
  const transcripts: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    const lines: string[] = [];
    await simulate(7, { transcript: (line) => lines.push(line) });
    transcripts.push(lines.join("\n"));
  }
  assert.ok((transcripts[0]?.length ?? 0) > 10_000);
  assert.equal(transcripts[0], transcripts[1]);
});
