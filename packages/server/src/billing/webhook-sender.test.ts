import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProjectId } from "@relay/protocol";
import { openLog } from "../observe/log.ts";
import { Seal } from "../relay/seal.ts";
import type { Attempt, DueEvent } from "../store/webhooks.ts";
import { StillClock, settled } from "./test/still-clock.ts";
import type { PostOutcome, WebhookPost } from "./webhook-post.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { mintWebhookSecret } from "./webhook-signature.ts";

const seal = new Seal(Buffer.alloc(32, 7));
const SECONDS = 1_000;

function eventOf(project: string, attempts = 0): DueEvent {
  return {
    eventId: `msg_${project}`,
    projectId: project as ProjectId,
    type: "webhook.test",
    body: "{}",
    createdAt: 0,
    attempts,
    webhook: { url: "https://example.com", sealedSecret: seal.close(mintWebhookSecret()) },
  };
}

/** A sender with an outbox in memory, and receivers that answer when a test says so. */
function open(due: DueEvent[]) {
  const clock = new StillClock(1_790_000_000_000);
  const noted: { readonly eventId: string; readonly attempt: Attempt }[] = [];
  const posts: { readonly post: WebhookPost; answer(outcome: PostOutcome): Promise<void> }[] = [];
  const sender = new WebhookSender({
    store: {
      dueEvents: async () => due,
      noteAttempt: async (eventId, attempt) => void noted.push({ eventId, attempt }),
    },
    seal,
    clock,
    log: openLog("silent"),
    post: (post) =>
      new Promise((resolve) => {
        const answer = (outcome: PostOutcome) => {
          resolve(outcome);
          return settled();
        };
        posts.push({ post, answer });
        post.signal.addEventListener("abort", () => resolve({ error: "no answer in time" }));
      }),
    timeoutMs: 10 * SECONDS,
    retryMs: 5 * SECONDS,
    allowsPrivate: false,
  });
  return { sender, clock, noted, posts };
}

test("a failure is tried again after a wait that grows, and after ten tries never", async () => {
  const waits: (number | null)[] = [];
  for (let attempts = 0; attempts < 10; attempts += 1) {
    const { sender, clock, noted, posts } = open([eventOf("p", attempts)]);
    await sender.look();
    await posts[0]?.answer({ status: 500 });
    const { nextAt, state } = noted[0]?.attempt ?? { nextAt: 0, state: "delivered" };
    waits.push(nextAt === null ? null : (nextAt - clock.wall()) / SECONDS);
    assert.equal(state, attempts < 9 ? "waiting" : "failed");
  }
  const hours = 12 * 3_600;
  assert.deepEqual(waits, [5, 20, 80, 320, 1_280, 5_120, 20_480, hours, hours, null]);
});

test("any 2xx delivers; every other answer, and none, is a failure that says why", async () => {
  const ends = async (outcome: PostOutcome) => {
    const { sender, noted, posts } = open([eventOf("p")]);
    await sender.look();
    await posts[0]?.answer(outcome);
    const { state, status, error } = noted[0]?.attempt ?? {};
    return [state, status, error];
  };
  assert.deepEqual(await ends({ status: 200 }), ["delivered", 200, null]);
  assert.deepEqual(await ends({ status: 299 }), ["delivered", 299, null]);
  assert.deepEqual(await ends({ status: 301 }), ["waiting", 301, "the answer was 301"]);
  assert.deepEqual(await ends({ status: 404 }), ["waiting", 404, "the answer was 404"]);
  assert.deepEqual(await ends({ error: "no way" }), ["waiting", null, "no way"]);
});

test("a project's events go one after the other, and at most eight go at once", async () => {
  const { sender, posts } = open(Array.from({ length: 12 }, (_, n) => eventOf(`p${n}`)));
  await sender.look();
  await sender.look();
  assert.equal(posts.length, 8);
  await posts[0]?.answer({ status: 204 });
  await sender.look();
  assert.equal(posts.length, 9);
});

test("a secret sealed with another key sends nothing, and says so", async () => {
  const foreign = new Seal(Buffer.alloc(32, 8)).close(mintWebhookSecret());
  const event = eventOf("p");
  const { sender, noted, posts } = open([
    { ...event, webhook: { ...event.webhook, sealedSecret: foreign } },
  ]);
  await sender.look();
  await settled();
  assert.equal(posts.length, 0);
  assert.match(noted[0]?.attempt.error ?? "", /signing secret can't be read/);
});

test("closing ends what is on its way within half a second, and leaves it waiting", async () => {
  const { sender, clock, noted, posts } = open([eventOf("p")]);
  sender.start();
  await clock.advance(1_000);
  assert.equal(posts.length, 1);
  const closed = sender.close();
  await clock.advance(500);
  await closed;
  assert.deepEqual(noted, []);
  await clock.advance(5_000);
  assert.equal(posts.length, 1);
});
