import type { ProjectId } from "@relay/protocol";
import type { Page, Paged } from "./store.ts";

/**
 * What the store remembers of webhooks: where a project's events go, and the outbox of events that
 * are on their way. Part of `Store`, with its promises.
 */
export interface WebhookStore {
  getWebhook(projectId: ProjectId): Promise<Webhook | null>;
  /**
   * Sets where a project's events go, or nowhere. What waits goes to the new address; without one it
   * is never sent. False when there is no such project.
   */
  setWebhook(projectId: ProjectId, webhook: Webhook | null, at: number): Promise<boolean>;
  /** Puts an event into the outbox; `no_webhook` where the project has no address for it. */
  addEvent(event: NewEvent): Promise<"added" | "no_webhook">;
  /** Each project's next event that is due at `now`, with where it goes, the longest due first. */
  dueEvents(now: number, most: number): Promise<readonly DueEvent[]>;
  /** Notes how a try to deliver an event ended. */
  noteAttempt(eventId: string, attempt: Attempt): Promise<void>;
  /** A project's events, the newest first; the store keeps its newest 100. */
  listEvents(projectId: ProjectId, page: Page): Promise<Paged<WebhookEvent> | "bad_cursor">;
}

export type Webhook = {
  readonly url: string;
  /** The signing secret, sealed with the data folder's key. */
  readonly sealedSecret: Uint8Array;
};

export type NewEvent = {
  readonly eventId: string;
  readonly projectId: ProjectId;
  readonly type: string;
  /** The JSON text that is sent. */
  readonly body: string;
  readonly createdAt: number;
};

export type DueEvent = NewEvent & { readonly attempts: number; readonly webhook: Webhook };

/** `unsent`: the project had no address when it happened, or lost it before the event arrived. */
export type EventState = "waiting" | "delivered" | "failed" | "unsent";

/** One try: what came back, and when to try again; null where it is over. */
export type Attempt = {
  readonly at: number;
  readonly state: Exclude<EventState, "unsent">;
  readonly nextAt: number | null;
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Why it was not delivered, in a few words. */
  readonly error: string | null;
};

export type WebhookEvent = NewEvent & {
  readonly state: EventState;
  readonly attempts: number;
  readonly nextAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
};
