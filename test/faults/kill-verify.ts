import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "../../packages/server/src/core/schema/test/random.ts";
import { inspect } from "../../packages/server/src/store/inspect.ts";
import type { RelayProcess } from "../e2e/config-process.ts";
import { post } from "../e2e/harness.ts";
import { CREDIT_MICROS } from "./known.ts";
import type { Known, KnownKey, KnownLink } from "./known.ts";
import { bookCredit } from "./kill-traffic.ts";
import type { Project } from "./kill-traffic.ts";

/** What the project pays for a call past its allowance of the month. */
export const TERMS = { freeCallsPerMonth: 20, priceMicrosPerCall: 7 } as const;

/** Links and keys that nobody touched in a round are looked at by chance. */
const UNTOUCHED_SHARE = 0.05;

/** Compares what a restarted Relay has with what the killed one had acknowledged. */
export async function verify(
  relay: RelayProcess,
  dataDir: string,
  project: Project,
  known: Known,
  random: Random,
): Promise<void> {
  const { body } = await relay.rest("GET", "/v1/project", undefined, project.secretKey);
  known.callsPerMinute.observe(Number(body["callsPerMinute"]), "callsPerMinute");
  const isDue = ({ isTouched }: KnownLink): boolean => isTouched || random.chance(UNTOUCHED_SHARE);
  for (const one of known.links.filter(isDue)) await verifyLink(relay, project, one);
  const keys = known.keys.filter(
    ({ live }, at) =>
      live.isInDoubt || at >= known.keys.length - 4 || random.chance(UNTOUCHED_SHARE),
  );
  for (const key of keys) await verifyKey(relay, key);
  for (const [sourceKey, isBooked] of known.credits) {
    // A developer who has no answer asks again: it is booked once, whether it was or not.
    if (!isBooked) await bookCredit(relay, project, sourceKey);
    known.credits.set(sourceKey, true);
  }
  verifyFolder(dataDir);
  verifyBooks(dataDir, project, known);
}

async function verifyLink(relay: RelayProcess, project: Project, one: KnownLink): Promise<void> {
  const { link, paused, revoked, label, oldPaths } = one;
  const { linkId } = link;
  const path = `/v1/links/${linkId}`;
  const isThere = async (urlPath: string): Promise<boolean> => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const { status } = await post(`${relay.url}${urlPath}`, ping);
    assert.ok(status === 200 || status === 404, `a ping: ${status}`);
    return status === 200;
  };
  const view = await relay.rest("GET", path, undefined, project.secretKey);
  assert.equal(view.status, 200, `link ${linkId} is lost`);
  paused.observe(view.body["paused"], `paused of ${linkId}`);
  revoked.observe(view.body["revoked"], `revoked of ${linkId}`);
  label.observe(view.body["label"], `the label of ${linkId}`);
  assert.equal(view.body["connected"], false, `${linkId} looks connected`);
  for (const old of oldPaths) assert.ok(!(await isThere(old)), `an old URL of ${linkId} is back`);
  if (one.pathInDoubt !== null && !revoked.value) {
    // The rotation may have happened or not; who has no answer rotates again.
    const again = await relay.rest("POST", `${path}/rotate`, undefined, project.secretKey);
    oldPaths.push(one.pathInDoubt);
    one.urlPath = new URL(String(again.body["mcpUrl"])).pathname;
    assert.ok(!(await isThere(one.pathInDoubt)), `the URL before a rotation of ${linkId} is back`);
  }
  one.pathInDoubt = null;
  if (one.urlPath !== null) {
    assert.equal(await isThere(one.urlPath), !revoked.value, `the URL of ${linkId}`);
  }
  one.isTouched = false;
}

async function verifyKey(relay: RelayProcess, { keyId, secret, live }: KnownKey): Promise<void> {
  const { status } = await relay.rest("GET", "/v1/project", undefined, secret);
  assert.ok(status === 200 || status === 401, `a key: ${status}`);
  live.observe(status === 200, `whether key ${keyId} opens`);
}

/** What `relay doctor` looks at: damage, counts, money. */
function verifyFolder(dataDir: string): void {
  const found = inspect(dataDir);
  assert.ok(found !== null);
  assert.deepEqual(found.damage, []);
  assert.deepEqual(found.countFaults, []);
  assert.deepEqual(found.money.faults, []);
}

/** Every counted call that anybody saw is there, once; and what is there, an app was sent. */
function verifyBooks(dataDir: string, { projectId, accountId }: Project, known: Known): void {
  const db = new DatabaseSync(join(dataDir, "relay.db"), { readOnly: true, timeout: 5_000 });
  try {
    const all = (sql: string, ...values: string[]) => db.prepare(sql).all(...values);
    const tables = all("SELECT name FROM sqlite_schema WHERE name GLOB 'calls_[0-9]*'");
    const counted = new Set<string>();
    const calls = new Set<string>();
    const months = new Map<string, number>();
    for (const { name } of tables) {
      const sql = `SELECT call_id, request_id, outcome, strftime('%Y-%m', started_at / 1000, 'unixepoch')
        AS month FROM ${String(name)} WHERE project_id = ? AND counted = 1`;
      for (const row of all(sql, projectId)) {
        const [callId, month] = [String(row["call_id"]), String(row["month"])];
        assert.ok(!calls.has(callId), `call ${callId} is written twice`);
        assert.ok(known.received.has(callId), `call ${callId} counts, and no app was sent it`);
        calls.add(callId);
        counted.add(String(row["request_id"]));
        months.set(month, (months.get(month) ?? 0) + 1);
      }
    }
    for (const requestId of known.answered) {
      assert.ok(counted.has(requestId), `the host of ${requestId} saw its answer, and it is lost`);
    }
    const spent = [...months.values()].reduce((sum, count) => sum + priceOf(count), 0);
    const ledger = all(
      "SELECT kind, amount_micros, source_key FROM ledger WHERE account_id = ?",
      accountId,
    );
    const credits = ledger.filter(({ kind }) => kind !== "usage");
    assert.deepEqual(
      credits.map((entry) => String(entry["source_key"])).toSorted(),
      [...known.credits.keys()].toSorted(),
      "each credit is booked once",
    );
    const [balance] = all("SELECT balance_micros FROM balances WHERE account_id = ?", accountId);
    const booked = known.credits.size * CREDIT_MICROS;
    assert.equal(Number(balance?.["balance_micros"] ?? 0), booked - spent, "the balance");
  } finally {
    db.close();
  }
}

function priceOf(countedInMonth: number): number {
  return Math.max(0, countedInMonth - TERMS.freeCallsPerMonth) * TERMS.priceMicrosPerCall;
}
