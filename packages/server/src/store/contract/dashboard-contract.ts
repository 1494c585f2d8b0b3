import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mintAccountId } from "../../ids.ts";
import type { Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import {
  DAY,
  HOUR,
  MINUTE,
  NOON,
  addLink,
  addLinkedProject,
  addProject,
  manifestOf,
  newCall,
  newKey,
  newProject,
} from "./records.ts";

/** NOON is 20 minutes past the hour. */
const NOON_HOUR = NOON - 20 * MINUTE;

/** What every store must answer to the pages of a dashboard. */
export function dashboardContract(open: OpenHarness): void {
  keyRulesContract(open);
  chartContract(open);
  startContract(open);

  test("the projects of a few accounts are listed together, the newest first", async (t) => {
    const harness = await openFor(t, open);
    const store = harness.store();
    const [first, second] = [await harness.addAccount(), await harness.addAccount()];
    const made = [];
    for (const [at, accountId] of [first, second, first, null].entries()) {
      made.push(await addProject(store, { accountId, createdAt: NOON + at }));
    }
    const idsOf = async (...accounts: Parameters<Store["listProjectsOf"]>[0][]) =>
      (await store.listProjectsOf(accounts.flat())).map(({ projectId }) => projectId);
    assert.deepEqual(await idsOf([first, second]), [made[2], made[1], made[0]]);
    assert.deepEqual(await idsOf([second]), [made[1]]);
    assert.deepEqual(await idsOf([mintAccountId(NOON)]), []);
    assert.deepEqual(await idsOf([]), []);
  });

  test("a link made to try the app is marked as one, also in lists", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const trial = await addLink(store, projectId, { trial: true });
    const { linkId } = await addLink(store, projectId);
    assert.equal((await store.getLink(trial.linkId))?.link.trial, true);
    assert.equal((await store.getLink(linkId))?.link.trial, false);
    const page = await store.listLinks(
      projectId,
      { sort: "createdAt" },
      { limit: 10, cursor: null },
    );
    assert.ok(page !== "bad_cursor");
    const marks = new Map(page.items.map((link) => [link.linkId, link.trial]));
    assert.deepEqual([marks.get(trial.linkId), marks.get(linkId)], [true, false]);
  });
}

function keyRulesContract(open: OpenHarness): void {
  const rulesFor = (replaces: {
    keyId: ReturnType<typeof newKey>["keyId"];
    expiresAt: number;
  }) => ({
    liveMax: 20,
    replaces,
  });

  test("a replaced key works until its overlap ends, and never longer than it would have", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const [old, expiring] = [newKey(projectId), newKey(projectId, { expiresAt: NOON + HOUR })];
    await store.createKey(old);
    await store.createKey(expiring);
    for (const { keyId } of [old, expiring]) {
      const rules = rulesFor({ keyId, expiresAt: NOON + DAY });
      assert.equal(await store.createKey(newKey(projectId), rules), "created");
    }
    const expiries = new Map(
      (await store.listKeys(projectId)).map((key) => [key.keyId, key.expiresAt]),
    );
    assert.equal(expiries.get(old.keyId), NOON + DAY);
    assert.equal(expiries.get(expiring.keyId), NOON + HOUR);
    assert.notEqual(await store.findKey(old.hash, NOON + DAY - 1), null);
    assert.equal(await store.findKey(old.hash, NOON + DAY), null);
  });

  test("only a live key of the same project and kind is replaced; else no key is made", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const secret = newKey(projectId, { kind: "sk", plain: null });
    const revoked = newKey(projectId);
    const others = newKey(await addProject(store));
    for (const key of [secret, revoked, others]) await store.createKey(key);
    await store.revokeKey(projectId, revoked.keyId, NOON);
    for (const { keyId } of [secret, revoked, others]) {
      const rules = rulesFor({ keyId, expiresAt: NOON + DAY });
      assert.equal(await store.createKey(newKey(projectId), rules), "no_key");
    }
    assert.equal((await store.listKeys(projectId)).length, 2);
    assert.notEqual(await store.findKey(others.hash, NOON + 2 * DAY), null);
  });

  test("a project has no more live keys than the rules allow; dead ones do not count", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const rules = { liveMax: 2, replaces: null };
    const first = newKey(projectId);
    assert.equal(await store.createKey(first, rules), "created");
    assert.equal(await store.createKey(newKey(projectId, { expiresAt: NOON }), rules), "created");
    assert.equal(await store.createKey(newKey(projectId), rules), "created");
    assert.equal(await store.createKey(newKey(projectId), rules), "limit_reached");
    await store.revokeKey(projectId, first.keyId, NOON);
    assert.equal(await store.createKey(newKey(projectId), rules), "created");
  });

  test("of a project's dead keys the 50 newest are kept, and every live one", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store);
    const live = newKey(projectId, { createdAt: NOON - DAY });
    await store.createKey(live);
    for (let at = 0; at < 60; at += 1) {
      await store.createKey(newKey(projectId, { createdAt: NOON + at, expiresAt: NOON + at }));
    }
    const keys = await store.listKeys(projectId);
    assert.equal(keys.length, 51);
    assert.deepEqual(
      [keys[0]?.keyId, keys[1]?.createdAt, keys.at(-1)?.createdAt],
      [live.keyId, NOON + 10, NOON + 59],
    );
  });
}

