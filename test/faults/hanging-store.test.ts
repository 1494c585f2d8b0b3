/** Another process holds the database's write lock for five seconds (SPEC 7). */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post, textOf } from "../e2e/harness.ts";

const HELD_MS = 5_000;
const CALLS = 8;
const PATIENCE_MS = 30_000;

/** Takes the lock, says so, and gives it back with its end. */
const HOLDER = `
  const { DatabaseSync } = require("node:sqlite");
  const db = new DatabaseSync(process.argv[1], { timeout: 30_000 });
  db.exec("BEGIN IMMEDIATE");
  console.log("held");
  setTimeout(() => db.exec("COMMIT"), ${HELD_MS});
`;

test("while the store hangs for 5 s calls are answered, changes are refused, and afterwards each row is there once", async () => {
  await using relay = await openRelay({ RELAY_BILLING: "prepaid" });
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  // The first call of a month opens it in the store; while that hangs, there is none to begin.
  await callTool(link.mcpUrl);
  const holder = spawn(process.execPath, ["-e", HOLDER, join(relay.dataDir, "relay.db")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const released = once(holder, "exit");
  await once(holder.stdout, "data");
  let isHeld = true;
  void released.then(() => (isHeld = false));

  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: CALLS }, () => callTool(link.mcpUrl)));
  const tookMs = performance.now() - startedAt;
  for (const answer of answers) assert.equal(textOf(answer), '{"query":"invoices"}');
  assert.ok(isHeld, "no answer waited for the lock");
  assert.ok(tookMs >= 900, `${tookMs} ms: an answer waits a second for its row`);
  // What needs no write is answered as ever, and what needs one is told so.
  const list = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.equal(list.message["result"].tools.length, 1);
  const ready = await relay.rest("GET", "/readyz", null);
  assert.equal(ready.status, 503, JSON.stringify(ready.body));
  const refused = await relay.rest("POST", "/v1/links", project.publishableKey, {});
  assert.deepEqual([refused.status, refused.body["error"].code], [503, "UNAVAILABLE"]);
  assert.ok(isHeld, "all of that was while the store hung");

  await released;
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    if ((await relay.rest("GET", "/readyz", null)).status === 200) break;
    assert.ok(performance.now() < until, "the store is back and Relay does not see it");
  }
  const rows = await project.calls();
  assert.equal(new Set(rows.map((row) => row["id"])).size, CALLS + 1);
  assert.ok(rows.every((row) => row["outcome"] === "ok" && row["counted"] === true));
  const usage = await relay.rest("GET", "/v1/usage", project.secretKey);
  assert.deepEqual([usage.body["counted"], usage.body["total"]], [CALLS + 1, CALLS + 1]);
  await project.link();
  await app.close();
});
