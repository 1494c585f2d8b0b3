import type { AccountId, ProjectId } from "@relay/protocol";
import { BILLING_MODES } from "../core/ledger.ts";
import type { BillingMode, Segment } from "../core/ledger.ts";
import type { AccountMoney, SegmentId } from "../core/ledger-book.ts";
import type { Connection, Row } from "./connection.ts";
import type { LedgerEntry, LedgerKind } from "./money.ts";
import { integer, text, textOrNull } from "./rows.ts";
import { StoreError } from "./store.ts";

/*
 * Rows of money become records here, as in `rows.ts`: what is read was written by this folder.
 */

/** A segment as it is stored; `counted` is its own calls. */
export type StoredSegment = Segment & {
  readonly segmentId: SegmentId;
  readonly epoch: number;
  readonly counted: number;
};

export const SEGMENT_COLUMNS =
  "segment_id, epoch, mode, allowance, price_micros, counted_at_start, counted";

export function readSegment(row: Row): StoredSegment {
  return {
    segmentId: integer(row, "segment_id"),
    epoch: integer(row, "epoch"),
    mode: readMode(row),
    allowance: integerOrNull(row, "allowance"),
    priceMicros: integer(row, "price_micros"),
    countedAtStart: integer(row, "counted_at_start"),
    counted: integer(row, "counted"),
  };
}

export function readMode(row: Row): BillingMode {
  const mode = BILLING_MODES.find((known) => known === row["mode"]);
  if (mode === undefined) throw new StoreError("corrupt", "The database holds no known mode.");
  return mode;
}

/** The mode that is in force; `off` where none was ever set. */
export type ModeInForce = {
  readonly epoch: number;
  readonly mode: BillingMode;
  readonly lowBalanceMicros: number;
};

export const MODE_IN_FORCE =
  "SELECT epoch, mode, low_balance_micros FROM billing_modes WHERE epoch > 0 ORDER BY epoch DESC LIMIT 1";

export function modeInForce(db: Connection): ModeInForce {
  const row = db.get(MODE_IN_FORCE);
  if (row === undefined) return { epoch: 0, mode: "off", lowBalanceMicros: 0 };
  return {
    epoch: integer(row, "epoch"),
    mode: readMode(row),
    lowBalanceMicros: integer(row, "low_balance_micros"),
  };
}

export const ACCOUNT_MONEY =
  "SELECT balance_micros, credits_micros, credits FROM balances WHERE account_id = ?";

/** An account that never had money has a balance of 0. */
export function accountMoney(db: Connection, accountId: AccountId): AccountMoney {
  const row = db.get(ACCOUNT_MONEY, accountId);
  if (row === undefined) return { accountId, balanceMicros: 0, creditsMicros: 0, credits: 0 };
  return {
    accountId,
    balanceMicros: integer(row, "balance_micros"),
    creditsMicros: integer(row, "credits_micros"),
    credits: integer(row, "credits"),
  };
}

export const ENTRY_COLUMNS =
  "e.entry_id, e.account_id, e.kind, e.amount_micros, e.project_id, e.source_key, e.note, e.created_at";

export function readEntry(row: Row): LedgerEntry {
  return {
    entryId: text(row, "entry_id"),
    accountId: text(row, "account_id") as AccountId,
    kind: text(row, "kind") as LedgerKind,
    amountMicros: integer(row, "amount_micros"),
    projectId: textOrNull(row, "project_id") as ProjectId | null,
    sourceKey: text(row, "source_key"),
    note: text(row, "note"),
    createdAt: integer(row, "created_at"),
  };
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}
