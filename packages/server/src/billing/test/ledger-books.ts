import assert from "node:assert/strict";
import type { Connection } from "../../store/connection.ts";
import { sum } from "./ledger-model.ts";
import type { LedgerModel } from "./ledger-model.ts";

/** Checks that what is written adds up, by the model's sums. */
export function checkBooks(db: Connection, model: LedgerModel): void {
  const rows = (sql: string): unknown[] => db.all(sql).map((row) => ({ ...row }));
  const accounts = [...new Set(model.projects.map(({ account }) => account))].toSorted();
  const withMoney = accounts
    .filter((account) => model.entriesOf(account).length > 0 || model.usage(account) > 0)
    .map((account) => ({ account_id: account, balance: model.balance(account) }));
  assert.deepEqual(
    rows("SELECT account_id, balance_micros AS balance, credits FROM balances ORDER BY account_id"),
    withMoney.map((one) => ({ ...one, credits: model.entriesOf(one.account_id).length })),
    "the balances are the model's",
  );
  assert.deepEqual(
    rows(`SELECT account_id, sum(amount_micros) AS balance FROM ledger
      GROUP BY account_id ORDER BY account_id`),
    withMoney,
    "each balance is the sum of its ledger",
  );
  assert.deepEqual(
    rows("SELECT segment_id AS id, counted FROM segments ORDER BY segment_id"),
    model.segments.map(({ id, counted }) => ({ id, counted })),
    "each call that counts is counted once",
  );
  const months = rows(
    "SELECT project_id, month, spent_micros AS spent FROM usage_months ORDER BY project_id, month",
  );
  for (const { project_id, month, spent } of months as MonthRow[]) {
    const project = model.projects.find(({ id }) => id === project_id);
    assert.ok(project !== undefined);
    assert.equal(spent, model.spentIn(project, month), "spent follows from the count");
  }
  for (const account of accounts) {
    const paidIn = sum(model.entriesOf(account), ({ amount }) => Math.max(0, amount));
    assert.ok(model.usage(account) <= paidIn, "no paid call takes a balance below 0");
  }
}

type MonthRow = { readonly project_id: string; readonly month: string; readonly spent: number };
