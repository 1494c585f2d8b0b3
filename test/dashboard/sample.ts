/**
 * A Relay that has been in use for a month: links with all kinds of labels and states, and calls
 * with every outcome. Written through the store, before a server opens the data folder.
 */
import { createHash } from "node:crypto";
import { OUTCOME_NAMES, isCounted } from "../../packages/protocol/src/index.ts";
import type { LinkId, Outcome, ProjectId } from "../../packages/protocol/src/index.ts";
import {
  hashToken,
  mintKeyId,
  mintLinkId,
  mintProjectId,
  mintRequestId,
  mintToken,
} from "../../packages/server/src/ids.ts";
import { openSqliteStore } from "../../packages/server/src/store/sqlite.ts";
import type { SqliteStore } from "../../packages/server/src/store/sqlite.ts";
import type { Manifest } from "../../packages/server/src/store/store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LABELS = [
  "Maria’s laptop",
  "הטלפון של נועה",
  "حاسوب ليلى المحمول",
  "Workshop tablet",
  "A label that is exactly as long as a label may ever be: 64 chars!",
  "Ноутбук Ольги",
  "build-agent-07",
  "Studio Mac",
];
const CLIENTS = [
  { name: "claude-ai", version: "0.1.0" },
  { name: "cursor-vscode", version: "1.0.0" },
  { name: "openai-mcp", version: "1.0.0" },
];
const TOOLS = [
  { name: "search_notes", ms: 90 },
  { name: "add_note", ms: 240 },
  { name: "export_everything", ms: 4_200 },
];

export type Sample = {
  readonly projectId: ProjectId;
  readonly publishableKey: string;
  readonly links: readonly { readonly linkId: LinkId; readonly linkToken: string }[];
};

/** Numbers that look random and are the same each time. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export const SAMPLE_TOOLS = [
  {
    name: "search_notes",
    title: "Search notes",
    description: "Full-text search of the person's notes",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words to look for" },
        limit: { type: "integer", description: "At most so many notes" },
        folders: { type: "array", items: { type: "string" } },
        exact: { type: "boolean", description: "Whole words only" },
      },
      required: ["query"],
    },
    annotations: { readOnlyHint: true, destructiveHint: false },
  },
  {
    name: "add_note",
    description: "Adds a note to the person's notebook",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    annotations: { destructiveHint: false },
  },
  {
    name: "export_everything",
    inputSchema: {
      type: "object",
      properties: { where: { type: "object", properties: { path: { type: "string" } } } },
      required: ["where"],
    },
    annotations: { destructiveHint: true },
  },
];

/** Fills a data folder that no server has open. */
export async function fillSample(dataDir: string, wanted: { links: number; calls: number }) {
  const store = await openSqliteStore({ dataDir, durability: "normal" });
  try {
    return await fill(store, wanted);
  } finally {
    await store.close();
  }
}

async function fill(store: SqliteStore, wanted: { links: number; calls: number }): Promise<Sample> {
  const now = Date.now();
  const random = randomFrom(7);
  const projectId = mintProjectId(now - 40 * DAY_MS);
  const publishableKey = mintToken("publishableKey");
  const key = (kind: "pk" | "sk", text: string, at: number) => ({
    keyId: mintKeyId(at),
    projectId,
    kind,
    hash: hashToken(text),
    plain: kind === "pk" ? text : null,
    last4: text.slice(-4),
    createdAt: at,
    expiresAt: null,
  });
  await store.createProject(
    {
      projectId,
      accountId: null,
      name: "Notes",
      callsPerMinute: 60,
      allowedOrigins: ["https://notes.example.com"],
      suspended: false,
      stopped: false,
      freeCallsPerMonth: 1_000,
      priceMicrosPerCall: 1_000,
      spendCapMicros: 10_000_000,
      createdAt: now - 40 * DAY_MS,
      projectsMax: 10,
    },
    [
      key("pk", publishableKey, now - 40 * DAY_MS),
      key("sk", mintToken("secretKey"), now - 12 * DAY_MS),
    ],
  );
  const links = await fillLinks(store, projectId, wanted.links, now, random);
  await fillCalls(store, projectId, links, wanted.calls, now, random);
  return { projectId, publishableKey, links };
}

