import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { mintLinkId } from "../ids.ts";
import { callsOf } from "./contract/call-contract.ts";
import {
  addLinkedProject,
  addProject,
  DAY,
  manifestOf,
  newCall,
  newLink,
  NOON,
} from "./contract/records.ts";
import { dataDirFor, openStore } from "./fixtures/sqlite-harness.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { SqliteStore } from "./sqlite.ts";
import { StoreError } from "./store.ts";

test("a storm of 2,000 claims is committed in a handful of groups", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const projectId = await addProject(store);
  const links = Array.from({ length: 2_000 }, () => newLink(projectId));
  await Promise.all(links.map((link) => store.createLink(link, 10_000)));
  const before = store.counts;
  const claims = await Promise.all(
    links.map(({ linkId }) =>
      // Each hello brings its own copy of the same manifest.
      store.claimLink({ linkId, node: "n1", manifest: manifestOf("1"), at: NOON }),
    ),
  );
  assert.ok(claims.every((claim) => claim !== "gone" && claim.link.ownerEpoch === 1));
  const { groups, writes } = store.counts;
  assert.equal(writes - before.writes, 2_000);
  assert.ok(groups - before.groups <= 8, `${groups - before.groups} groups`);
});

test("large manifests make smaller groups, so that none grows without bound", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const projectId = await addProject(store);
  const links = Array.from({ length: 128 }, () => newLink(projectId));
  await Promise.all(links.map((link) => store.createLink(link, 10_000)));
  const before = store.counts.groups;
  const toolsText = `["${"x".repeat(65_000)}"]`;
  await Promise.all(
    links.map(({ linkId }, at) =>
      store.claimLink({
        linkId,
        node: "n1",
        manifest: manifestOf(String(at), { toolsText }),
        at: NOON,
      }),
    ),
  );
  assert.ok(store.counts.groups - before >= 4);
});

test("a group of call rows does not wait for the disk, any other does", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const { projectId, linkId } = await addLinkedProject(store);
  const call = () => store.recordCall(newCall(projectId, linkId), false);
  assert.deepEqual(await syncsOf(store, [call, call]), { groups: 1, syncedGroups: 0 });
  const pause = () => store.setLinkPaused(linkId, true);
  assert.deepEqual(await syncsOf(store, [call, pause]), { groups: 1, syncedGroups: 1 });
  assert.deepEqual(await syncsOf(store, [call]), { groups: 1, syncedGroups: 0 });
});

test("with full durability every group waits for the disk", async (t) => {
  const store = await openSqliteStore({ dataDir: dataDirFor(t), durability: "full" });
  t.after(() => store.close());
  const { projectId, linkId } = await addLinkedProject(store);
  const call = () => store.recordCall(newCall(projectId, linkId), false);
  assert.deepEqual(await syncsOf(store, [call]), { groups: 1, syncedGroups: 1 });
});

test("call rows reach the disk soon, also when nothing else comes", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const { projectId, linkId } = await addLinkedProject(store);
  await store.recordCall(newCall(projectId, linkId), false);
  // A group that changes nothing waits for the disk in name only.
  await store.setLinkPaused(mintLinkId(NOON), true);
  assert.equal(store.counts.walSyncs, 0);
  // A real wait, since the writer's own timer is what is tested: 10 s at most.
  for (let tries = 0; tries < 500 && store.counts.walSyncs === 0; tries += 1) await wait(20);
  assert.equal(store.counts.walSyncs, 1);
});

