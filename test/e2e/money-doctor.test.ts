/** `relay doctor` finds each thing about money that does not hold, and says where (SPEC 10). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { inspect } from "../../packages/server/src/store/inspect.ts";
import { ECHO, callTool, connectApp, openRelay } from "./harness.ts";
import { Money } from "./money-harness.ts";

const PRICE = 1_000;

test("a sound folder has no fault, and each broken invariant is named with its place", async () => {
  const relay = await openRelay({
    RELAY_BILLING: "prepaid",
    RELAY_FREE_CALLS_PER_MONTH: "1",
    RELAY_PRICE_MICROS_PER_CALL: String(PRICE),
  });
  const money = new Money(relay);
  const { project, accountId } = await money.project();
  await money.credit(accountId, 9 * PRICE);
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 3; n += 1) await callTool(link.mcpUrl);
  await app.close();
  const look = () => inspect(relay.dataDir)?.money;
  assert.deepEqual(look(), { accounts: 1, months: 1, faults: [] });
  await relay.stop();

  const month = new Date().toISOString().slice(0, 7);
  const account = `account ${accountId}`;
  const place = `project ${project.projectId}, ${month}`;
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"));
  /** Breaks something, looks, and puts it back. */
  const broken = (sql: string): string[] => {
    db.exec("SAVEPOINT one; DROP TRIGGER ledger_stays; DROP TRIGGER ledger_keeps");
    db.exec(sql);
    db.exec("RELEASE one");
    return (look()?.faults ?? []).map(
      ({ invariant, where, says }) => `${invariant}, ${where}: ${says}`,
    );
  };
  const steps: readonly (readonly [string, string, readonly string[]])[] = [
    [
      "UPDATE balances SET balance_micros = balance_micros + 1",
      "UPDATE balances SET balance_micros = balance_micros - 1",
      [
        `balance, ${account}: the balance is 7001 and its ledger adds up to 7000; credited 9000, by the ledger 9000`,
      ],
    ],
    [
      "UPDATE call_hours SET counted = counted + 1",
      "UPDATE call_hours SET counted = counted - 1",
      [
        `counted, ${place}: 3 calls were paid for and 0 were made in mode off, but the hourly sums have 4`,
      ],
    ],
    [
      "UPDATE segments SET price_micros = 2000",
      "UPDATE segments SET price_micros = 1000",
      [`spent, ${place}: spent is 2000, by the count it is 4000, in the ledger 2000`],
    ],
    [
      "UPDATE usage_months SET cap_peak_micros = 1000",
      "UPDATE usage_months SET cap_peak_micros = 10000000",
      [`cap, ${place}: spent is 2000, and the cap was never above 1000`],
    ],
    [
      "UPDATE ledger SET amount_micros = 1000 WHERE kind = 'grant'; UPDATE balances SET balance_micros = -1000, credits_micros = 1000",
      "UPDATE ledger SET amount_micros = 9000 WHERE kind = 'grant'; UPDATE balances SET balance_micros = 7000, credits_micros = 9000",
      [`overdrawn, ${account}: calls cost 2000, and only 1000 was ever paid in`],
    ],
  ];
  const triggers = db
    .prepare("SELECT sql FROM sqlite_schema WHERE name IN ('ledger_keeps', 'ledger_stays')")
    .all();
  for (const [breaks, mends, faults] of steps) {
    assert.deepEqual(broken(breaks), faults);
    db.exec(mends);
    for (const { sql } of triggers) db.exec(String(sql));
    assert.deepEqual(look()?.faults, []);
  }
  // The ledger itself lets nothing of this happen.
  assert.throws(() => db.exec("DELETE FROM ledger"), /the ledger only grows/);
  const cheaper = "UPDATE ledger SET amount_micros = amount_micros + 1";
  assert.throws(() => db.exec(cheaper), /an entry of the ledger does not change/);
  db.close();
  await relay[Symbol.asyncDispose]();
});
