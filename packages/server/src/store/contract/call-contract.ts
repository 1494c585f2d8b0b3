import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { CallId, LinkId, ProjectId } from "@relay/protocol";
import { OUTCOME_NAMES } from "@relay/protocol";
import { mintLinkId, mintProjectId } from "../../ids.ts";
import type { CallFilter, CallRow, Store } from "../store.ts";
import { openFor, seededRandom, seedOf } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { addLinkedProject, addProject, DAY, HOUR, newCall, NOON } from "./records.ts";

/** What every store must do with calls and their sums. */
export function callContract(open: OpenHarness): void {
  test("a call's row, its part of the sums and its link's last call are written together", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, linkId } = await addLinkedProject(harness.store());
    const call = newCall(projectId, linkId, { tool: "__proto__", client: null });
    await harness.store().recordCall(call, false);
    const store = await harness.reopen();
    assert.deepEqual(await callsOf(store, projectId), [call]);
    assert.deepEqual(await store.usage(projectId, "2026-10"), {
      month: "2026-10",
      counted: 1,
      total: 1,
      byOutcome: { ok: 1 },
      days: [{ day: "2026-10-13", counted: 1, total: 1 }],
    });
    assert.equal((await store.getLink(linkId))?.link.lastCallAt, NOON);
    await store.recordCall(newCall(projectId, linkId, { startedAt: NOON - 5 }), false);
    assert.equal((await store.getLink(linkId))?.link.lastCallAt, NOON);
  });

  test("a call that is written again changes nothing, also after the store was opened again", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, linkId } = await addLinkedProject(harness.store());
    const call = newCall(projectId, linkId);
    const again = { ...call, outcome: "timeout" as const, durationMs: 9 };
    await Promise.all([call, call, again].map((row) => harness.store().recordCall(row, false)));
    const store = await harness.reopen();
    await store.recordCall(again, false);
    assert.deepEqual(await callsOf(store, projectId), [call]);
    const { total, byOutcome } = await store.usage(projectId, "2026-10");
    assert.deepEqual([total, byOutcome], [1, { ok: 1 }]);
  });

  test("a call that leaves no row is summed all the same, and a retry of it is not", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const call = newCall(projectId, linkId, { outcome: "offline", counted: false });
    await Promise.all([call, call].map((row) => store.recordCall(row, true)));
    await store.recordCall(call, true);
    assert.deepEqual(await callsOf(store, projectId), []);
    const { total, counted, byOutcome } = await store.usage(projectId, "2026-10");
    assert.deepEqual([total, counted, byOutcome], [1, 0, { offline: 1 }]);
    assert.equal((await store.getLink(linkId))?.link.lastCallAt, NOON);
  });

  test("a call whose link or project is gone is still written", async (t) => {
    const store = (await openFor(t, open)).store();
    const projectId = mintProjectId(NOON);
    await store.recordCall(newCall(projectId, mintLinkId(NOON)), false);
    assert.equal((await callsOf(store, projectId)).length, 1);
  });

  usageContract(open);
  callListContract(open);
}

function usageContract(open: OpenHarness): void {
  test("a month's sums take every hour of the month in UTC and none of the next", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const first = Date.UTC(2026, 9, 1);
    const next = Date.UTC(2026, 10, 1);
    for (const startedAt of [first - 1, first, next - 1, next]) {
      await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
    }
    await store.recordCall(newCall(await addProject(store), linkId), false);
    const usage = await store.usage(projectId, "2026-10");
    assert.deepEqual(usage.days, [
      { day: "2026-10-01", counted: 1, total: 1 },
      { day: "2026-10-31", counted: 1, total: 1 },
    ]);
    // Stats are of every project: the other one's call is in them.
    const { counted, total, byOutcome } = await store.stats("2026-10");
    assert.deepEqual({ counted, total, byOutcome }, { counted: 3, total: 3, byOutcome: { ok: 3 } });
    assert.deepEqual(await store.usage(projectId, "2025-10"), {
      month: "2025-10",
      counted: 0,
      total: 0,
      byOutcome: {},
      days: [],
    });
  });
}

