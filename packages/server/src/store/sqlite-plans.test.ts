import { strict as assert } from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { AccountId, LinkId, ProjectId } from "@relay/protocol";
import { hashToken, mintAccountId, mintInvitationId, mintUserId } from "../ids.ts";
import { ACCOUNT_READ_SQL } from "./account-reads.ts";
import { Connection } from "./connection.ts";
import { manifestOf, newCall, newKey, newLink, newProject, NOON } from "./contract/records.ts";
import { readList } from "./lists.ts";
import { LastCalls } from "./last-calls.ts";
import { ManifestChanges } from "./manifest-changes.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import type { Migration } from "./migrate.ts";
import { MONEY_READ_SQL } from "./money-reads.ts";
import { READ_SQL } from "./reads.ts";
import { RecentCalls } from "./recent-calls.ts";
import { dataDirFor } from "./fixtures/sqlite-harness.ts";
import { StoreError } from "./store.ts";
import type { LinkSort } from "./store.ts";
import type { WriteContext } from "./write-context.ts";
import { performWrite } from "./writes.ts";

test("every read by key goes through an index", (t) => {
  const { db } = contextFor(t);
  for (const sql of [...READ_SQL, ...MONEY_READ_SQL, ...ACCOUNT_READ_SQL]) assertIndexed(db, sql);
});

test("every list walks its index in order, whatever it filters by", (t) => {
  const context = contextFor(t);
  const { projectId, linkId } = fill(context);
  const accountId = mintAccountId(NOON);
  const page = { limit: 20, cursor: null };
  const texts = textsOf(t, context.db, () => {
    readList(context.db, { verb: "listProjects", args: [page] });
    readList(context.db, { verb: "listProjectsOf", args: [[accountId]] });
    readList(context.db, { verb: "projectStart", args: [projectId] });
    const span = { from: 0, to: NOON * 2 };
    for (const tool of [null, "search"]) {
      readList(context.db, { verb: "hours", args: [projectId, span, tool] });
    }
    readList(context.db, { verb: "latencies", args: [projectId, span] });
    readList(context.db, { verb: "usage", args: [projectId, "2026-10"] });
    readList(context.db, { verb: "linkHistory", args: [linkId] });
    readList(context.db, { verb: "listEvents", args: [projectId, page] });
    readList(context.db, { verb: "listAudit", args: [accountId, page] });
    readList(context.db, { verb: "listAudit", args: [null, page] });
    for (const within of [null, projectId]) {
      readList(context.db, { verb: "listLedger", args: [accountId, within, page] });
    }
    const filters = [{}, { linkId, from: 1, to: NOON * 2 }, { client: "claude" }] as const;
    for (const filter of filters) {
      readList(context.db, { verb: "listCalls", args: [projectId, filter, page] });
    }
    for (const within of [{}, { from: 1, to: NOON * 2 }]) {
      readList(context.db, { verb: "listClients", args: [projectId, within] });
    }
    readList(context.db, { verb: "listAccounts", args: [page] });
    const sorts: readonly LinkSort[] = ["-lastSeenAt", "lastSeenAt", "-createdAt", "label"];
    for (const sort of sorts) {
      const narrowed = { sort, state: "online", label: "a" } as const;
      for (const filter of [{ sort }, { sort, trial: true }, narrowed]) {
        readList(context.db, { verb: "listLinks", args: [projectId, filter, page] });
      }
    }
  });
  assert.ok(texts.length > 20);
  // Accounts and projects are all listed, those of one account are few and sorted after they were found. What is
  // added up from the roll-ups is put in order afterwards; the first hours are a part of what was
  // read in order.
  const isMeant = (line: string, sql: string) =>
    line === "SCAN p USING INDEX projects_created" ||
    line === "SCAN a USING INDEX accounts_created" ||
    line === "SCAN a USING INDEX audit_at" ||
    line.startsWith("SCAN (subquery") ||
    (/TEMP B-TREE/.test(line) && /GROUP BY|account_id = \?/.test(sql));
  for (const sql of texts) assertIndexed(context.db, sql, isMeant);
});

