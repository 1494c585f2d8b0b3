/** What metrics cost: a scrape while 10,000 apps are connected, and calls with and without them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { relayTargets } from "./calls.ts";
import { Child } from "./child.ts";
import type { Job, Result, Target } from "./load.ts";

const SOCKETS = 10_000;
/** Sockets that are opened at once. */
const AT_ONCE = 250;
const SCRAPES = 50;
const CALLERS = 32;
const ROUNDS = 10;
const ROUND_MS = 2_000;

export async function benchMetrics(): Promise<void> {
  await benchScrape();
  await benchCost();
}

/** Prints how long a scrape takes from outside, and the longest the event loop stood still. */
async function benchScrape(): Promise<void> {
  const apps = new Child("bench/load.ts");
  const { relay, targets } = await openRelay("on", SOCKETS);
  try {
    for (let from = 0; from < SOCKETS; from += AT_ONCE) {
      const some = targets.slice(from, from + AT_ONCE);
      await apps.ask<Result>({ targets: some, callers: 1, milliseconds: 1 } satisfies Job);
    }
    const { origin } = new URL(targets[0]?.mcpUrl ?? "");
    const times: number[] = [];
    const blocks: number[] = [];
    for (let left = SCRAPES; left > 0; left -= 1) {
      const began = performance.now();
      const text = await (await fetch(`${origin}/metrics`)).text();
      times.push(performance.now() - began);
      const open = Number(/^relay_links_connected (\d+)$/m.exec(text)?.[1]);
      if (open !== SOCKETS) throw new Error(`${open} links are connected, not ${SOCKETS}`);
      const block = /^relay_event_loop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(text)?.[1];
      blocks.push(Number(block) * 1000);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    console.log(`\nA scrape of /metrics with ${SOCKETS} apps connected, ${SCRAPES} times\n`);
    show("from outside", times);
    show("longest block since the scrape before", blocks.slice(1));
  } finally {
    apps.kill();
    relay.kill();
  }
}

/** Prints the processor time of a call with metrics on and off, in turns. */
async function benchCost(): Promise<void> {
  const load = new Child("bench/load.ts");
  const withThem = await openRelay("on", 128);
  const without = await openRelay("off", 128);
  const measure = async ({ relay, targets }: Open): Promise<number> => {
    const before = await relay.cpuSeconds();
    const job = { targets, callers: CALLERS, milliseconds: ROUND_MS } satisfies Job;
    const { callsPerSecond } = await load.ask<Result>(job);
    return ((await relay.cpuSeconds()) - before) / ((callsPerSecond * ROUND_MS) / 1000);
  };
  try {
    for (const open of [withThem, without, withThem, without]) await measure(open);
    const [on, off, ratios]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      const pair = [await measure(withThem), await measure(without)] as const;
      on.push(pair[0] * 1e6);
      off.push(pair[1] * 1e6);
      ratios.push(pair[0] / pair[1]);
    }
    console.log(`\nProcessor time of a call at ${CALLERS} callers, ${ROUNDS} rounds in turns\n`);
    console.log(`  metrics on   ${middle(on).toFixed(1)} µs`);
    console.log(`  metrics off  ${middle(off).toFixed(1)} µs`);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
    console.log(
      `  ratio        ${middle(ratios).toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})\n`,
    );
  } finally {
    for (const child of [load, withThem.relay, without.relay]) child.kill();
  }
}

type Open = { readonly relay: Child; readonly targets: readonly Target[] };

async function openRelay(metrics: "on" | "off", links: number): Promise<Open> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true }));
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_METRICS: metrics,
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
    RELAY_PENDING_SOCKETS_PER_IP: "20000",
  });
  return { relay, targets: await relayTargets(relay, dataDir, links) };
}

function show(what: string, milliseconds: readonly number[]): void {
  const most = Math.max(...milliseconds);
  console.log(
    `  ${what}: median ${middle(milliseconds).toFixed(1)} ms, most ${most.toFixed(1)} ms`,
  );
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
