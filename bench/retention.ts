/** What it costs to drop a day of a month of calls while other calls are being recorded. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { LinkId } from "@relay/protocol";
import { mintRequestId, mintToken } from "../packages/server/src/ids.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import type { CallRow, Store } from "../packages/server/src/store/store.ts";
import { DAYS, DAY_MS, ROWS, fillMonth } from "./month.ts";

const DROPPED_DAYS = 10;
const SHOWN_DAYS = 5;
/** A steady load beside the sweep: so many calls are recorded every so often. */
const CALLS_AT_ONCE = 10;
const EVERY_MS = 10;
const RULES = {
  callRetentionDays: DAYS,
  unusedLinkDays: 10_000,
  revokedLinkDays: 30,
  rollUpMonths: 13,
};

/** Prints the delays of the event loop and of calls' rows while days are dropped, and the file's size. */
export async function benchRetention(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const store = await openSqliteStore({ dataDir, durability: "normal" });
  try {
    const linkId = await fillMonth(store, mintToken("secretKey"));
    const record = await store.getLink(linkId);
    if (record === null) throw new Error("the month has no link");
    const { projectId } = record.link;
    console.log(`\nRetention: ${DROPPED_DAYS} of ${DAYS} days dropped from ${ROWS} rows\n`);
    const now = Date.now();
    const quiet = await whileRecording(store, projectId, linkId, now, () => pause(3_000));
    console.log(`  nothing dropped   ${quiet}`);
    const sizes = [megabytes(dataDir)];
    for (let day = 1; day <= DROPPED_DAYS; day += 1) {
      const at = now + day * DAY_MS;
      const line = await whileRecording(store, projectId, linkId, at, async () => {
        await store.sweep({ ...RULES, now: at });
      });
      // The first of them find nothing: the month has one day less than is kept.
      if (day > DROPPED_DAYS - SHOWN_DAYS)
        console.log(`  day ${String(day).padStart(2)} dropped    ${line}`);
      // The day that follows brings as many calls as the one that went.
      for (let made = 0; made < ROWS / DAYS; made += 1_000) {
        const rows = Array.from({ length: 1_000 }, () => newCall(projectId, linkId, at));
        await Promise.all(rows.map((row) => store.recordCall(row, false)));
      }
      sizes.push(megabytes(dataDir));
    }
    const [first = 0] = sizes;
    console.log(
      `  the files: ${first.toFixed(0)} MB at first, ${Math.max(...sizes).toFixed(0)} MB at most, ${(sizes.at(-1) ?? 0).toFixed(0)} MB in the end\n`,
    );
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Records calls in a steady rhythm until `work` is done; says how late they and the event loop were. */
async function whileRecording(
  store: Store,
  projectId: CallRow["projectId"],
  linkId: LinkId,
  at: number,
  work: () => Promise<void>,
): Promise<string> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const waits: number[] = [];
  const one = async (): Promise<void> => {
    const began = performance.now();
    await store.recordCall(newCall(projectId, linkId, at), false);
    waits.push(performance.now() - began);
  };
  const running: Promise<void>[] = [];
  delay.enable();
  const timer = setInterval(() => {
    for (let made = 0; made < CALLS_AT_ONCE; made += 1) running.push(one());
  }, EVERY_MS);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  delay.disable();
  await Promise.all(running);
  waits.sort((a, b) => a - b);
  const row = (share: number): string => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(1);
  const loop = (delay.percentile(99) / 1e6).toFixed(1);
  return `${seconds.toFixed(1)} s, event-loop delay p99 ${loop} ms, ${waits.length} rows p50 ${row(0.5)} p99 ${row(0.99)} max ${(waits.at(-1) ?? 0).toFixed(1)} ms`;
}

function newCall(projectId: CallRow["projectId"], linkId: LinkId, startedAt: number): CallRow {
  return {
    callId: mintToken("callId"),
    projectId,
    linkId,
    tool: "tool_1",
    toolKnown: true,
    client: { name: "bench", version: "1" },
    outcome: "ok",
    counted: true,
    startedAt,
    durationMs: 12,
    requestBytes: 100,
    resultBytes: 1_000,
    requestId: mintRequestId(startedAt),
  };
}

function megabytes(folder: string): number {
  const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  return bytes.reduce((sum, size) => sum + size, 0) / 1e6;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
