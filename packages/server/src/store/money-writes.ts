import type { AccountId, ProjectId } from "@relay/protocol";
import { alertsDue } from "../core/ledger-alerts.ts";
import type { OpenedMonth, SegmentId } from "../core/ledger-book.ts";
import { monthNamed } from "../core/ledger-month.ts";
import { MONEY_MICROS_MAX, sameTerms, spentIn, termsOf } from "../core/ledger.ts";
import type { BillingMode, Segment } from "../core/ledger.ts";
import { mintEntryId } from "../ids.ts";
import type { Connection } from "./connection.ts";
import { alertEvent } from "./alert-event.ts";
import { USAGE_KEY } from "./money.ts";
import type { BookedCredit, NewCredit } from "./money.ts";
import {
  ENTRY_COLUMNS,
  SEGMENT_COLUMNS,
  accountMoney,
  integerOrNull,
  modeInForce,
  readEntry,
  readSegment,
} from "./money-rows.ts";
import { getProject } from "./reads.ts";
import { integer, text } from "./rows.ts";
import { addEvent } from "./webhook-writes.ts";
import type { WriteContext } from "./write-context.ts";

export function startBilling(
  { db }: WriteContext,
  mode: BillingMode,
  lowBalanceMicros: number,
  at: number,
): void {
  const inForce = modeInForce(db);
  if (inForce.epoch > 0 && inForce.mode === mode) {
    db.run(
      "UPDATE billing_modes SET low_balance_micros = ? WHERE epoch = ?",
      lowBalanceMicros,
      inForce.epoch,
    );
    return;
  }
  db.run(
    "INSERT INTO billing_modes (epoch, mode, since, low_balance_micros) VALUES (?, ?, ?, ?)",
    inForce.epoch + 1,
    mode,
    at,
    lowBalanceMicros,
  );
}

export function openMonth(
  context: WriteContext,
  projectId: ProjectId,
  month: string,
  at: number,
): OpenedMonth | null {
  const { db } = context;
  const project = getProject(db, projectId);
  const { epoch, mode } = modeInForce(db);
  if (project === null || mode === "off") return null;
  db.run(
    `INSERT INTO usage_months (project_id, month, account_id, cap_peak_micros) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET cap_peak_micros = max(cap_peak_micros, excluded.cap_peak_micros)`,
    projectId,
    month,
    project.accountId,
    project.spendCapMicros,
  );
  const terms = termsOf(mode, project);
  const last = lastSegment(db, projectId, month);
  if (last === null || last.epoch !== epoch || !sameTerms(last, terms)) {
    beginSegment(db, { projectId, month, epoch, at, ...terms });
  }
  const now = lastSegment(db, projectId, month);
  if (now === null) throw new Error("a segment that was just made is not there");
  const spent = db.get(
    "SELECT spent_micros FROM usage_months WHERE project_id = ? AND month = ?",
    projectId,
    month,
  );
  const { segmentId, counted, epoch: _epoch, ...segment } = now;
  raiseAlerts(context, segmentId, false, at);
  return {
    month: monthNamed(month),
    segmentId,
    segment,
    counted,
    earlierSpentMicros: integer(spent ?? {}, "spent_micros") - spentOf(segment, counted),
    capMicros: project.spendCapMicros,
    account: accountMoney(db, project.accountId),
  };
}

const LAST_SEGMENT = `SELECT ${SEGMENT_COLUMNS} FROM segments WHERE project_id = ? AND month = ?
  ORDER BY segment_id DESC LIMIT 1`;

function lastSegment(db: Connection, projectId: ProjectId, month: string) {
  const row = db.get(LAST_SEGMENT, projectId, month);
  return row === undefined ? null : readSegment(row);
}

type NewSegment = Omit<Segment, "countedAtStart"> & {
  readonly projectId: ProjectId;
  readonly month: string;
  readonly epoch: number;
  readonly at: number;
};