function manifest(): Manifest {
  const app = { name: "Notes", version: "1.4.2" };
  const toolsText = JSON.stringify(SAMPLE_TOOLS);
  return {
    hash: createHash("sha256").update(toolsText).digest("hex"),
    app,
    instructions: "Notes is the person's local notebook. Search it before answering about notes.",
    toolsText,
    toolCount: SAMPLE_TOOLS.length,
    warnings: [{ path: "tools[2]", message: "has no description; models guess what it does" }],
  };
}

async function fillLinks(
  store: SqliteStore,
  projectId: ProjectId,
  count: number,
  now: number,
  random: () => number,
) {
  const links: { linkId: LinkId; linkToken: string }[] = [];
  const made: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    const createdAt = now - 30 * DAY_MS + index * 1_000;
    const linkId = mintLinkId(createdAt);
    const linkToken = mintToken("linkToken");
    links.push({ linkId, linkToken });
    const label = LABELS[index] ?? (index % 9 === 0 ? null : `Device ${index}`);
    const create = store.createLink(
      {
        linkId,
        projectId,
        label,
        linkTokenHash: hashToken(linkToken),
        urlTokenHash: hashToken(mintToken("urlToken")),
        madeWithSecretKey: false,
        createdAt,
      },
      20_000,
    );
    made.push(index % 11 === 10 ? create : create.then(() => visit(store, linkId, now, random())));
    if (made.length === 500) await Promise.all(made.splice(0));
  }
  await Promise.all(made);
  return links;
}

/** An app that was there for an hour, some time ago. */
async function visit(store: SqliteStore, linkId: LinkId, now: number, when: number): Promise<void> {
  const at = now - Math.round(when * when * 20 * DAY_MS) - HOUR_MS;
  const claimed = await store.claimLink({ linkId, node: "sample", manifest: manifest(), at });
  if (claimed === "gone") return;
  const close = when > 0.5 ? { code: 1006, reason: "" } : { code: 1001, reason: "page left" };
  await store.releaseLink(linkId, claimed.link.ownerEpoch, at + HOUR_MS / 2, close);
}

const ODDS: readonly (readonly [Outcome, number])[] = [
  ["ok", 0.83],
  ["tool_error", 0.88],
  ["offline", 0.93],
  ["timeout", 0.945],
  ["cancelled", 0.96],
  ["invalid_input", 0.975],
  ["disconnected", 0.983],
  ["rate_limited", 0.99],
];

async function fillCalls(
  store: SqliteStore,
  projectId: ProjectId,
  links: Sample["links"],
  count: number,
  now: number,
  random: () => number,
): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dice = random();
    const outcome =
      ODDS.find(([, up]) => dice < up)?.[0] ?? OUTCOME_NAMES[index % OUTCOME_NAMES.length] ?? "ok";
    const tool = TOOLS[Math.floor(random() * random() * TOOLS.length)] ?? TOOLS[0];
    const link = links[Math.floor(random() * Math.min(links.length, 12))];
    if (tool === undefined || link === undefined) continue;
    // Denser in the last days and around noon.
    const startedAt = now - Math.round(random() * random() * 7 * DAY_MS) - 90_000;
    const sent = isCounted(outcome, true);
    waiting.push(
      store.recordCall(
        {
          callId: mintToken("callId"),
          projectId,
          linkId: link.linkId,
          tool: tool.name,
          toolKnown: true,
          client: CLIENTS[Math.floor(random() * CLIENTS.length)] ?? null,
          outcome,
          counted: sent,
          startedAt,
          durationMs: sent ? Math.round(tool.ms * (0.4 + random() * 2.4)) : 1,
          requestBytes: 40 + Math.round(random() * 300),
          resultBytes: sent ? 200 + Math.round(random() * 4_000) : 0,
          requestId: mintRequestId(startedAt),
        },
        false,
      ),
    );
    if (waiting.length === 1_000) await Promise.all(waiting.splice(0));
  }
  await Promise.all(waiting);
}
