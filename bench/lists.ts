/** Lists at the size of a busy machine: 10,000 links and 1,000,000 call rows over 30 days. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintToken } from "../packages/server/src/ids.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import { relayTargets } from "./calls.ts";
import { Child } from "./child.ts";
import type { Job, Result } from "./load.ts";
import { LINKS, ROWS, fillMonth } from "./month.ts";

const PAGES = 100;
const TRIES = 40;
const CALLERS = 8;
const BUSY_ROUNDS = 5;
const ROUND_MS = 2_000;

/** Prints the 95th percentile of the first and of the 100th page of each list. */
export async function benchLists(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const secretKey = mintToken("secretKey");
  const store = await openSqliteStore({ dataDir, durability: "normal" });
  const linkId = await fillMonth(store, secretKey);
  await store.close();
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  });
  const load = new Child("bench/load.ts");
  try {
    const line = await relay.line((text) => text.includes("is running at"));
    const base = line.split(" ").at(-1) ?? "";
    console.log(`\nLists with ${LINKS} links and ${ROWS} call rows, 95th percentile of ${TRIES}\n`);
    for (const query of [
      "/v1/calls?limit=50",
      "/v1/calls?limit=50&outcome=timeout",
      "/v1/calls?limit=50&tool=no_such_tool",
      `/v1/calls?limit=50&linkId=${linkId}`,
      "/v1/links?limit=50",
      "/v1/links?limit=50&sort=label",
      "/v1/links?limit=50&label=zzz",
      "/v1/links?limit=50&state=online",
      "/v1/usage",
      `/v1/hours?${month()}`,
      `/v1/hours?tool=search&${month()}`,
      `/v1/latency?${month()}`,
    ]) {
      await measure(base, query, secretKey);
    }
    await measureCalls(load, relay, dataDir, base, secretKey);
  } finally {
    relay.kill();
    load.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The 31 days that end now, as a query. */
function month(): string {
  const now = Date.now();
  const iso = (at: number): string => new Date(at).toISOString().slice(0, 19);
  return `from=${iso(now - 31 * 86_400_000)}Z&to=${iso(now)}Z`;
}

async function measure(base: string, query: string, key: string): Promise<void> {
  const get = async (cursor: string | null): Promise<{ nextCursor: string | null; ms: number }> => {
    const began = performance.now();
    const more = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${base}${query}${more}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    if (response.status === 429) {
      // The limit of REST requests of a project is part of what is measured around.
      const seconds = Number(response.headers.get("retry-after"));
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      return get(cursor);
    }
    const body = (await response.json()) as { nextCursor?: string | null };
    if (!response.ok) throw new Error(JSON.stringify(body));
    return { nextCursor: body.nextCursor ?? null, ms: performance.now() - began };
  };
  const times = async (cursor: string | null): Promise<number> => {
    const all: number[] = [];
    for (let left = TRIES; left > 0; left -= 1) all.push((await get(cursor)).ms);
    return all.toSorted((a, b) => a - b)[Math.floor(TRIES * 0.95)] ?? 0;
  };
  let cursor: string | null = null;
  let page = 1;
  for (; page < PAGES; page += 1) {
    const { nextCursor } = await get(cursor);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  const first = await times(null);
  const last = await times(cursor);
  console.log(
    `  ${query.padEnd(44)}  page 1 ${first.toFixed(1).padStart(6)} ms   page ${String(page).padStart(3)} ${last.toFixed(1).padStart(6)} ms`,
  );
}

/** Prints how long calls take by themselves, and while a client pages through every call there is. */
async function measureCalls(
  load: Child,
  relay: Child,
  dataDir: string,
  base: string,
  key: string,
): Promise<void> {
  const targets = await relayTargets(relay, dataDir, CALLERS);
  const run = (): Promise<Result> =>
    load.ask<Result>({ targets, callers: CALLERS, milliseconds: ROUND_MS } satisfies Job);
  await run();
  const quiet: Result[] = [];
  const paged: Result[] = [];
  let pages = 0;
  for (let round = 0; round < BUSY_ROUNDS; round += 1) {
    quiet.push(await run());
    const stop = new AbortController();
    const paging = pageThrough(base, key, stop.signal);
    paged.push(await run());
    stop.abort();
    pages += await paging;
  }
  const middle = (results: readonly Result[], read: (result: Result) => number): number =>
    results.map(read).toSorted((a, b) => a - b)[Math.floor(results.length / 2)] ?? 0;
  const line = (results: readonly Result[]): string =>
    `p50 ${middle(results, (result) => result.p50Ms).toFixed(2)} ms  p99 ${middle(results, (result) => result.p99Ms).toFixed(2)} ms`;
  console.log(`\n  calls of ${CALLERS} callers, nobody paging      ${line(quiet)}`);
  console.log(`  while a client reads ${pages} pages of 200  ${line(paged)}\n`);
}

/** Reads page after page, from the start again at the end, until told to stop; returns how many. */
async function pageThrough(base: string, key: string, stop: AbortSignal): Promise<number> {
  let cursor: string | null = null;
  let pages = 0;
  while (!stop.aborted) {
    const more: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${base}/v1/calls?limit=200${more}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const body = (await response.json()) as { nextCursor?: string | null };
    // At the limit of requests a minute this client has done what a client can.
    if (response.status === 429) break;
    cursor = body.nextCursor ?? null;
    pages += 1;
  }
  return pages;
}