function chartContract(open: OpenHarness): void {
  test("hours are counted by outcome, of all tools or of one, from the hour a span begins in", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const call = (changes: Parameters<typeof newCall>[2], rollUpOnly = false) =>
      store.recordCall(newCall(projectId, linkId, changes), rollUpOnly);
    await call({});
    await call({ tool: "add" });
    await call({ outcome: "timeout" }, true);
    await call({ startedAt: NOON + HOUR });
    await call({ startedAt: NOON - HOUR });
    const span = { from: NOON, to: NOON + HOUR };
    assert.deepEqual(await store.hours(projectId, span, null), [
      { hour: NOON_HOUR, byOutcome: { ok: 2, timeout: 1 } },
      { hour: NOON_HOUR + HOUR, byOutcome: { ok: 1 } },
    ]);
    assert.deepEqual(await store.hours(projectId, { ...span, to: NOON_HOUR + HOUR }, "add"), [
      { hour: NOON_HOUR, byOutcome: { ok: 1 } },
    ]);
    assert.deepEqual(await store.hours(await addProject(store), span, null), []);
  });

  test("latencies are summed by tool from calls that the app answered, the busiest first", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const calls = [
      { durationMs: 1 },
      { durationMs: 7, startedAt: NOON + HOUR },
      { durationMs: 7, outcome: "tool_error" },
      { durationMs: 7, outcome: "timeout" },
      { durationMs: 300_000, tool: "add" },
      { durationMs: 7, startedAt: NOON + DAY },
    ] as const;
    for (const changes of calls) {
      await store.recordCall(newCall(projectId, linkId, changes), false);
    }
    const found = await store.latencies(projectId, { from: NOON, to: NOON + 2 * HOUR });
    const used = found.map(({ tool, calls: count, buckets }) => [
      tool,
      count,
      buckets.filter((bucket) => bucket.calls > 0),
    ]);
    assert.deepEqual(used, [
      [
        "search",
        3,
        [
          { upToMs: 1, calls: 1 },
          { upToMs: 10, calls: 2 },
        ],
      ],
      ["add", 1, [{ upToMs: null, calls: 1 }]],
    ]);
  });
}

function startContract(open: OpenHarness): void {
  const NOTHING = {
    linkCreated: false,
    socketReady: false,
    toolsText: null,
    firstHost: null,
    firstCall: null,
  };

  test("a project's start is followed from its first link to its first good call", async (t) => {
    const harness = await openFor(t, open);
    const projectId = await addProject(harness.store());
    const other = await addLinkedProject(harness.store());
    await harness.store().recordCall(newCall(other.projectId, other.linkId), false);
    assert.deepEqual(await harness.store().projectStart(projectId), NOTHING);
    const { linkId } = await addLink(harness.store(), projectId);
    assert.deepEqual(await harness.store().projectStart(projectId), {
      ...NOTHING,
      linkCreated: true,
    });
    const manifest = manifestOf("1");
    await harness.store().claimLink({ linkId, node: "n1", manifest, at: NOON });
    const connected = {
      ...NOTHING,
      linkCreated: true,
      socketReady: true,
      toolsText: manifest.toolsText,
    };
    assert.deepEqual(await harness.store().projectStart(projectId), connected);
    harness.store().noteClient(linkId, { name: "claude", version: "2" });
    const store = await harness.reopen();
    const firstHost = { name: "claude", version: "2" };
    assert.deepEqual(await store.projectStart(projectId), { ...connected, firstHost });
  });

  test("until a call went well the newest is shown, then the first good one, to the ms", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const firstCall = async () => (await store.projectStart(projectId)).firstCall;
    const call = (startedAt: number, outcome: "ok" | "timeout") =>
      store.recordCall(newCall(projectId, linkId, { startedAt, outcome }), false);
    await call(NOON, "timeout");
    await call(NOON - DAY, "timeout");
    assert.deepEqual(await firstCall(), { outcome: "timeout", at: NOON });
    await call(NOON + HOUR, "ok");
    await call(NOON + 2, "ok");
    await call(NOON + 1, "ok");
    assert.deepEqual(await firstCall(), { outcome: "ok", at: NOON + 1 });
  });

  test("the tools shown are those of the link that was seen last", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = await addProject(store, newProject());
    for (const [version, at] of [
      ["old", NOON],
      ["new", NOON + 2],
      ["older", NOON + 1],
    ] as const) {
      const { linkId } = await addLink(store, projectId);
      const manifest = manifestOf(version, { toolsText: `[{"name":"${version}"}]` });
      await store.claimLink({ linkId, node: "n1", manifest, at });
    }
    assert.equal((await store.projectStart(projectId)).toolsText, '[{"name":"new"}]');
  });
}
