import type { Connection } from "./connection.ts";
import { schemaNumber } from "./migrate.ts";
import { money } from "./migrations/0003-money.ts";
import { USAGE_KEY } from "./money.ts";
import { integer, text } from "./rows.ts";

/** One thing about money that does not hold: which, whose, and in what way. */
export type MoneyFault = {
  readonly invariant: "balance" | "counted" | "spent" | "cap" | "overdrawn" | "source key";
  readonly where: string;
  readonly says: string;
};

export type MoneyInspection = {
  /** Accounts that have a balance, and months in which calls were paid for. */
  readonly accounts: number;
  readonly months: number;
  /** At most a few of each kind. */
  readonly faults: readonly MoneyFault[];
};

/** Roll-ups are kept for 13 months; those of the oldest may be half gone. */
const MONTHS_COMPARED = 12;
const FAULTS_MAX = 5;

/**
 * Checks what SPEC 10 says of money always holds, by sums of its own. `gone` selects the projects
 * that are being removed, whose roll-ups say nothing any more; `now` is ms.
 */
export function inspectMoney(db: Connection, gone: string, now: number): MoneyInspection {
  if (schemaNumber(db) < money.number) return { accounts: 0, months: 0, faults: [] };
  const number = (sql: string): number => integer(db.get(sql) ?? {}, "n");
  return {
    accounts: number("SELECT count(*) AS n FROM balances"),
    months: number("SELECT count(*) AS n FROM usage_months"),
    faults: [
      ...balanceFaults(db),
      ...countedFaults(db, gone, now),
      ...spentFaults(db),
      ...capFaults(db),
      ...overdrawnFaults(db),
      ...sourceKeyFaults(db),
    ],
  };
}

/** The balance is the sum of the ledger, and the credits are those of its entries that are no usage. */
function balanceFaults(db: Connection): MoneyFault[] {
  return db
    .all(
      `SELECT account_id, sum(balance) AS balance, sum(entries) AS entries, sum(credits) AS credits,
         sum(credit_entries) AS credit_entries
       FROM (SELECT account_id, balance_micros AS balance, credits_micros AS credits, 0 AS entries,
           0 AS credit_entries FROM balances
         UNION ALL SELECT account_id, 0, 0, amount_micros, iif(kind = 'usage', 0, amount_micros)
           FROM ledger)
       GROUP BY account_id
       HAVING sum(balance) <> sum(entries) OR sum(credits) <> sum(credit_entries)
       LIMIT ${FAULTS_MAX}`,
    )
    .map((row) => ({
      invariant: "balance",
      where: `account ${text(row, "account_id")}`,
      says: `the balance is ${integer(row, "balance")} and its ledger adds up to ${integer(row, "entries")}; credited ${integer(row, "credits")}, by the ledger ${integer(row, "credit_entries")}`,
    }));
}

/** Every counted call of a month is in one of its segments, but for those of mode `off`. */
function countedFaults(db: Connection, gone: string, now: number): MoneyFault[] {
  const date = new Date(now);
  const oldest = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - MONTHS_COMPARED));
  return db
    .all(
      `WITH months AS (
         SELECT project_id, month, unixepoch(month || '-01') * 1000 AS starts,
           unixepoch(month || '-01', '+1 month') * 1000 AS ends, max(epoch) AS epoch,
           sum(counted) AS counted, max(counted_outside) AS outside
         FROM segments
         WHERE month >= ? AND project_id IN (SELECT project_id FROM projects)
           AND project_id NOT IN (${gone})
         GROUP BY project_id, month),
       summed AS (
         SELECT m.*, (SELECT ifnull(sum(h.counted), 0) FROM call_hours h
             WHERE h.project_id = m.project_id AND h.hour >= starts AND h.hour < ends) AS summed,
           EXISTS (SELECT 1 FROM billing_modes b
             WHERE b.mode = 'off' AND b.epoch > m.epoch AND b.since < ends) AS was_off
         FROM months m)
       SELECT project_id, month, counted, outside, summed FROM summed
       WHERE summed < counted + outside OR (summed > counted + outside AND NOT was_off)
       LIMIT ${FAULTS_MAX}`,
      oldest.toISOString().slice(0, 7),
    )
    .map((row) => ({
      invariant: "counted",
      where: `project ${text(row, "project_id")}, ${text(row, "month")}`,
      says: `${integer(row, "counted")} calls were paid for and ${integer(row, "outside")} were made in mode off, but the hourly sums have ${integer(row, "summed")}`,
    }));
}

/** What a month has spent follows from its segments, and is what the ledger says. */
function spentFaults(db: Connection): MoneyFault[] {
  return db
    .all(
      `SELECT place, sum(spent) AS spent, sum(formula) AS formula, sum(entries) AS entries
       FROM (SELECT project_id || ':' || month AS place, spent_micros AS spent, 0 AS formula,
           0 AS entries FROM usage_months
         UNION ALL SELECT project_id || ':' || month, 0, iif(allowance IS NULL, 0, price_micros *
           max(0, counted_at_start + counted - max(allowance, counted_at_start))), 0 FROM segments
         UNION ALL SELECT substr(source_key, ${USAGE_KEY.length + 1}), 0, 0, -amount_micros
           FROM ledger WHERE kind = 'usage')
       GROUP BY place HAVING sum(spent) <> sum(formula) OR sum(spent) <> sum(entries)
       LIMIT ${FAULTS_MAX}`,
    )
    .map((row) => ({
      invariant: "spent",
      where: `project ${text(row, "place").replace(":", ", ")}`,
      says: `spent is ${integer(row, "spent")}, by the count it is ${integer(row, "formula")}, in the ledger ${integer(row, "entries")}`,
    }));
}

function capFaults(db: Connection): MoneyFault[] {
  return db
    .all(
      `SELECT project_id, month, spent_micros, cap_peak_micros FROM usage_months
       WHERE spent_micros > cap_peak_micros LIMIT ${FAULTS_MAX}`,
    )
    .map((row) => ({
      invariant: "cap",
      where: `project ${text(row, "project_id")}, ${text(row, "month")}`,
      says: `spent is ${integer(row, "spent_micros")}, and the cap was never above ${integer(row, "cap_peak_micros")}`,
    }));
}

/** Calls never cost more than was put in; what is below 0 was taken back afterwards. */
function overdrawnFaults(db: Connection): MoneyFault[] {
  return db
    .all(
      `SELECT account_id, -sum(iif(kind = 'usage', amount_micros, 0)) AS used,
         sum(iif(kind <> 'usage' AND amount_micros > 0, amount_micros, 0)) AS paid_in
       FROM ledger GROUP BY account_id
       HAVING -sum(iif(kind = 'usage', amount_micros, 0)) >
         sum(iif(kind <> 'usage' AND amount_micros > 0, amount_micros, 0))
       LIMIT ${FAULTS_MAX}`,
    )
    .map((row) => ({
      invariant: "overdrawn",
      where: `account ${text(row, "account_id")}`,
      says: `calls cost ${integer(row, "used")}, and only ${integer(row, "paid_in")} was ever paid in`,
    }));
}

function sourceKeyFaults(db: Connection): MoneyFault[] {
  return db
    .all(
      `SELECT source_key, count(*) AS n FROM ledger NOT INDEXED GROUP BY source_key
       HAVING count(*) > 1 LIMIT ${FAULTS_MAX}`,
    )
    .map((row) => ({
      invariant: "source key",
      where: text(row, "source_key"),
      says: `was booked ${integer(row, "n")} times`,
    }));
}
