import type { AccountId, ProjectId } from "@relay/protocol";
import type { BillingMode, Terms } from "../core/ledger.ts";
import type { AccountMoney, OpenedMonth } from "../core/ledger-book.ts";
import type { Account, Page, Paged } from "./store.ts";

/**
 * What the store remembers of money (SPEC 10): part of `Store`, with its promises. A counted call
 * adds to its project's month, its account's balance and the ledger in the transaction of its row.
 */
export interface MoneyStore {
  /**
   * Says which mode is in force from `at` on. Each change of it begins a new segment in every month
   * that is opened afterwards. Alerts are raised at a balance below `lowBalanceMicros`.
   */
  startBilling(mode: BillingMode, lowBalanceMicros: number, at: number): Promise<void>;
  /**
   * Reads where a project's month stands, and begins its first segment, or a new one where the mode
   * or the project's terms are others than those of the last. Null when there is no such project, or
   * the mode in force is `off`.
   */
  openMonth(projectId: ProjectId, month: string, at: number): Promise<OpenedMonth | null>;
  /** Books money that moved, with the balance; the same source key is booked once. */
  bookCredit(credit: NewCredit): Promise<BookedCredit>;
  /** An account with its balance. */
  getAccount(accountId: AccountId): Promise<Account | null>;
  /** What there is of a project's month to show; null when there is no such project. */
  getMoney(projectId: ProjectId, month: string): Promise<MonthMoney | null>;
  /**
   * An account's entries, the newest first. With `projectId` those of the account alone and of this
   * project, without those of its other projects.
   */
  listLedger(
    accountId: AccountId,
    projectId: ProjectId | null,
    page: Page,
  ): Promise<Paged<LedgerEntry> | "bad_cursor">;
}

/** What the source key of a month's usage begins with; no credit has such a key. */
export const USAGE_KEY = "usage:";

/** `usage` is what a project's month has cost so far; all other kinds are booked from outside. */
export type LedgerKind = "purchase" | "grant" | "refund" | "dispute" | "adjustment" | "usage";

export type LedgerEntry = {
  readonly entryId: string;
  readonly accountId: AccountId;
  readonly kind: LedgerKind;
  /** Positive is to the account's good. */
  readonly amountMicros: number;
  /** Whose usage it is; null for what concerns the account. */
  readonly projectId: ProjectId | null;
  readonly sourceKey: string;
  readonly note: string;
  readonly createdAt: number;
};

export type NewCredit = Omit<LedgerEntry, "kind" | "projectId"> & {
  readonly kind: Exclude<LedgerKind, "usage">;
};

/**
 * `known`: this source key was booked before, as `entry` says. `other_credit`: it was booked before
 * for another account or another amount. `too_much`: the balance would be past what can be kept.
 */
export type BookedCredit =
  | {
      readonly type: "booked" | "known";
      readonly entry: LedgerEntry;
      readonly account: AccountMoney;
    }
  | { readonly type: "no_account" | "other_credit" | "too_much" };

/** The last segment of a project's month, if it has one, and what the month has come to. */
export type MonthMoney = {
  readonly accountId: AccountId;
  readonly balanceMicros: number;
  readonly spentMicros: number;
  readonly segment:
    | (Terms & {
        readonly countedAtStart: number;
        readonly counted: number;
        /** Whether it began in the mode that is in force, with no other in between. */
        readonly isOfThisMode: boolean;
      })
    | null;
};
