import type { AccountId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { mintEntryId } from "../ids.ts";
import type { BookedCredit, NewCredit } from "../store/money.ts";
import type { Store } from "../store/store.ts";
import type { LedgerQuota } from "./ledger-quota.ts";

/**
 * Money that moved outside of Relay: a purchase, a grant, or something taken back. `sourceKey` names
 * the business object it is of (a checkout, a refund), never the message that told of it: so the
 * same thing told twice, or by two messages, is booked once.
 */
export type Payment = {
  readonly kind: NewCredit["kind"];
  readonly accountId: AccountId;
  /** Positive is to the account's good. */
  readonly amountMicros: number;
  readonly sourceKey: string;
  readonly note: string;
};

/**
 * Where payments come in. The operator's credits do; whatever tells of a payment provider's events
 * only needs to make a `Payment` of each and book it, and need know nothing of the ledger.
 */
export interface PaymentPort {
  /** Books a payment once, whoever tells of it how often; calls may spend it at once. */
  book(payment: Payment): Promise<BookedCredit>;
}

export type PaymentDeps = {
  readonly store: Pick<Store, "bookCredit">;
  readonly clock: Clock;
  /** Absent in the modes that spend no money. */
  readonly quota: Pick<LedgerQuota, "credited"> | null;
};

/** Books payments in the store's ledger and tells whoever admits calls. */
export class Payments implements PaymentPort {
  readonly #deps: PaymentDeps;

  constructor(deps: PaymentDeps) {
    this.#deps = deps;
  }

  async book(payment: Payment): Promise<BookedCredit> {
    const { store, clock, quota } = this.#deps;
    const createdAt = clock.wall();
    const booked = await store.bookCredit({
      ...payment,
      entryId: mintEntryId(createdAt),
      createdAt,
    });
    if ("account" in booked) quota?.credited(booked.account);
    return booked;
  }
}
