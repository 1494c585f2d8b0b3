import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { INVARIANTS } from "../sim/judge.ts";
import { readPatch } from "./apply-patch.ts";

const SIMULATION = "test/sim/sim.test.ts";

test("every invariant of the simulation has a mutant that it alone is to kill", () => {
  const patches = globSync("*.patch", { cwd: import.meta.dirname }).map((file) =>
    readPatch(readFileSync(join(import.meta.dirname, file), "utf8")),
  );
  const simulated = patches.filter(({ killedBy }) => killedBy === SIMULATION);
  const killers = new Set(simulated.map((patch) => patch.test));
  const missing = Object.keys(INVARIANTS).filter((name) => !killers.has(`^${name}`));
  assert.deepEqual(missing, []);
});
