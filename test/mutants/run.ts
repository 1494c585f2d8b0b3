/**
 * `node -C relay-source test/mutants/run.ts [NAME…]`: puts one known fault after the other into a
 * copy of the sources and runs the test that is to notice. Exits with 1 when one goes unnoticed.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { readPatch } from "./apply-patch.ts";
import type { Patch } from "./apply-patch.ts";
import { Workshop } from "./workshop.ts";
import type { TestRun } from "./workshop.ts";

const AT_ONCE = 2;
const TEST_MS = 90_000;
const OUTPUT_LINES = 40;

type Mutant = { readonly name: string; readonly patch: Patch };

/** What came of one mutant; `trouble` is null when it was killed. */
type Result = {
  readonly name: string;
  readonly fault: string;
  readonly by: string;
  readonly ms: number;
  readonly trouble: string | null;
};

const root = join(import.meta.dirname, "../..");
const started = performance.now();
const mutants = mutantsNamed(process.argv.slice(2));
const workshops = Array.from({ length: AT_ONCE }, () => new Workshop(root));
try {
  const files = [...new Set(mutants.map(({ patch }) => patch.killedBy))];
  const sound = new Map<string, TestRun>();
  await share(files, async (workshop, file) => {
    sound.set(file, await workshop.test(file, null, TEST_MS));
  });
  for (const [file, run] of sound) {
    if (run.outcome === "passed") continue;
    process.stdout.write(`${file} ${run.outcome} without any fault:\n${tail(run.output)}\n`);
    process.exitCode = 1;
  }
  if (process.exitCode === undefined) await runAll();
} finally {
  for (const workshop of workshops) workshop.remove();
}

async function runAll(): Promise<void> {
  const results = new Map<string, Result>();
  await share(mutants, async (workshop, mutant) => {
    results.set(mutant.name, await resultOf(workshop, mutant));
  });
  const all = mutants.flatMap(({ name }) => results.get(name) ?? []);
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, fault, by, ms, trouble } of all) {
    const seconds = `${(ms / 1000).toFixed(1)} s`.padStart(7);
    const verdict = trouble === null ? "killed  " : "SURVIVES";
    process.stdout.write(`${verdict} ${seconds}  ${name.padEnd(width)}  ${fault}\n`);
    const indent = " ".repeat(width + 21);
    process.stdout.write(`${indent}${trouble === null ? `by ${by}` : trouble}\n`);
  }
  const alive = all.filter(({ trouble }) => trouble !== null).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(`${all.length} mutants, ${alive} not killed, ${seconds} s\n`);
  if (alive > 0) process.exitCode = 1;
}

async function resultOf(workshop: Workshop, { name, patch }: Mutant): Promise<Result> {
  const { fault, killedBy, test } = patch;
  const about = { name, fault };
  let repair: () => void;
  try {
    repair = workshop.damage(patch);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...about, by: "", ms: 0, trouble: `the patch no longer applies: ${why}` };
  }
  try {
    const run = await workshop.test(killedBy, test, TEST_MS);
    return {
      ...about,
      by: `${killedBy}: ${run.failed ?? ""}`,
      ms: run.ms,
      trouble: troubleOf(run),
    };
  } finally {
    repair();
  }
}

function troubleOf(run: TestRun): string | null {
  switch (run.outcome) {
    case "failed":
      return null;
    case "passed":
      return "every test passes all the same";
    case "hung":
      return `the tests did not end within ${TEST_MS / 1000} s`;
    case "notLoaded":
      return `no test could run:\n${tail(run.output)}`;
  }
}

/** Gives each item to the workshop that is free first. */
async function share<Item>(
  items: readonly Item[],
  work: (workshop: Workshop, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    workshops.map(async (workshop) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        await work(workshop, item);
      }
    }),
  );
}

function mutantsNamed(names: readonly string[]): Mutant[] {
  const files = globSync("*.patch", { cwd: import.meta.dirname }).toSorted();
  const all = files.map((file) => basename(file, ".patch"));
  for (const name of names) {
    if (all.includes(name)) continue;
    process.stderr.write(`there is no mutant ${name}\n`);
    process.exit(2);
  }
  return all
    .filter((name) => names.length === 0 || names.includes(name))
    .map((name) => {
      try {
        const text = readFileSync(join(import.meta.dirname, `${name}.patch`), "utf8");
        return { name, patch: readPatch(text) };
      } catch (error) {
        throw new Error(`${name}.patch can't be read`, { cause: error });
      }
    });
}

function tail(output: string): string {
  return output.trimEnd().split("\n").slice(-OUTPUT_LINES).join("\n");
}
