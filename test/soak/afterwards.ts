/** What is compared when all is still: what hosts saw, the rows, the sums, the usage and the metrics. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Outcome } from "@relay/protocol";
import { inspect } from "../../packages/server/src/store/inspect.ts";
import type { Book } from "./book.ts";
import type { Project, RelayUnderSoak } from "./relay-under-soak.ts";
import { pause } from "./scenarios.ts";

export type Totals = {
  readonly calls: number;
  readonly counted: number;
  /** Calls by outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly usageCounted: number;
  readonly metricsCounted: number;
  readonly spentMicros: number;
  readonly socketsOpened: number;
};

type Row = {
  /** `YYYY-MM` of its start. */
  readonly month: string;
  readonly requestId: string;
  readonly linkId: string;
  readonly outcome: string;
  readonly counted: boolean;
};

const SETTLE_MS = 30_000;
/** How a call may end whose host left too soon to know: a late one meets what is done to the link next. */
const HASTY_OUTCOMES: ReadonlySet<string> = new Set([
  "ok",
  "cancelled",
  "disconnected",
  "offline",
  "paused",
  "busy",
] satisfies Outcome[]);

/** Finds in the book every call that was not written down as predicted, and every sum that differs. */
export async function checkAfterwards(
  relay: RelayUnderSoak,
  projects: readonly Project[],
  book: Book,
): Promise<Totals> {
  const samples = await whenStill(relay);
  const rows = readRows(relay.dataDir);
  checkRows(rows, book);
  const months = [...new Set(rows.map(({ month }) => month))];
  const usages = await Promise.all(
    projects.flatMap(({ secretKey }) =>
      months.map((month) => relay.rest("GET", `/v1/usage?month=${month}`, undefined, secretKey)),
    ),
  );
  const outcomes = new Map<string, number>();
  for (const { outcome } of rows) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  for (const [outcome, calls] of outcomes) {
    const told = samples.sum("relay_calls_total", { outcome });
    const used = usages.reduce((sum, usage) => sum + Number(usage["byOutcome"][outcome] ?? 0), 0);
    if (told !== calls || used !== calls) {
      book.fault(`${outcome}: ${calls} rows, ${used} in the usage, ${told} in the metrics`);
    }
  }
  const totals: Totals = {
    calls: rows.length,
    counted: rows.filter(({ counted }) => counted).length,
    outcomes,
    usageCounted: usages.reduce((sum, usage) => sum + Number(usage["counted"]), 0),
    metricsCounted: samples.sum("relay_calls_total", { counted: "true" }),
    spentMicros: usages.reduce((sum, usage) => sum + Number(usage["spentMicros"]), 0),
    socketsOpened: samples.sum("relay_sockets_opened_total"),
  };
  checkTotals(totals, samples.sum("relay_calls_total"), book);
  checkFolder(relay.dataDir, book);
  return totals;
}

/** Waits until no call is in flight and no row unwritten; returns the metrics of that moment. */
async function whenStill(relay: RelayUnderSoak) {
  for (const until = performance.now() + SETTLE_MS; ; await pause(100)) {
    const samples = await relay.samples();
    const open = samples.sum("relay_calls_in_flight") + samples.sum("relay_store_unwritten_rows");
    if (open === 0) return samples;
    if (performance.now() > until) throw new Error(`${open} calls or rows are still open`);
  }
}

function readRows(dataDir: string): Row[] {
  const db = new DatabaseSync(join(dataDir, "relay.db"), { readOnly: true, timeout: 5_000 });
  try {
    const days = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'calls_[0-9]*'")
      .all();
    return days.flatMap(({ name }) =>
      db
        .prepare(
          `SELECT request_id, link_id, outcome, counted,
             strftime('%Y-%m', started_at / 1000, 'unixepoch') AS month FROM ${String(name)}`,
        )
        .all()
        .map((row) => ({
          month: String(row["month"]),
          requestId: String(row["request_id"]),
          linkId: String(row["link_id"]),
          outcome: String(row["outcome"]),
          counted: row["counted"] === 1,
        })),
    );
  } finally {
    db.close();
  }
}

/** Each prediction has its row, and each row its prediction or a hasty host. */
function checkRows(rows: readonly Row[], book: Book): void {
  const hasty = new Map(book.hasty);
  const seen = new Set<string>();
  for (const { requestId, linkId, outcome, counted } of rows) {
    if (seen.has(requestId)) book.fault(`${requestId} has two rows`);
    seen.add(requestId);
    const predicted = book.predictions.get(requestId);
    if (predicted === undefined) {
      const left = hasty.get(linkId) ?? 0;
      const isExplained = left > 0 && HASTY_OUTCOMES.has(outcome);
      if (!isExplained) book.fault(`nobody made ${requestId}, a row says ${outcome}`);
      hasty.set(linkId, left - 1);
      continue;
    }
    const isAsPredicted =
      predicted.linkId === linkId && predicted.outcome === outcome && predicted.counted === counted;
    if (isAsPredicted) continue;
    const { scenario } = predicted;
    book.fault(`${scenario}: ${requestId} is ${outcome}, counted ${counted}, in its row`);
  }
  for (const [requestId, { scenario, outcome }] of book.predictions) {
    if (!seen.has(requestId)) book.fault(`${scenario}: ${requestId}, ${outcome}, has no row`);
  }
}

function checkTotals(totals: Totals, metricsCalls: number, book: Book): void {
  const { calls, counted, usageCounted, metricsCounted } = totals;
  if (metricsCalls !== calls) book.fault(`${calls} rows, ${metricsCalls} calls in the metrics`);
  if (usageCounted !== counted || metricsCounted !== counted) {
    book.fault(`counted: ${counted} rows, usage ${usageCounted}, metrics ${metricsCounted}`);
  }
}

/** What `relay doctor` looks at. */
function checkFolder(dataDir: string, book: Book): void {
  const found = inspect(dataDir);
  if (found === null) throw new Error(`no database in ${readdirSync(dataDir).join()}`);
  const faults = [...found.damage, ...found.countFaults, ...found.money.faults];
  for (const fault of faults) book.fault(`doctor: ${JSON.stringify(fault)}`);
}
