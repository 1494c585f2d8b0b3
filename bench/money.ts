/** What paying costs: calls through a Relay in mode `prepaid` beside one in mode `off`, in turns. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { relayTargets } from "./calls.ts";
import { Child } from "./child.ts";
import type { Job, Result, Target } from "./load.ts";

const LINKS = 128;
const CALLERS = 32;
const ROUNDS = 7;
const ROUND_MS = 2_000;
const WARM_UP_MS = 1_500;
const CREDIT_MICROS = 1_000_000_000_000;

/** Every call is a paid one: there is no allowance, and more credit and cap than calls. */
const PREPAID = {
  RELAY_BILLING: "prepaid",
  RELAY_FREE_CALLS_PER_MONTH: "0",
  RELAY_PRICE_MICROS_PER_CALL: "1",
  RELAY_SPEND_CAP_MICROS: String(CREDIT_MICROS),
};

type Contender = { readonly relay: Child; readonly dataDir: string; readonly targets: Target[] };

/** Prints calls/s of both modes and the ratio of each pair of rounds (the bar: at least 0.9). */
export async function benchMoney(): Promise<void> {
  const load = new Child("bench/load.ts");
  const contenders: Contender[] = [];
  try {
    for (const settings of [PREPAID, { RELAY_BILLING: "off" }])
      contenders.push(await open(settings));
    console.log("\nMoney: every call paid for, beside none\n");
    const run = (targets: readonly Target[], milliseconds: number): Promise<Result> =>
      load.ask<Result>({ targets, callers: CALLERS, milliseconds } satisfies Job);
    for (const { targets } of contenders) await run(targets, WARM_UP_MS);
    const rates: number[][] = [[], []];
    const costs: number[][] = [[], []];
    let failures = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      // Whoever goes first in one round goes last in the next.
      const order = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const index of order) {
        const contender = contenders[index];
        if (contender === undefined) continue;
        const before = await contender.relay.cpuSeconds();
        const result = await run(contender.targets, ROUND_MS);
        const cpuMs = ((await contender.relay.cpuSeconds()) - before) * 1_000;
        rates[index]?.push(result.callsPerSecond);
        costs[index]?.push(cpuMs / ((result.callsPerSecond * ROUND_MS) / 1_000));
        failures += result.failures;
      }
    }
    print(rates, costs, failures);
  } finally {
    load.kill();
    for (const { relay, dataDir } of contenders) {
      relay.kill();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
}

async function open(settings: Record<string, string>): Promise<Contender> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
    ...settings,
  });
  const targets = await relayTargets(relay, dataDir, LINKS);
  await credit(
    new URL(targets[0]?.mcpUrl ?? "").origin,
    await relay.file(join(dataDir, "operator-token")),
  );
  return { relay, dataDir, targets };
}

/** Gives the operator's own account, which the project belongs to, its credit. */
async function credit(base: string, token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const accounts = (await (await fetch(`${base}/v1/operator/accounts`, { headers })).json()) as {
    readonly items: readonly { readonly accountId: string; readonly isOperator: boolean }[];
  };
  const own = accounts.items.find(({ isOperator }) => isOperator);
  const body = JSON.stringify({ amountMicros: CREDIT_MICROS, sourceKey: "bench" });
  const path = `${base}/v1/operator/accounts/${own?.accountId}/credits`;
  const answer = await fetch(path, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(await answer.text());
}

/** Calls/s say what the bar asks for; processor time says it on a busy machine, too. */
function print(
  [prepaid = [], off = []]: readonly number[][],
  [paidCost = [], freeCost = []]: readonly number[][],
  failures: number,
): void {
  const ratios = prepaid.map((rate, round) => rate / (off[round] ?? 1));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  const cpu = (costs: readonly number[]): string => `${middle(costs).toFixed(3)} ms CPU a call`;
  console.log(`  off      ${middle(off).toFixed(0).padStart(6)} calls/s, ${cpu(freeCost)}`);
  console.log(
    `  prepaid  ${middle(prepaid).toFixed(0).padStart(6)} calls/s, ${cpu(paidCost)}, ${middle(ratios).toFixed(2)} × ` +
      `(${least.toFixed(2)} to ${most.toFixed(2)})${failures === 0 ? "" : `, ${failures} failed`}\n`,
  );
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
