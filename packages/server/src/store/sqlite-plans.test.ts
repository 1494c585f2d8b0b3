import { strict as assert } from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { mintAccountId } from "../ids.ts";
import { Connection } from "./connection.ts";
import { manifestOf, newCall, newKey, newLink, newProject, NOON } from "./contract/records.ts";
import { readList } from "./lists.ts";
import { ManifestChanges } from "./manifest-changes.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import type { Migration } from "./migrate.ts";
import { READ_SQL } from "./reads.ts";
import { RecentCalls } from "./recent-calls.ts";
import { dataDirFor } from "./fixtures/sqlite-harness.ts";
import { StoreError } from "./store.ts";
import type { LinkSort } from "./store.ts";
import type { WriteContext } from "./write-context.ts";
import { performWrite } from "./writes.ts";

test("every read by key goes through an index", (t) => {
  const { db } = contextFor(t);
  for (const sql of READ_SQL) assertIndexed(db, sql);
});

test("every list walks its index in order, whatever it filters by", (t) => {
  const context = contextFor(t);
  const { projectId, linkId } = fill(context);
  const page = { limit: 20, cursor: null };
  const texts = textsOf(t, context.db, () => {
    readList(context.db, { verb: "listProjects", args: [page] });
    readList(context.db, { verb: "usage", args: [projectId, "2026-10"] });
    readList(context.db, { verb: "linkHistory", args: [linkId] });
    const filters = [{}, { linkId, from: 1, to: NOON * 2 }] as const;
    for (const filter of filters) {
      readList(context.db, { verb: "listCalls", args: [projectId, filter, page] });
    }
    const sorts: readonly LinkSort[] = ["-lastSeenAt", "lastSeenAt", "-createdAt", "label"];
    for (const sort of sorts) {
      for (const filter of [{ sort }, { sort, state: "online", label: "a" } as const]) {
        readList(context.db, { verb: "listLinks", args: [projectId, filter, page] });
      }
    }
  });
  assert.ok(texts.length > 20);
  // Projects are all listed. A month's sums are put in order after they were added up.
  const isMeant = (line: string, sql: string) =>
    line === "SCAN p USING INDEX projects_created" || sql.includes("GROUP BY day_number");
  for (const sql of texts) assertIndexed(context.db, sql, isMeant);
});

test("every write finds its rows through an index", (t) => {
  const context = contextFor(t);
  const texts = textsOf(t, context.db, () => {
    const { projectId, linkId, key, link } = fill(context);
    const at = NOON;
    performWrite(context, { verb: "changeProject", args: [projectId, { name: "New" }] });
    performWrite(context, { verb: "createKey", args: [newKey(projectId)] });
    performWrite(context, { verb: "revokeKey", args: [projectId, key.keyId, at] });
    performWrite(context, { verb: "writeKeyUses", args: [[{ keyId: key.keyId, at }]] });
    performWrite(context, { verb: "createLink", args: [newLink(projectId), 1] });
    performWrite(context, {
      verb: "claimLink",
      args: [{ linkId, node: "n1", manifest: manifestOf("2"), at }],
    });
    // So often that the oldest lines of its history go.
    for (let epoch = 3; epoch < 30; epoch += 1) {
      const manifest = manifestOf(String(epoch));
      performWrite(context, { verb: "claimLink", args: [{ linkId, node: "n1", manifest, at }] });
    }
    const close = { code: 1000, reason: "" };
    performWrite(context, { verb: "releaseLink", args: [linkId, 29, at, close] });
    performWrite(context, { verb: "releaseSome", args: ["n1", at] });
    const { urlTokenHash } = newLink(projectId);
    performWrite(context, {
      verb: "rotateLink",
      args: [{ linkId, urlTokenHash, sealedUrl: null }],
    });
    performWrite(context, { verb: "forgetSealedUrl", args: [linkId, link.urlTokenHash] });
    performWrite(context, { verb: "setLinkPaused", args: [linkId, true] });
    performWrite(context, { verb: "setLinkLabel", args: [linkId, "Ada"] });
    performWrite(context, { verb: "revokeLink", args: [linkId, at] });
    const client = { name: "claude", version: "1" };
    performWrite(context, { verb: "writeClients", args: [[{ linkId, client }]] });
    performWrite(context, { verb: "writeProbe", args: [] });
    sweepAll(context);
  });
  // The first row of a table is taken without an index.
  const isMeant = (line: string) => /^SCAN (expired_\d+|first)/.test(line);
  for (const sql of texts) assertIndexed(context.db, sql, isMeant);
});

