import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { LinkId, ProjectId } from "@relay/protocol";
import { OUTCOME_NAMES } from "@relay/protocol";
import { mintLinkId } from "../ids.ts";
import { DURATION_BUCKETS_MS } from "./call-writes.ts";
import { callsOf } from "./contract/call-contract.ts";
import { seededRandom, seedOf } from "./contract/harness.ts";
import { addLinkedProject, addProject, DAY, HOUR, newCall, NOON } from "./contract/records.ts";
import { assertSound, dataDirFor, openStore, withDatabase } from "./fixtures/sqlite-harness.ts";
import type { CallRow, Page, SweepRules } from "./store.ts";

const RULES: SweepRules = {
  now: NOON,
  callRetentionDays: 30,
  unusedLinkDays: 7,
  revokedLinkDays: 30,
  rollUpMonths: 13,
};

test("the sums are those of the rows, whatever is written, tried again and written at once", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const random = seededRandom(seedOf(t));
  const projects = [await addProject(store), await addProject(store)];
  const links = Array.from({ length: 4 }, () => mintLinkId(NOON));
  const written: CallRow[] = [];
  for (let round = 0; round < 40; round += 1) {
    const fresh = Array.from({ length: Math.floor(random() * 30) }, () =>
      anyCall(random, projects, links),
    );
    const retried = written.filter(() => random() < 0.05);
    written.push(...fresh);
    await Promise.all([...fresh, ...retried].map((call) => store.recordCall(call, false)));
  }
  assertSound(dataDir);
  for (const projectId of projects) {
    const mine = written.filter((call) => call.projectId === projectId);
    assert.equal((await callsOf(store, projectId)).length, mine.length);
    const { counted, total } = await store.usage(projectId, "2026-10");
    assert.deepEqual([counted, total], [mine.filter((call) => call.counted).length, mine.length]);
  }
});

test("each call is in the one bucket of the histogram that its duration belongs to", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const { projectId, linkId } = await addLinkedProject(store);
  const durations = [0, ...DURATION_BUCKETS_MS, ...DURATION_BUCKETS_MS.map((most) => most + 1)];
  for (const durationMs of durations) {
    await store.recordCall(newCall(projectId, linkId, { durationMs }), false);
  }
  const row = withDatabase(dataDir, (db) => db.prepare("SELECT * FROM call_hours").get());
  assert.ok(row !== undefined);
  const columns = [...DURATION_BUCKETS_MS.map((most) => `ms_${most}`), "ms_more"];
  assert.deepEqual(
    Object.keys(row).filter((column) => column.startsWith("ms_")),
    columns,
  );
  const counts = columns.map((column) => Number(row[column]));
  // Each border belongs to its own bucket, and what is just over it to the next.
  const expected: number[] = columns.map((column) => (column === "ms_more" ? 1 : 2));
  assert.deepEqual(counts, expected);
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    durations.length,
  );
});

test("a page looks at 20,000 rows and comes back short, and the next one goes on from there", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const { projectId, linkId } = await addLinkedProject(store);
  const oldest = newCall(projectId, linkId, { startedAt: NOON - 2 * DAY, outcome: "busy" });
  const middle = newCall(projectId, linkId, { startedAt: NOON + DAY, outcome: "busy" });
  for (const call of [oldest, middle]) await store.recordCall(call, false);
  await store.recordCall(newCall(projectId, linkId), false);
  fillDay(dataDir, projectId, "20261014", NOON + DAY, 15_000);
  fillDay(dataDir, projectId, "20261013", NOON, 30_000);
  const pages: { found: readonly string[]; more: boolean }[] = [];
  let cursor: Page["cursor"] = null;
  do {
    const page = await store.listCalls(projectId, { outcome: "busy" }, { limit: 50, cursor });
    assert.ok(page !== "bad_cursor");
    cursor = page.nextCursor;
    pages.push({ found: page.items.map(({ callId }) => callId), more: cursor !== null });
  } while (cursor !== null);
  assert.deepEqual(pages, [
    { found: [middle.callId], more: true },
    { found: [], more: true },
    { found: [oldest.callId], more: false },
  ]);
});

