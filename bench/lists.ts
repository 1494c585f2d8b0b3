/** Lists at the size of a busy machine: 10,000 links and 1,000,000 call rows over 30 days. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OUTCOME_NAMES } from "@relay/protocol";
import {
  hashToken,
  mintKeyId,
  mintLinkId,
  mintProjectId,
  mintRequestId,
  mintToken,
} from "../packages/server/src/ids.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite.ts";
import type { Store } from "../packages/server/src/store/store.ts";
import { Child } from "./child.ts";

const LINKS = 10_000;
const ROWS = 1_000_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const IN_FLIGHT = 2_000;
const PAGES = 100;
const TRIES = 40;

/** Prints the 95th percentile of the first and of the 100th page of each list. */
export async function benchLists(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const secretKey = mintToken("secretKey");
  const store = await openSqliteStore({ dataDir, durability: "normal" });
  const linkId = await fill(store, secretKey);
  await store.close();
  const relay = new Child("packages/server/src/main.ts", ["serve"], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
  });
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
    ]) {
      await measure(base, query, secretKey);
    }
  } finally {
    relay.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fill(store: Store, secretKey: string): Promise<string> {
  const now = Date.now();
  const projectId = mintProjectId(now);
  await store.createProject(
    {
      projectId,
      accountId: null,
      name: "Bench",
      callsPerMinute: 60,
      allowedOrigins: [],
      suspended: false,
      stopped: false,
      freeCallsPerMonth: null,
      priceMicrosPerCall: 0,
      spendCapMicros: null,
      createdAt: now,
      projectsMax: 10,
    },
    [
      {
        keyId: mintKeyId(now),
        projectId,
        kind: "sk",
        hash: hashToken(secretKey),
        plain: null,
        last4: secretKey.slice(-4),
        createdAt: now,
        expiresAt: null,
      },
    ],
  );
  const links = Array.from({ length: LINKS }, () => mintLinkId(now));
  await inGroups(LINKS, (index) =>
    store.createLink(
      {
        linkId: links[index] ?? mintLinkId(now),
        projectId,
        label: `Person ${index}`,
        linkTokenHash: hashToken(mintToken("linkToken")),
        urlTokenHash: hashToken(mintToken("urlToken")),
        madeWithSecretKey: false,
        createdAt: now - index,
      },
      LINKS,
    ),
  );
  await inGroups(ROWS, (index) =>
    store.recordCall(
      {
        callId: mintToken("callId"),
        projectId,
        linkId: links[(index * 7919) % LINKS] ?? mintLinkId(now),
        tool: `tool_${index % 6}`,
        toolKnown: true,
        client: { name: "bench", version: "1" },
        outcome: OUTCOME_NAMES[index % 50 === 0 ? 2 : 0] ?? "ok",
        counted: true,
        startedAt: Math.round(now - (index / ROWS) * (DAYS - 1) * DAY_MS),
        durationMs: index % 300,
        requestBytes: 100,
        resultBytes: 1_000,
        requestId: mintRequestId(now),
      },
      false,
    ),
  );
  return links[0] ?? "";
}

async function inGroups(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += IN_FLIGHT) {
    const length = Math.min(IN_FLIGHT, count - from);
    await Promise.all(Array.from({ length }, (_, index) => run(from + index)));
  }
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
