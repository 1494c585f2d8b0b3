import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { SweepRules } from "../store.ts";
import { callsOf } from "./call-contract.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import {
  addLink,
  addLinkedProject,
  addProject,
  DAY,
  manifestOf,
  newCall,
  NOON,
} from "./records.ts";

const RULES: SweepRules = {
  now: NOON,
  callRetentionDays: 30,
  unusedLinkDays: 7,
  revokedLinkDays: 30,
  rollUpMonths: 13,
};

/** What every store must drop, and what it must keep. */
export function sweepContract(open: OpenHarness): void {
  test("calls are kept for 30 days and dropped by whole days", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const dayOfNoon = NOON - (NOON % DAY);
    const kept = dayOfNoon - 30 * DAY;
    const times = [kept - 40 * DAY, kept - DAY, kept - 1, kept, kept + 5, NOON];
    const calls = times.map((startedAt) => newCall(projectId, linkId, { startedAt }));
    await Promise.all(calls.map((call) => store.recordCall(call, false)));
    await store.sweep(RULES);
    assert.deepEqual(await callsOf(store, projectId), calls.slice(3).toReversed());
    const sums = await Promise.all(
      ["2026-08", "2026-09", "2026-10"].map((month) => store.usage(projectId, month)),
    );
    assert.deepEqual(
      sums.map(({ total }) => total),
      [1, 4, 1],
    );
  });

  test("sums are kept for 13 months and dropped by whole months", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const cutoff = Date.UTC(2025, 8, 1);
    for (const startedAt of [cutoff - 400 * DAY, cutoff - 1, cutoff]) {
      await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
    }
    await store.sweep(RULES);
    assert.equal((await store.usage(projectId, "2024-07")).total, 0);
    assert.equal((await store.usage(projectId, "2025-08")).total, 0);
    assert.equal((await store.usage(projectId, "2025-09")).total, 1);
  });

  test("a link whose app never connected goes after 7 days, any other stays", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const old = { createdAt: NOON - 7 * DAY - 1 };
    const unused = await addLink(store, projectId, old);
    const used = await addLink(store, projectId, old);
    const young = await addLink(store, projectId, { createdAt: NOON - 7 * DAY });
    await store.claimLink({ linkId: used.linkId, node: "n1", manifest: manifestOf("1"), at: NOON });
    await store.sweep(RULES);
    assert.equal(await store.getLink(unused.linkId), null);
    assert.notEqual(await store.getLink(used.linkId), null);
    assert.notEqual(await store.getLink(young.linkId), null);
  });

  test("a revoked link goes after 30 days, and its manifest with the last of them", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [shared, alone] = [manifestOf("1"), manifestOf("2")];
    const live = await addLink(store, projectId);
    const [first, second] = [await addLink(store, projectId), await addLink(store, projectId)];
    for (const [{ linkId }, manifest] of [
      [live, shared],
      [first, shared],
      [second, alone],
    ] as const) {
      await store.claimLink({ linkId, node: "n1", manifest, at: NOON - 60 * DAY });
    }
    await store.revokeLink(first.linkId, NOON - 30 * DAY - 1);
    await store.revokeLink(second.linkId, NOON - 30 * DAY);
    await store.sweep(RULES);
    assert.equal(await store.getLink(first.linkId), null);
    assert.notEqual(await store.getLink(second.linkId), null);
    assert.deepEqual(await store.getManifest(alone.hash), alone);
    await store.sweep({ ...RULES, now: NOON + 1 });
    assert.equal(await store.getLink(second.linkId), null);
    assert.equal(await store.getManifest(alone.hash), null);
    assert.deepEqual(await store.getManifest(shared.hash), shared);
  });

  test("a day that was dropped takes new calls again", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const startedAt = NOON - 60 * DAY;
    for (let round = 0; round < 2; round += 1) {
      const late = newCall(projectId, linkId, { startedAt });
      await store.recordCall(late, false);
      assert.deepEqual(await callsOf(store, projectId), [late]);
      await store.sweep(RULES);
      assert.deepEqual(await callsOf(store, projectId), []);
    }
  });
}
