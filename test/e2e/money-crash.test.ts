/** Relay is killed in the middle of paid calls, and its books agree afterwards (SPEC 10, 11). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "../../packages/server/src/store/inspect.ts";
import { startChild } from "./drain-child.ts";
import type { ChildRelay } from "./drain-child.ts";
import { ECHO, callTool, connectApp } from "./harness.ts";
import type { JsonObject, TestLink, TestProject } from "./harness.ts";
import { Money } from "./money-harness.ts";

const CALLS = 1_000;
const KILLED_AFTER = 400;
const LINKS = 8;
const CALLERS_PER_LINK = 4;
const PRICE = 1_000;
const CREDIT = 5_000 * PRICE;
const FREE = 7;

const settings = {
  RELAY_BILLING: "prepaid",
  RELAY_FREE_CALLS_PER_MONTH: String(FREE),
  RELAY_PRICE_MICROS_PER_CALL: String(PRICE),
};

/** Makes calls until there were enough or Relay is gone; returns the request ids of its answers. */
async function callMany(relay: ChildRelay, links: readonly TestLink[]): Promise<Set<string>> {
  const seen = new Set<string>();
  let left = CALLS;
  let isKilled = false;
  const caller = async (link: TestLink): Promise<void> => {
    while (left > 0 && !isKilled) {
      left -= 1;
      try {
        const { message, headers } = await callTool(link.mcpUrl);
        if (message["result"]?.isError === false) seen.add(headers.get("x-request-id") ?? "");
      } catch (error) {
        // The kill has cut the connection.
        if (!isKilled) throw error;
      }
      if (seen.size >= KILLED_AFTER && !isKilled) {
        isKilled = true;
        relay.signal("SIGKILL");
      }
    }
  };
  await Promise.all(
    links.flatMap((link) => Array.from({ length: CALLERS_PER_LINK }, () => caller(link))),
  );
  return seen;
}

async function countedRows(relay: ChildRelay, project: TestProject): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await relay.rest(
      "GET",
      `/v1/calls?limit=200&counted=true${more}`,
      project.secretKey,
    );
    rows.push(...(body["items"] as JsonObject[]));
    cursor = body["nextCursor"] as string | null;
  }
  return rows;
}

test("killed in the middle of 1,000 paid calls, Relay has billed each call that it answered, and none twice", async () => {
  let relay = await startChild(settings);
  try {
    const { project, accountId } = await new Money(relay).project();
    await new Money(relay).credit(accountId, CREDIT, "first");
    const links = await Promise.all(Array.from({ length: LINKS }, () => project.link()));
    await Promise.all(links.map((link) => connectApp(link, ECHO)));
    const seen = await callMany(relay, links);
    assert.equal((await relay.exited).signal, "SIGKILL");
    assert.ok(seen.size >= KILLED_AFTER);

    relay = await startChild(settings, relay.dataDir);
    const money = new Money(relay);
    const rows = await countedRows(relay, project);
    const ids = rows.map((row) => String(row["requestId"]));
    assert.equal(new Set(ids).size, ids.length, "no call has two rows");
    const counted = new Set(ids);
    for (const id of seen) assert.ok(counted.has(id), "every answer a host saw is counted");
    const usage = await money.usage(project);
    const spent = Math.max(0, rows.length - FREE) * PRICE;
    assert.deepEqual(
      [usage["counted"], usage["spentMicros"], usage["balanceMicros"]],
      [rows.length, spent, CREDIT - spent],
    );
    const amounts = (await money.ledger(accountId)).map((entry) => [
      entry["kind"],
      entry["amountMicros"],
    ]);
    assert.deepEqual(
      amounts.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
      [
        ["grant", CREDIT],
        ["usage", -spent],
      ],
    );
    assert.deepEqual(inspect(relay.dataDir)?.money.faults, []);
    assert.deepEqual(inspect(relay.dataDir)?.countFaults, []);
    // What was told before the crash may be told again.
    assert.equal((await money.credit(accountId, CREDIT, "first"))["booked"], false);
    assert.equal((await money.usage(project))["balanceMicros"], CREDIT - spent);
  } finally {
    await relay[Symbol.asyncDispose]();
  }
});