test("a write that breaks a rule of the database fails alone", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const { projectId, linkId } = await addLinkedProject(store);
  const twice = newLink(projectId);
  // The first call of a day makes the day's table, which goes with the call when that fails.
  const startedAt = NOON + 3 * DAY;
  const broken = newCall(projectId, linkId, { startedAt, durationMs: 0.5 });
  const whole = newCall(projectId, linkId, { startedAt });
  const before = store.counts.groups;
  const ends = await Promise.allSettled([
    store.createLink(twice, 10),
    store.createLink(twice, 10),
    store.recordCall(broken, false),
    store.recordCall(whole, false),
    store.setLinkPaused(linkId, true),
  ]);
  assert.equal(store.counts.groups - before, 1);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled", "fulfilled"],
  );
  for (const end of ends) {
    // It is the caller's bug, not the store's state: nobody should try it again.
    if (end.status === "rejected") assert.ok(!(end.reason instanceof StoreError));
  }
  assert.deepEqual(await callsOf(store, projectId), [whole]);
  assert.notEqual(await store.getLink(twice.linkId), null);
});

test("a write that can't cross to the writer thread fails, and those after it do not", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const { projectId, linkId } = await addLinkedProject(store);
  const odd = { ...newCall(projectId, linkId), durationMs: (() => 1) as never };
  await assert.rejects(store.recordCall(odd, false));
  await store.recordCall(newCall(projectId, linkId), false);
});

test("when the writer thread dies, everything that waits and comes is refused", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const { projectId, linkId } = await addLinkedProject(store);
  const writer = await threadBehind(t, () => store.probe());
  const waiting = [store.recordCall(newCall(projectId, linkId), false), store.probe()];
  await writer.terminate();
  const isAway = (error: unknown) => error instanceof StoreError && error.code === "unavailable";
  for (const write of waiting) await assert.rejects(write, isAway);
  await assert.rejects(store.probe(), isAway);
  assert.equal(store.writeDelayMs(), 0);
  assert.notEqual(await store.getLink(linkId), null);
  await store.close();
});

test("when the reader thread dies, the lists that wait are refused and the next one is read", async (t) => {
  const store = await openStore(t, dataDirFor(t));
  const list = () => store.listProjects({ limit: 1, cursor: null });
  const reader = await threadBehind(t, list);
  const waiting = assert.rejects(list(), StoreError);
  await reader.terminate();
  await waiting;
  assert.deepEqual(await list(), { items: [], nextCursor: null });
});

/** Performs writes at once and counts the groups they became. */
async function syncsOf(store: SqliteStore, writes: readonly (() => Promise<unknown>)[]) {
  const before = store.counts;
  await Promise.all(writes.map((write) => write()));
  const { groups, syncedGroups } = store.counts;
  return { groups: groups - before.groups, syncedGroups: syncedGroups - before.syncedGroups };
}

/** Finds the thread that `use` talks to. */
async function threadBehind(t: TestContext, use: () => Promise<unknown>): Promise<Worker> {
  const post = t.mock.method(Worker.prototype, "postMessage");
  await use();
  const worker = post.mock.calls.at(-1)?.this;
  post.mock.restore();
  assert.ok(worker instanceof Worker);
  return worker;
}

test("the last calls of many links are there soon after, and at once when the store closes", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const projectId = await addProject(store);
  const links = Array.from({ length: 40 }, () => newLink(projectId));
  await Promise.all(links.map((link) => store.createLink(link, 10_000)));
  const callAll = (startedAt: number): Promise<unknown> =>
    Promise.all(
      links.map(({ linkId }) => store.recordCall(newCall(projectId, linkId, { startedAt }), false)),
    );
  const lastOf = async (from: SqliteStore): Promise<(number | null | undefined)[]> =>
    Promise.all(links.map(async ({ linkId }) => (await from.getLink(linkId))?.link.lastCallAt));
  await callAll(NOON);
  await callAll(NOON + 1);
  const deadline = performance.now() + 10_000;
  while ((await lastOf(store)).some((at) => at !== NOON + 1)) {
    assert.ok(performance.now() < deadline, "the last calls are not written");
    await wait(20);
  }
  await callAll(NOON + 2);
  await callAll(NOON + 3);
  await store.close();
  const again = await openStore(t, dataDir);
  assert.deepEqual(
    await lastOf(again),
    links.map(() => NOON + 3),
  );
});
