import process from "node:process";
import { Random } from "../sim/random.ts";

const FIRST_SEED = 1;

/** How many rounds a run makes: five times as many with `TEST_LONG=1`. */
export function roundsOf(usually: number): number {
  return process.env["TEST_LONG"] === "1" ? 5 * usually : usually;
}

type Round = (random: Random, note: (input: string) => void) => void | Promise<void>;

/**
 * Runs `round` once for each seed, `atOnce` of them at the same time; one that throws is thrown on
 * with its seed and its input, as `note` was told it. `FUZZ_SEED=N` replays one seed alone.
 */
export async function fuzz(count: number, round: Round, atOnce = 1): Promise<void> {
  const replayed = process.env["FUZZ_SEED"];
  if (replayed !== undefined) return runRound(Number(replayed), round);
  let next = FIRST_SEED;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < FIRST_SEED + count) {
        const seed = next;
        next += 1;
        await runRound(seed, round);
      }
    }),
  );
}

/** Whether one seed alone is replayed, so that nothing can be said of all of them. */
export function isReplay(): boolean {
  return process.env["FUZZ_SEED"] !== undefined;
}

async function runRound(seed: number, round: Round): Promise<void> {
  const noted = { input: "" };
  try {
    await round(new Random(seed), (input) => {
      noted.input = input;
    });
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Error(`FUZZ_SEED=${seed} with ${JSON.stringify(noted.input)}\n${why}`, {
      cause: error,
    });
  }
}