test("a migration that fails leaves the database as it was, and is applied once mended", (t) => {
  const db = connectionFor(t);
  migrate(db, MIGRATIONS, NOON);
  const number = MIGRATIONS.length + 1;
  const known = MIGRATIONS.map(({ name }) => name);
  const good: Migration = { number, name: "good", sql: "CREATE TABLE good (a TEXT) STRICT" };
  const bad: Migration = {
    number: number + 1,
    name: "bad",
    sql: "CREATE TABLE bad (a NOTHING) STRICT",
  };
  assert.throws(() => migrate(db, [...MIGRATIONS, good, bad], NOON));
  const names = () => db.all("SELECT name FROM migrations ORDER BY number").map(({ name }) => name);
  assert.deepEqual(names(), known);
  assert.equal(db.get("SELECT 1 FROM sqlite_schema WHERE name = 'good'"), undefined);
  migrate(db, [...MIGRATIONS, good], NOON);
  migrate(db, [...MIGRATIONS, good], NOON);
  assert.deepEqual(names(), [...known, "good"]);
  assert.throws(() => migrate(db, MIGRATIONS, NOON), StoreError);
});

function connectionFor(t: TestContext): Connection {
  const path = join(dataDirFor(t), "relay.db");
  const db = new Connection(path, { readOnly: false, cacheKiB: 2_048, busyMs: 0 });
  t.after(() => db.close());
  return db;
}

function contextFor(t: TestContext): WriteContext {
  const db = connectionFor(t);
  migrate(db, MIGRATIONS, NOON);
  db.run("INSERT INTO accounts VALUES (?, 1, ?)", mintAccountId(NOON), NOON);
  return {
    db,
    dayInserts: new Map(),
    recent: new RecentCalls(10),
    manifestChanges: new ManifestChanges(10),
  };
}

/** Puts something of everything into the database. */
function fill(context: WriteContext) {
  const project = newProject();
  const { projectId } = project;
  const key = newKey(projectId);
  const link = newLink(projectId);
  const { linkId } = link;
  performWrite(context, { verb: "createProject", args: [project, [key]] });
  performWrite(context, { verb: "createLink", args: [link, 10] });
  performWrite(context, {
    verb: "claimLink",
    args: [{ linkId, node: "n1", manifest: manifestOf("1"), at: NOON }],
  });
  for (const startedAt of [NOON, 1]) {
    performWrite(context, {
      verb: "recordCall",
      args: [newCall(projectId, linkId, { startedAt }), false],
    });
  }
  return { projectId, linkId, key, link };
}

function sweepAll(context: WriteContext): void {
  const rules = {
    now: NOON * 2,
    callRetentionDays: 30,
    unusedLinkDays: 7,
    revokedLinkDays: 30,
    rollUpMonths: 13,
  };
  let step: Parameters<typeof performWrite<"sweepStep">>[1]["args"][1] | null = {
    drop: "unused_links",
  };
  while (step !== null) step = performWrite(context, { verb: "sweepStep", args: [rules, step] });
}

/** Collects the texts of the statements that `use` runs. */
function textsOf(t: TestContext, db: Connection, use: () => void): readonly string[] {
  const methods = (["get", "all", "run"] as const).map((name) => t.mock.method(db, name));
  use();
  const texts = methods.flatMap(({ mock }) => mock.calls.map(({ arguments: [sql] }) => sql));
  for (const { mock } of methods) mock.restore();
  return [...new Set(texts)].filter((sql) => /^\s*(SELECT|UPDATE|DELETE|INSERT|WITH)/.test(sql));
}

/** Fails where SQLite would look at a whole table, or sort what no index has in order. */
function assertIndexed(
  db: Connection,
  sql: string,
  isMeant = (_line: string, _sql: string) => false,
): void {
  // The tables of days are looked up by name, among a few hundred.
  if (sql.includes("sqlite_schema")) return;
  // A table that was dropped meanwhile has no plan any more.
  const table = /(?:calls|expired)_\d{8}/.exec(sql)?.[0];
  if (
    table !== undefined &&
    db.get("SELECT 1 FROM sqlite_schema WHERE name = ?", table) === undefined
  )
    return;
  const values = sql.match(/\?\d*/g)?.map(() => null) ?? [];
  const numbered = new Set(sql.match(/\?\d+/g)).size;
  const plan = db.all(
    `EXPLAIN QUERY PLAN ${sql}`,
    ...(numbered > 0 ? values.slice(0, numbered) : values),
  );
  for (const { detail } of plan) {
    const line = String(detail);
    const isSlow = /^SCAN|TEMP B-TREE/.test(line);
    assert.ok(!isSlow || isMeant(line, sql), `${line}\n${sql}`);
  }
}
