/*
 * The door of this folder: what calls cost, and what developers are told of it. It fills the
 * relay's port for money and serves the API. Nothing here may know of sockets, hosts or HTTP
 * routes: no import from host, app or api.
 */
import type { Clock } from "../clock.ts";
import type { MoneyConfig } from "../config.ts";
import type { BillingMode } from "../core/ledger.ts";
import type { Log } from "../observe/log.ts";
import { unlimitedQuota } from "../relay/quota.ts";
import type { Quota } from "../relay/quota.ts";
import type { Seal } from "../relay/seal.ts";
import type { Store } from "../store/store.ts";
import { LedgerQuota } from "./ledger-quota.ts";
import { Payments } from "./payments.ts";
import type { PaymentPort } from "./payments.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { Webhooks } from "./webhooks.ts";
import { postWebhook } from "./webhook-post.ts";

export type BillingDeps = {
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  readonly mode: BillingMode;
  readonly settings: MoneyConfig;
};

/** Everything of money in one running Relay. */
export type Billing = {
  readonly mode: BillingMode;
  readonly settings: MoneyConfig;
  /** What the relay asks before each call. */
  readonly quota: Quota;
  readonly payments: PaymentPort;
  readonly webhooks: Webhooks;
  /** Begins to send webhooks. */
  start(): void;
  close(): Promise<void>;
};

/** Puts the mode in force. */
export async function openBilling(deps: BillingDeps): Promise<Billing> {
  const { store, clock, mode, settings } = deps;
  await store.startBilling(mode, settings.lowBalanceMicros, clock.wall());
  const ledger = mode === "off" ? null : new LedgerQuota(deps);
  const allowsPrivate = settings.webhookPrivateAddresses;
  const sender = new WebhookSender({
    ...deps,
    post: postWebhook,
    timeoutMs: settings.webhookTimeoutMs,
    retryMs: settings.webhookRetryMs,
    allowsPrivate,
  });
  return {
    mode,
    settings,
    quota: ledger ?? unlimitedQuota,
    payments: new Payments({ store, clock, quota: ledger }),
    webhooks: new Webhooks({ ...deps, allowsPrivate }),
    start: () => sender.start(),
    close: () => sender.close(),
  };
}
