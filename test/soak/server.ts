/**
 * The Relay of a soak: prints its address, and answers each line on stdin with what its process uses:
 * memory after a forced collection (run with `--expose-gc`), and how late its event loop has run.
 */
import { createInterface } from "node:readline";
import { createHistogram } from "node:perf_hooks";
import process from "node:process";
import { startRelay } from "../../packages/server/src/commands/serve.ts";
import { readConfig } from "../../packages/server/src/config.ts";
import { openLog } from "../../packages/server/src/observe/log.ts";

/** Bytes after a forced collection, and ms that a timer of 20 ms has run late since the last question. */
export type Vitals = {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly delayMs: {
    readonly p50: number;
    readonly p99: number;
    readonly p999: number;
    readonly max: number;
  };
};

const EVERY_MS = 20;
const COLLECTIONS = 4;

const reading = readConfig(process.env);
if (!reading.ok) throw new Error(reading.faults.join("; "));
const relay = await startRelay(reading.config, openLog("error"));

const lateness = createHistogram();
let tickedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  lateness.record(Math.max(1, Math.round((now - tickedAt - EVERY_MS) * 1e6)));
  tickedAt = now;
}, EVERY_MS);

console.log(`Relay is running at ${relay.urls.public}`);

for await (const question of createInterface({ input: process.stdin })) {
  if (question !== "") console.log(JSON.stringify(await vitals()));
}

async function vitals(): Promise<Vitals> {
  const at = (share: number): number => lateness.percentile(share) / 1e6;
  const delayMs = { p50: at(50), p99: at(99), p999: at(99.9), max: lateness.max / 1e6 };
  for (let turn = 0; turn < COLLECTIONS; turn += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  // What the collections held up is not the traffic's.
  lateness.reset();
  tickedAt = performance.now();
  return { rss, heapUsed, external, delayMs };
}
