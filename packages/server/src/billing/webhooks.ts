import type { ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { mintEventId } from "../ids.ts";
import type { Seal } from "../relay/seal.ts";
import type { Page, Paged, Store } from "../store/store.ts";
import type { WebhookEvent } from "../store/webhooks.ts";
import { webhookUrlFault } from "./webhook-post.ts";
import { mintWebhookSecret } from "./webhook-signature.ts";

export type WebhookDeps = {
  readonly store: Pick<Store, "getWebhook" | "setWebhook" | "addEvent" | "listEvents">;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly allowsPrivate: boolean;
};

/** A change of a project's webhook. A new address, or `newSecret`, brings a new signing secret. */
export type WebhookChange = {
  readonly url?: string | null | undefined;
  readonly newSecret?: boolean | undefined;
};

/** `secret` only where it is new: it is shown this once. */
export type WebhookSettings = { readonly url: string | null; readonly secret?: string };

/** Each project's webhook: where its events go, and by what secret they are signed. */
export class Webhooks {
  readonly #deps: WebhookDeps;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  async get(projectId: ProjectId): Promise<WebhookSettings> {
    const webhook = await this.#deps.store.getWebhook(projectId);
    return { url: webhook?.url ?? null };
  }

  /** Returns what is wrong with the address where something is, and `no_project` without one. */
  async change(
    projectId: ProjectId,
    change: WebhookChange,
  ): Promise<WebhookSettings | { readonly fault: string } | "no_project"> {
    const { store, seal, clock, allowsPrivate } = this.#deps;
    const before = await store.getWebhook(projectId);
    const url = change.url === undefined ? (before?.url ?? null) : change.url;
    if (url === null) {
      return (await store.setWebhook(projectId, null, clock.wall())) ? { url: null } : "no_project";
    }
    const fault = webhookUrlFault(url, allowsPrivate);
    if (fault !== null) return { fault };
    if (before?.url === url && change.newSecret !== true) return { url };
    const secret = mintWebhookSecret();
    const webhook = { url, sealedSecret: seal.close(secret) };
    const isSet = await store.setWebhook(projectId, webhook, clock.wall());
    return isSet ? { url, secret } : "no_project";
  }

  /** Puts an event into the outbox that says nothing but that it arrives; null without an address. */
  async test(projectId: ProjectId): Promise<{ readonly eventId: string } | null> {
    const { store, clock } = this.#deps;
    const at = clock.wall();
    const eventId = mintEventId(at);
    const type = "webhook.test";
    const body = JSON.stringify({
      type,
      timestamp: new Date(at).toISOString(),
      data: { projectId },
    });
    const added = await store.addEvent({ eventId, projectId, type, body, createdAt: at });
    return added === "added" ? { eventId } : null;
  }

  deliveries(projectId: ProjectId, page: Page): Promise<Paged<WebhookEvent> | "bad_cursor"> {
    return this.#deps.store.listEvents(projectId, page);
  }
}
