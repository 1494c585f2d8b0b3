import type { ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { Seal } from "../relay/seal.ts";
import type { Store } from "../store/store.ts";
import type { Attempt, DueEvent } from "../store/webhooks.ts";
import type { PostOutcome, WebhookPost } from "./webhook-post.ts";
import { signedHeaders } from "./webhook-signature.ts";

/** How often the outbox is looked into: one short read. */
const LOOK_EVERY_MS = 1_000;
/** Events on their way at once, and of one project one after the other. */
const SENDING_MAX = 8;
/** Due events read at once, one a project: those that are being sent must not hide the others. */
const DUE_MAX = 2 * SENDING_MAX;
/** An event is tried this often, each wait four times the one before: for some thirty hours. */
const ATTEMPTS_MAX = 10;
const WAIT_FACTOR = 4;
/** What is on its way when Relay stops gets this long. */
const LAST_ANSWERS_MS = 500;
const WAIT_MAX_MS = 12 * 3_600_000;

export type SenderDeps = {
  readonly store: Pick<Store, "dueEvents" | "noteAttempt">;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: (post: WebhookPost) => Promise<PostOutcome>;
  readonly timeoutMs: number;
  /** The wait after the first failure. */
  readonly retryMs: number;
  readonly allowsPrivate: boolean;
};

/**
 * Sends what waits in the outbox until it is delivered or was tried often enough. At least once: a
 * process that ends in the middle leaves the event waiting, and the next one sends it again under
 * the same id.
 */
export class WebhookSender {
  readonly #deps: SenderDeps;
  readonly #sending = new Map<ProjectId, Promise<void>>();
  #cancelLook: (() => void) | null = null;
  #isClosed = false;
  readonly #end = new AbortController();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#isClosed) return;
    this.#cancelLook = this.#deps.clock.after(LOOK_EVERY_MS, () => {
      this.look()
        .catch((error: unknown) => {
          this.#deps.log.warn({ err: error }, "the outbox of webhooks can't be read");
        })
        .finally(() => this.start());
    });
  }

  /** Begins to send what is due. */
  async look(): Promise<void> {
    const room = SENDING_MAX - this.#sending.size;
    if (room <= 0) return;
    const { store, clock } = this.#deps;
    const due = await store.dueEvents(clock.wall(), DUE_MAX);
    for (const event of due) {
      if (this.#isClosed || this.#sending.size >= SENDING_MAX) return;
      if (this.#sending.has(event.projectId)) continue;
      const sent = this.#send(event).finally(() => this.#sending.delete(event.projectId));
      this.#sending.set(event.projectId, sent);
    }
  }

  /** Ends within half a second: what has no answer by then waits for the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook?.();
    const cancel = this.#deps.clock.after(LAST_ANSWERS_MS, () => this.#end.abort());
    await Promise.all(this.#sending.values());
    cancel();
  }

  /** Never rejects. */
  async #send(event: DueEvent): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { eventId, projectId } = event;
    try {
      const outcome = await this.#post(event);
      if (this.#end.signal.aborted && "error" in outcome) return;
      await store.noteAttempt(eventId, this.#attemptOf(event, outcome, clock.wall()));
    } catch (error) {
      log.warn({ err: error, projectId, eventId }, "a webhook's outcome was not written down");
    }
  }

  async #post({ eventId, body, webhook }: DueEvent): Promise<PostOutcome> {
    const { seal, clock, post, timeoutMs, allowsPrivate } = this.#deps;
    const secret = seal.open(webhook.sealedSecret);
    if (secret === null) return { error: "the signing secret can't be read; set it again" };
    const headers = signedHeaders(secret, eventId, body, Math.floor(clock.wall() / 1000));
    const { signal } = this.#end;
    return post({ url: webhook.url, headers, body, timeoutMs, allowsPrivate, signal });
  }

  #attemptOf({ attempts }: DueEvent, outcome: PostOutcome, at: number): Attempt {
    const status = "status" in outcome ? outcome.status : null;
    if (status !== null && status >= 200 && status < 300) {
      return { at, state: "delivered", nextAt: null, status, error: null };
    }
    const error = "error" in outcome ? outcome.error : `the answer was ${outcome.status}`;
    if (attempts + 1 >= ATTEMPTS_MAX) return { at, state: "failed", nextAt: null, status, error };
    const waitMs = Math.min(WAIT_MAX_MS, this.#deps.retryMs * WAIT_FACTOR ** attempts);
    return { at, state: "waiting", nextAt: at + Math.round(waitMs), status, error };
  }
}
