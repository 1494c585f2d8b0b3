/** A month on a busy machine: 10,000 links and 1,000,000 call rows over 30 days. */
import { OUTCOME_NAMES } from "@relay/protocol";
import type { LinkId } from "@relay/protocol";
import {
  hashToken,
  mintKeyId,
  mintLinkId,
  mintProjectId,
  mintRequestId,
  mintToken,
} from "../packages/server/src/ids.ts";
import type { Store } from "../packages/server/src/store/store.ts";

export const LINKS = 10_000;
export const ROWS = 1_000_000;
export const DAYS = 30;
export const DAY_MS = 86_400_000;
const IN_FLIGHT = 2_000;

/** Fills a new store with one project: its links, and a month of its calls. Returns a link's id. */
export async function fillMonth(store: Store, secretKey: string): Promise<LinkId> {
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
  return links[0] ?? mintLinkId(now);
}

async function inGroups(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += IN_FLIGHT) {
    const length = Math.min(IN_FLIGHT, count - from);
    await Promise.all(Array.from({ length }, (_, index) => run(from + index)));
  }
}
