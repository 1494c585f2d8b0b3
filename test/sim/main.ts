/**
 * `npm run sim -- --seed N [--trace]` replays one simulation; `npm run sim -- --minutes N [--from N]`
 * searches seeds until something breaks. Exits with 1 when an invariant does not hold.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { INVARIANTS } from "./judge.ts";
import { simulate } from "./simulation.ts";
import type { Report } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    minutes: { type: "string" },
    from: { type: "string", default: "1000" },
  },
});

const running = { seed: 0 };
process.on("uncaughtException", (error) => {
  process.stderr.write(`seed ${running.seed}: ${error.stack ?? String(error)}\n`);
  process.exit(1);
});

if (values.seed !== undefined) {
  await replay(whole("--seed", values.seed));
} else {
  await search(whole("--from", values.from), Number(values.minutes ?? 1));
}

async function replay(seed: number): Promise<void> {
  running.seed = seed;
  const transcript = values.trace ? (line: string) => process.stdout.write(`${line}\n`) : undefined;
  const report = await simulate(seed, { transcript });
  const outcomes = [...report.outcomes].map(([name, calls]) => `${name} ${calls}`).join(", ");
  process.stdout.write(`seed ${seed}: ${report.steps} steps; ${outcomes}\n`);
  if (!tell(report)) process.stdout.write("every invariant holds\n");
}

async function search(from: number, minutes: number): Promise<void> {
  if (!(minutes > 0)) refuse("--minutes takes a number above 0");
  const end = performance.now() + minutes * 60_000;
  let seed = from;
  let calls = 0;
  let steps = 0;
  for (; performance.now() < end; seed += 1) {
    running.seed = seed;
    const report = await simulate(seed);
    calls += report.calls;
    steps += report.steps;
    if (tell(report)) break;
  }
  process.stdout.write(`seeds ${from} to ${seed - 1}: ${calls} calls in ${steps} steps\n`);
}

/** Says what is broken and how to see it again; false if nothing is. */
function tell(report: Report): boolean {
  for (const [name, what] of report.broken) {
    process.stdout.write(`BROKEN ${name}: ${INVARIANTS[name]}\n  ${what}\n`);
  }
  if (report.broken.size === 0) return false;
  process.stdout.write(`  replay: npm run sim -- --seed ${report.seed} --trace\n`);
  process.exitCode = 1;
  return true;
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) refuse(`${name} takes a whole number, not ${text}`);
  return number;
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}