test("clients are named of the 20,000 newest calls, those that name nobody among them", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const { projectId, linkId } = await addLinkedProject(store);
  // The 15,001st and the 25,002nd of the newest, which is on the day before.
  for (const startedAt of [NOON + DAY, NOON]) {
    await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
  }
  fillDay(dataDir, projectId, "20261014", NOON + DAY, 15_000);
  fillDay(dataDir, projectId, "20261013", NOON, 10_000);
  assert.deepEqual(await store.listClients(projectId, {}), [{ name: "claude", calls: 1 }]);
  const before = { to: NOON + DAY };
  assert.deepEqual(await store.listClients(projectId, before), [{ name: "claude", calls: 1 }]);
});

test("old days are dropped in small steps that let other writes in between, and give their room back", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const { projectId, linkId } = await addLinkedProject(store);
  const old = NOON - 40 * DAY;
  await store.recordCall(newCall(projectId, linkId, { startedAt: old }), false);
  const other = await addProject(store);
  fillDay(dataDir, projectId, "20260903", old, 60_000);
  fillDay(dataDir, other, "20260903", old, 60_000);
  const pagesBefore = pageCount(dataDir);
  const before = store.counts.writes;
  const sweep = { isOver: false };
  const swept = store.sweep(RULES).finally(() => (sweep.isOver = true));
  let between = 0;
  while (!sweep.isOver) {
    await store.recordCall(newCall(projectId, linkId), false);
    between += 1;
  }
  await swept;
  const steps = store.counts.writes - before - between;
  assert.ok(steps > 50, `${steps} steps`);
  assert.ok(between > 25, `${between} writes in between`);
  assert.equal(tablesLike(dataDir, "%20260903%"), 0);
  assert.equal((await callsOf(store, projectId)).length, between);
  // What stays empty is kept for tomorrow's rows.
  assert.ok(pageCount(dataDir) < pagesBefore);
  assert.ok(pageCount(dataDir) - freePages(dataDir) < pagesBefore / 10);
});

test("a day that is dropped makes the room of the next: the file does not grow", async (t) => {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const { projectId, linkId } = await addLinkedProject(store);
  const sizes: number[] = [];
  for (let day = 0; day < 4; day += 1) {
    const startedAt = NOON + day * DAY;
    await store.recordCall(newCall(projectId, linkId, { startedAt }), false);
    fillDay(dataDir, projectId, `202610${13 + day}`, startedAt, 10_000);
    sizes.push(pageCount(dataDir));
    await store.sweep({ ...RULES, now: startedAt + 2 * DAY, callRetentionDays: 1 });
  }
  const [first = 0] = sizes;
  for (const size of sizes) assert.ok(size <= first * 1.05, sizes.join());
});

function anyCall(
  random: () => number,
  projects: readonly ProjectId[],
  links: readonly LinkId[],
): CallRow {
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    assert.ok(item !== undefined);
    return item;
  };
  return newCall(pick(projects), pick(links), {
    outcome: pick(OUTCOME_NAMES),
    counted: random() < 0.5,
    tool: pick(["search", "add"]),
    toolKnown: random() < 0.8,
    startedAt: NOON + Math.floor(random() * 3) * DAY + Math.floor(random() * 5) * HOUR,
    durationMs: Math.floor(random() ** 4 * 300_000),
  });
}

/** Puts many alike rows of one day beside the store, faster than through it. */
function fillDay(
  dataDir: string,
  projectId: ProjectId,
  day: string,
  startedAt: number,
  count: number,
): void {
  withDatabase(dataDir, (db) =>
    db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO calls_${day} SELECT ?, ? + i, printf('c_%016d', i), 'link', 'search', 1, NULL,
           NULL, 'ok', 1, 5, 100, 100, 'req_0199c4e25b7a7d318f2e6a1c9b3d4e58' FROM n`,
      )
      .run(count, projectId, startedAt),
  );
}

function pageCount(dataDir: string): number {
  return withDatabase(dataDir, (db) =>
    Number(db.prepare("PRAGMA page_count").get()?.["page_count"]),
  );
}

function freePages(dataDir: string): number {
  return withDatabase(dataDir, (db) =>
    Number(db.prepare("PRAGMA freelist_count").get()?.["freelist_count"]),
  );
}

function tablesLike(dataDir: string, pattern: string): number {
  const sql = "SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE ?";
  return withDatabase(dataDir, (db) => Number(db.prepare(sql).get(pattern)?.["n"]));
}