/** Begins a segment at what the month's roll-ups say: they hold every call that counted. */
function beginSegment(db: Connection, segment: NewSegment): void {
  const { projectId, month } = segment;
  const { startMs, endMs } = monthNamed(month);
  const summed = db.get(
    `SELECT ifnull(sum(counted), 0) AS n FROM call_hours
     WHERE project_id = ? AND hour >= ? AND hour < ?`,
    projectId,
    startMs,
    endMs,
  );
  const inside = db.get(
    "SELECT ifnull(sum(counted), 0) AS n FROM segments WHERE project_id = ? AND month = ?",
    projectId,
    month,
  );
  const counted = integer(summed ?? {}, "n");
  db.run(
    `INSERT INTO segments (project_id, month, epoch, mode, allowance, price_micros, started_at,
       counted_at_start, counted_outside) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    projectId,
    month,
    segment.epoch,
    segment.mode,
    segment.allowance,
    segment.priceMicros,
    segment.at,
    counted,
    counted - integer(inside ?? {}, "n"),
  );
}

/** What a segment's own calls have cost, all of them made on its terms. */
function spentOf(segment: Segment, counted: number): number {
  return spentIn(segment, segment.countedAtStart + counted);
}

const COUNT_SEGMENT = `UPDATE segments SET counted = counted + ? WHERE segment_id = ?
  RETURNING ${SEGMENT_COLUMNS}, project_id, month`;

/**
 * Adds calls that counted to their segment, and what they cost to the month, the balance and the
 * ledger, once for all of them. A part of the transaction that writes their rows.
 */
export function countCalls(
  context: WriteContext,
  segmentId: SegmentId,
  calls: number,
  at: number,
): void {
  const { db } = context;
  const row = db.get(COUNT_SEGMENT, calls, segmentId);
  if (row === undefined) throw new Error(`there is no segment ${segmentId}`);
  const segment = readSegment(row);
  const cost = spentOf(segment, segment.counted) - spentOf(segment, segment.counted - calls);
  if (cost > 0) charge(db, text(row, "project_id"), text(row, "month"), cost, at);
  raiseAlerts(context, segmentId, cost > 0, at);
}

/** Takes what calls of a project's month cost from its account. */
function charge(db: Connection, projectId: string, month: string, cost: number, at: number): void {
  const row = db.get(
    `UPDATE usage_months SET spent_micros = spent_micros + ? WHERE project_id = ? AND month = ?
     RETURNING account_id`,
    cost,
    projectId,
    month,
  );
  const accountId = text(row ?? {}, "account_id");
  db.run(
    `INSERT INTO balances (account_id, balance_micros, credits_micros, credits) VALUES (?, ?, 0, 0)
     ON CONFLICT DO UPDATE SET balance_micros = balance_micros + excluded.balance_micros`,
    accountId,
    -cost,
  );
  db.run(
    `INSERT INTO ledger (entry_id, account_id, kind, amount_micros, project_id, source_key, note,
       created_at) VALUES (?, ?, 'usage', ?, ?, ?, ?, ?)
     ON CONFLICT (source_key) DO UPDATE SET amount_micros = amount_micros + excluded.amount_micros`,
    mintEntryId(at),
    accountId,
    -cost,
    projectId,
    usageKey(projectId, month),
    `Calls of ${month}`,
    at,
  );
}

/** What names a month's usage in the ledger; no credit can have such a key. */
export function usageKey(projectId: string, month: string): string {
  return `${USAGE_KEY}${projectId}:${month}`;
}

export function bookCredit({ db }: WriteContext, credit: NewCredit): BookedCredit {
  const { accountId, amountMicros, sourceKey } = credit;
  if (db.get("SELECT 1 FROM accounts WHERE account_id = ?", accountId) === undefined) {
    return { type: "no_account" };
  }
  const known = db.get(`SELECT ${ENTRY_COLUMNS} FROM ledger e WHERE source_key = ?`, sourceKey);
  const account = accountMoney(db, accountId);
  if (known !== undefined) {
    const entry = readEntry(known);
    const isSame = entry.accountId === accountId && entry.amountMicros === amountMicros;
    return isSame ? { type: "known", entry, account } : { type: "other_credit" };
  }
  const after = {
    accountId,
    balanceMicros: account.balanceMicros + amountMicros,
    creditsMicros: account.creditsMicros + amountMicros,
    credits: account.credits + 1,
  };
  const greatest = Math.max(Math.abs(after.balanceMicros), Math.abs(after.creditsMicros));
  if (greatest > MONEY_MICROS_MAX) return { type: "too_much" };
  db.run(
    `INSERT INTO ledger (entry_id, account_id, kind, amount_micros, source_key, note, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    credit.entryId,
    accountId,
    credit.kind,
    amountMicros,
    sourceKey,
    credit.note,
    credit.createdAt,
  );
  db.run(
    `INSERT INTO balances (account_id, balance_micros, credits_micros, credits) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET balance_micros = excluded.balance_micros,
       credits_micros = excluded.credits_micros, credits = excluded.credits`,
    accountId,
    after.balanceMicros,
    after.creditsMicros,
    after.credits,
  );
  return { type: "booked", entry: { ...credit, projectId: null }, account: after };
}

const ALERT_STATE = `SELECT ${SEGMENT_COLUMNS}, s.project_id, s.month, m.alerts, m.spent_micros,
    p.account_id, p.name, p.spend_cap_micros
  FROM segments s JOIN usage_months m ON m.project_id = s.project_id AND m.month = s.month
  JOIN projects p ON p.project_id = s.project_id WHERE s.segment_id = ?`;

/** Puts what is due and was not raised in this month into the outbox. A project that is gone has none. */
function raiseAlerts(
  context: WriteContext,
  segmentId: SegmentId,
  paying: boolean,
  at: number,
): void {
  const { db } = context;
  const row = db.get(ALERT_STATE, segmentId);
  if (row === undefined) return;
  const segment = readSegment(row);
  const facts = {
    segment,
    counted: segment.countedAtStart + segment.counted,
    spentMicros: integer(row, "spent_micros"),
    capMicros: integerOrNull(row, "spend_cap_micros"),
    // Written by this store, as an account's id.
    balanceMicros: accountMoney(db, text(row, "account_id") as AccountId).balanceMicros,
    lowBalanceMicros: modeInForce(db).lowBalanceMicros,
    paying,
  };
  const raised = integer(row, "alerts");
  const due = alertsDue(facts, raised);
  if (due.length === 0) return;
  const project = {
    projectId: text(row, "project_id") as ProjectId,
    name: text(row, "name"),
    month: text(row, "month"),
  };
  for (const alert of due) addEvent(context, alertEvent(alert, facts, project, at), true);
  db.run(
    "UPDATE usage_months SET alerts = ? WHERE project_id = ? AND month = ?",
    due.reduce((bits, { bit }) => bits | bit, raised),
    project.projectId,
    project.month,
  );
}