function callListContract(open: OpenHarness): void {
  test("calls are listed newest first by any filter, each on exactly one page", async (t) => {
    const store = (await openFor(t, open)).store();
    const random = seededRandom(seedOf(t));
    const projectId = await addProject(store);
    const links = Array.from({ length: 3 }, () => mintLinkId(NOON));
    const calls = Array.from({ length: 300 }, () => anyCall(random, projectId, links));
    const foreign = calls.map((call) => newCall(mintProjectId(NOON), call.linkId));
    await Promise.all([...calls, ...foreign].map((call) => store.recordCall(call, false)));
    const filters: CallFilter[] = [
      {},
      { outcome: "busy" },
      { counted: false },
      { linkId: links[1] ?? mintLinkId(NOON) },
      { tool: "add" },
      { client: "claude" },
      { client: "Claude" },
      { client: "cursor", outcome: "ok", from: NOON - DAY },
      { from: NOON - DAY, to: NOON + DAY },
      { from: NOON, outcome: "ok", counted: true },
      { to: NOON - 3 * DAY },
      { from: NOON + 100 * DAY },
    ];
    for (const filter of filters) {
      const expected = calls.filter((call) => passes(call, filter)).toSorted(newestFirst);
      for (const limit of [1, 7, 200]) {
        const found = await callsOf(store, projectId, filter, limit);
        assert.deepEqual(found.map(idOf), expected.map(idOf), JSON.stringify({ filter, limit }));
      }
    }
  });

  test("the clients of a span's calls are named, the busiest first, those without a name left out", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const call = async (name: string | null, startedAt: number, project = projectId) => {
      const client = name === null ? null : { name, version: String(startedAt) };
      await store.recordCall(newCall(project, linkId, { client, startedAt }), false);
    };
    assert.deepEqual(await store.listClients(projectId, {}), []);
    await call("cursor", NOON - DAY);
    await call("zed", NOON);
    await call("claude", NOON - 2 * DAY);
    await call("claude", NOON);
    await call(null, NOON);
    await call("stranger", NOON, mintProjectId(NOON));
    assert.deepEqual(await store.listClients(projectId, {}), [
      { name: "claude", calls: 2 },
      { name: "cursor", calls: 1 },
      { name: "zed", calls: 1 },
    ]);
    assert.deepEqual(await store.listClients(projectId, { from: NOON - DAY, to: NOON }), [
      { name: "cursor", calls: 1 },
    ]);
  });

  test("of very many clients the 50 busiest are named", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    const names = Array.from({ length: 60 }, (_, at) => `host ${String(at).padStart(2, "0")}`);
    const calls = [...names, ...names.slice(30)].map((name, at) =>
      newCall(projectId, linkId, { client: { name, version: "" }, startedAt: NOON + at }),
    );
    await Promise.all(calls.map((row) => store.recordCall(row, false)));
    const found = await store.listClients(projectId, {});
    assert.deepEqual(
      found.map(({ name }) => name),
      [...names.slice(30), ...names.slice(0, 20)],
    );
  });

  test("what no page has said is refused as a cursor", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await addLinkedProject(store);
    for (const startedAt of [NOON, NOON + 1]) {
      await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
    }
    const page = await store.listCalls(projectId, {}, { limit: 1, cursor: null });
    assert.ok(page !== "bad_cursor" && page.nextCursor !== null);
    const projects = await store.listProjects({ limit: 1, cursor: page.nextCursor });
    assert.equal(projects, "bad_cursor");
    for (const cursor of [
      "",
      "x",
      "W10",
      page.nextCursor.slice(2),
      "x".repeat(5_000),
      "[]",
      "\0",
    ]) {
      const answer = await store.listCalls(projectId, {}, { limit: 1, cursor });
      assert.equal(answer, "bad_cursor", JSON.stringify(cursor));
    }
  });
}

function anyCall(random: () => number, projectId: ProjectId, links: readonly LinkId[]): CallRow {
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    assert.ok(item !== undefined);
    return item;
  };
  return newCall(projectId, pick(links), {
    outcome: pick(OUTCOME_NAMES),
    counted: random() < 0.5,
    tool: pick(["search", "add", "-"]),
    client: pick([{ name: "claude", version: "1.0" }, { name: "cursor", version: "2" }, null]),
    // Over some days, and few enough ms apart that some begin together.
    startedAt: NOON + Math.floor(random() * 12 - 6) * DAY + Math.floor(random() * 20) * HOUR,
  });
}

function passes(call: CallRow, filter: CallFilter): boolean {
  const { outcome, counted, linkId, tool, client, from, to } = filter;
  return (
    (outcome === undefined || call.outcome === outcome) &&
    (counted === undefined || call.counted === counted) &&
    (linkId === undefined || call.linkId === linkId) &&
    (tool === undefined || call.tool === tool) &&
    (client === undefined || call.client?.name === client) &&
    (from === undefined || call.startedAt >= from) &&
    (to === undefined || call.startedAt < to)
  );
}

function newestFirst(a: CallRow, b: CallRow): number {
  return b.startedAt - a.startedAt || (a.callId < b.callId ? 1 : -1);
}

function idOf({ callId }: CallRow): CallId {
  return callId;
}

/** Reads every page of a project's calls. */
export async function callsOf(
  store: Store,
  projectId: ProjectId,
  filter: CallFilter = {},
  limit = 200,
): Promise<CallRow[]> {
  const calls: CallRow[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listCalls(projectId, filter, { limit, cursor });
    assert.ok(page !== "bad_cursor");
    assert.ok(page.items.length <= limit);
    calls.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return calls;
}