test("every write finds its rows through an index", (t) => {
  const context = contextFor(t);
  const texts = textsOf(t, context.db, () => {
    const { projectId, linkId, key, link } = fill(context);
    const at = NOON;
    accountWrites(context, at);
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
    writeMoney(context, projectId, linkId);
    const replaced = newKey(projectId);
    performWrite(context, { verb: "createKey", args: [replaced] });
    const rules = { liveMax: 20, replaces: { keyId: replaced.keyId, expiresAt: at } };
    performWrite(context, { verb: "createKey", args: [newKey(projectId), rules] });
    performWrite(context, { verb: "deleteProject", args: [projectId, at] });
    while (performWrite(context, { verb: "purgeStep", args: [projectId] }));
    sweepAll(context);
  });
  // The first row of a table is taken without an index.
  const isMeant = (line: string) => /^SCAN (expired_\d+|first)/.test(line);
  for (const sql of texts) assertIndexed(context.db, sql, isMeant);
});

test("a migration that fails leaves the database as it was, and is applied once mended", (t) => {
  const db = connectionFor(t);
  migrate(db, MIGRATIONS, NOON);
  const number = (MIGRATIONS.at(-1)?.number ?? 0) + 1;
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
  db.run(
    "INSERT INTO accounts (account_id, is_operator, created_at) VALUES (?, 1, ?)",
    mintAccountId(NOON),
    NOON,
  );
  return {
    db,
    dayInserts: new Map(),
    recent: new RecentCalls(10),
    lastCalls: new LastCalls(),
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

/** Writes something of everything about money, thresholds of alerts among it. */
function writeMoney(context: WriteContext, projectId: ProjectId, linkId: LinkId): void {
  const { db } = context;
  const row = db.get("SELECT account_id FROM projects WHERE project_id = ?", projectId);
  // Written by this store, as an account's id.
  const accountId = String(row?.["account_id"]) as AccountId;
  const base = { accountId, kind: "grant", note: "", createdAt: NOON } as const;
  const credit = { ...base, entryId: "e", amountMicros: 9_000, sourceKey: "k" };
  performWrite(context, { verb: "startBilling", args: ["prepaid", 9_000, NOON] });
  performWrite(context, { verb: "startBilling", args: ["prepaid", 9_000, NOON] });
  for (let n = 0; n < 2; n += 1) performWrite(context, { verb: "bookCredit", args: [credit] });
  const terms = { freeCallsPerMonth: 0, priceMicrosPerCall: 4_000, spendCapMicros: 9_000 };
  performWrite(context, { verb: "changeProject", args: [projectId, terms] });
  const webhook = { url: "https://example.com", sealedSecret: new Uint8Array(1) };
  performWrite(context, { verb: "setWebhook", args: [projectId, webhook, NOON] });
  const opened = performWrite(context, { verb: "openMonth", args: [projectId, "2026-10", NOON] });
  for (let n = 0; n < 2; n += 1) {
    performWrite(context, {
      verb: "recordCall",
      args: [newCall(projectId, linkId), false, opened?.segmentId],
    });
  }
  const event = { eventId: "m", projectId, type: "t", body: "{}", createdAt: NOON };
  performWrite(context, { verb: "addEvent", args: [event] });
  const attempt = { at: NOON, state: "delivered", nextAt: null, status: 200, error: null } as const;
  performWrite(context, { verb: "noteAttempt", args: ["m", attempt] });
  performWrite(context, { verb: "setWebhook", args: [projectId, null, NOON] });
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

/** Every write of members, invitations, the set-up and the audit log, once. */
function accountWrites(context: WriteContext, at: number): void {
  const userId = mintUserId(at);
  const accountId = mintAccountId(at);
  const own = { userId, accountId, name: "Ann", at };
  performWrite(context, { verb: "ensureOwnAccount", args: [own] });
  performWrite(context, { verb: "setAccountName", args: [accountId, "Team"] });
  performWrite(context, { verb: "setRole", args: [accountId, userId, "admin"] });
  performWrite(context, { verb: "removeMember", args: [accountId, userId] });
  const hash = hashToken("invitation");
  for (const into of [accountId, null]) {
    const invitation = {
      invitationId: mintInvitationId(at),
      accountId: into,
      role: "developer",
      note: null,
      hash: hashToken(`invitation to ${into}`),
      invitedBy: null,
      createdAt: at,
      expiresAt: at + 1,
    } as const;
    performWrite(context, { verb: "invite", args: [invitation] });
  }
  performWrite(context, { verb: "countSignUp", args: [hash, at] });
  const acceptance = { hash, userId, at, ownAccountId: accountId, ownAccountName: "Ann" };
  performWrite(context, { verb: "acceptInvitation", args: [acceptance] });
  performWrite(context, { verb: "revokeInvitation", args: [null, "none"] });
  performWrite(context, { verb: "claimSetUp", args: [at] });
  performWrite(context, { verb: "completeSetUp", args: [userId, at] });
  performWrite(context, { verb: "releaseSetUp", args: [] });
}
