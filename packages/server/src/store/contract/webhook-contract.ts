import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ProjectId } from "@relay/protocol";
import { mintEventId, mintLinkId, mintProjectId } from "../../ids.ts";
import type { Store } from "../store.ts";
import type { Attempt, NewEvent, Webhook } from "../webhooks.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addProject, MINUTE, newCall, NOON } from "./records.ts";

const WEBHOOK: Webhook = { url: "https://example.com/a", sealedSecret: new Uint8Array([1, 2, 3]) };
const LATER: Attempt = {
  at: NOON,
  state: "waiting",
  nextAt: NOON + MINUTE,
  status: 500,
  error: "the answer was 500",
};

/** What every store must do with webhooks and the events that go to them. */
export function webhookContract(open: OpenHarness): void {
  test("a webhook is what it was set to, until it is set to nothing", async (t) => {
    const harness = await openFor(t, open);
    const projectId = await addProject(harness.store());
    assert.equal(await harness.store().getWebhook(projectId), null);
    assert.equal(await harness.store().setWebhook(projectId, WEBHOOK, NOON), true);
    const store = await harness.reopen();
    assert.deepEqual(await store.getWebhook(projectId), WEBHOOK);
    assert.equal(await store.setWebhook(projectId, null, NOON), true);
    assert.equal(await store.getWebhook(projectId), null);
    assert.equal(await store.setWebhook(mintProjectId(NOON), WEBHOOK, NOON), false);
  });

  test("an event waits until it is noted as over, one of a project at a time", async (t) => {
    const harness = await openFor(t, open);
    const [one, two] = await projectsOf(harness.store(), 2);
    const events = [newEvent(one, NOON), newEvent(one, NOON + 1), newEvent(two, NOON + 2)];
    for (const event of events) assert.equal(await harness.store().addEvent(event), "added");
    const [first, second, third] = events.map(({ eventId }) => eventId);
    assert.ok(first !== undefined && second !== undefined);
    const store = await harness.reopen();
    assert.deepEqual(await dueAt(store, NOON - 1), []);
    assert.deepEqual(await dueAt(store, NOON + 5), [first, third]);
    await store.noteAttempt(first, LATER);
    assert.deepEqual(await dueAt(store, NOON + 5), [second, third]);
    await store.noteAttempt(second, {
      ...LATER,
      state: "delivered",
      nextAt: null,
      status: 204,
      error: null,
    });
    assert.deepEqual(await dueAt(store, NOON + 5), [third]);
    assert.deepEqual(await dueAt(store, NOON + MINUTE), [third, first]);
    const [due] = (await store.dueEvents(NOON + MINUTE, 9)).filter(
      (event) => event.eventId === first,
    );
    assert.deepEqual([due?.attempts, due?.webhook, due?.body], [1, WEBHOOK, "{}"]);
    assert.equal((await store.dueEvents(NOON + MINUTE, 1)).length, 1);
    const page = await store.listEvents(one, { limit: 9, cursor: null });
    assert.ok(page !== "bad_cursor");
    assert.deepEqual(
      page.items.map(({ state, attempts, lastStatus, lastError }) => [
        state,
        attempts,
        lastStatus,
        lastError,
      ]),
      [
        ["delivered", 1, 204, null],
        ["waiting", 1, 500, "the answer was 500"],
      ],
    );
    assert.equal(await store.listEvents(one, { limit: 9, cursor: "x" }), "bad_cursor");
  });

  test("without an address an event is not added, and what waits is never sent", async (t) => {
    const store = (await openFor(t, open)).store();
    const [projectId] = await projectsOf(store, 1);
    await store.addEvent(newEvent(projectId, NOON));
    await store.setWebhook(projectId, null, NOON);
    assert.equal(await store.addEvent(newEvent(projectId, NOON)), "no_webhook");
    await store.setWebhook(projectId, WEBHOOK, NOON);
    assert.deepEqual(await dueAt(store, NOON + MINUTE), []);
    const page = await store.listEvents(projectId, { limit: 9, cursor: null });
    assert.ok(page !== "bad_cursor");
    assert.deepEqual(
      page.items.map(({ state }) => state),
      ["unsent"],
    );
  });

  test("the newest 100 events of a project are kept", async (t) => {
    const store = (await openFor(t, open)).store();
    const [projectId] = await projectsOf(store, 1);
    const events = Array.from({ length: 103 }, (_, at) => newEvent(projectId, NOON + at));
    await Promise.all(events.map((event) => store.addEvent(event)));
    const page = await store.listEvents(projectId, { limit: 200, cursor: null });
    assert.ok(page !== "bad_cursor");
    const kept = events.slice(3).toReversed();
    assert.deepEqual(
      page.items.map(({ eventId }) => eventId),
      kept.map(({ eventId }) => eventId),
    );
  });

  test("the call that reaches a threshold puts its alert into the outbox, once a month", async (t) => {
    const harness = await openFor(t, open);
    let store = harness.store();
    await store.startBilling("quota", 0, NOON);
    const projectId = await addProject(store, { freeCallsPerMonth: 2 });
    await store.setWebhook(projectId, WEBHOOK, NOON);
    const opened = await store.openMonth(projectId, "2026-10", NOON);
    assert.ok(opened !== null);
    const call = newCall(projectId, mintLinkId(NOON));
    await store.recordCall(call, false, opened.segmentId);
    store = await harness.reopen();
    await store.recordCall(call, false, opened.segmentId);
    assert.deepEqual(await alertsOf(store, projectId), { alerts: 1, first: 50 });
    for (const startedAt of [NOON + MINUTE, NOON + 2 * MINUTE]) {
      const later = newCall(projectId, mintLinkId(NOON), { startedAt });
      await store.recordCall(later, false, opened.segmentId);
    }
    assert.deepEqual(await alertsOf(store, projectId), { alerts: 3, first: 50 });
  });
}

async function projectsOf(store: Store, count: 1): Promise<[ProjectId]>;
async function projectsOf(store: Store, count: 2): Promise<[ProjectId, ProjectId]>;
async function projectsOf(store: Store, count: number): Promise<ProjectId[]> {
  const projects: ProjectId[] = [];
  for (let n = 0; n < count; n += 1) {
    const projectId = await addProject(store);
    await store.setWebhook(projectId, WEBHOOK, NOON);
    projects.push(projectId);
  }
  return projects;
}

function newEvent(projectId: ProjectId, createdAt: number): NewEvent {
  return {
    eventId: mintEventId(createdAt),
    projectId,
    type: "webhook.test",
    body: "{}",
    createdAt,
  };
}

async function dueAt(store: Store, now: number): Promise<string[]> {
  return (await store.dueEvents(now, 9)).map(({ eventId }) => eventId);
}

/** How many alerts of a project there are, and the percentage of the one that is due first. */
async function alertsOf(store: Store, projectId: ProjectId): Promise<unknown> {
  const page = await store.listEvents(projectId, { limit: 9, cursor: null });
  assert.ok(page !== "bad_cursor");
  const [first] = await store.dueEvents(NOON * 2, 1);
  const { data } = JSON.parse(first?.body ?? "{}") as { data?: { percent?: number } };
  return { alerts: page.items.length, first: data?.percent };
}
