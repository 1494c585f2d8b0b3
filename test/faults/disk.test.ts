/** A Relay whose disk fills up, and one whose data folder can't be written (SPEC 7 and 11). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { dataFolder, removeFolder, runRelay, serveRelay } from "../e2e/config-process.ts";
import type { RelayProcess } from "../e2e/config-process.ts";
import { ECHO, callTool, connectApp, post, textOf } from "../e2e/harness.ts";
import type { JsonObject, TestLink } from "../e2e/harness.ts";
import { filesOf } from "./files-of.ts";

const CALLS = 20;
const PATIENCE_MS = 30_000;
/** No file may be longer: what the write-ahead log has by then fits, and nothing more. */
const FULL_BYTES = 4_096;

const canLimit = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;
const LIMITED = { skip: canLimit ? false : "needs Linux and prlimit" };

test(
  "with a full disk calls are answered, changes are refused, and with room again nothing is missing",
  LIMITED,
  async (t) => {
    const dataDir = dataFolder();
    t.after(() => removeFolder(dataDir));
    const settings = { RELAY_DATA_DIR: dataDir, RELAY_PORT: "0", RELAY_BILLING: "prepaid" };
    await using relay = await serveRelay(settings);
    const { body: keys } = await relay.rest("POST", "/v1/operator/projects", { name: "Notes" });
    const { body } = await relay.rest("POST", "/v1/links", {}, keys["publishableKey"]);
    const link = body as TestLink;
    const app = await connectApp(link, ECHO);
    await callTool(link.mcpUrl);

    limitFiles(relay, `${FULL_BYTES}:`);
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => callTool(link.mcpUrl)));
    for (const answer of answers) assert.equal(textOf(answer), '{"query":"invoices"}');
    const tookMs = performance.now() - startedAt;
    const refused = await relay.rest("POST", "/v1/links", {}, keys["publishableKey"]);
    assert.deepEqual([refused.status, refused.body["error"].code], [503, "UNAVAILABLE"]);
    const ready = await fetch(`${relay.url}/readyz`);
    assert.equal(ready.status, 503, await ready.text());
    const list = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    assert.equal(list.message["result"].tools.length, 1);
    for (let left = CALLS - 9; left > 0; left -= 1) await callTool(link.mcpUrl);
    t.diagnostic(`8 answers in ${tookMs.toFixed(0)} ms while nothing could be written`);

    limitFiles(relay, "unlimited:");
    await untilReady(relay);
    const usage = await relay.rest("GET", "/v1/usage", undefined, keys["secretKey"]);
    assert.deepEqual([usage.body["counted"], usage.body["total"]], [CALLS, CALLS]);
    await relay.rest("POST", "/v1/links", {}, keys["publishableKey"]);
    await relay.kill();
    assert.equal((await app.closed).code, 1006);
    const doctor = await runRelay(["doctor"], { ...settings, RELAY_PORT: "1" });
    assert.equal(doctor.code, 0, doctor.stdout);
    assert.match(doctor.stdout, new RegExp(`counts +${CALLS} counted`));
  },
);

/** Sets how long a file of this process may become; the hard limit stays, so that it can be raised again. */
function limitFiles(relay: RelayProcess, limit: string): void {
  const words = ["--pid", String(relay.child.pid), `--fsize=${limit}`];
  const { status, stderr } = spawnSync("prlimit", words, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

async function untilReady(relay: RelayProcess): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await sleep(50)) {
    const answer = await fetch(`${relay.url}/readyz`);
    const body = (await answer.json()) as JsonObject;
    if (answer.status === 200) return;
    assert.ok(performance.now() < until, JSON.stringify(body));
  }
}

const asRoot = process.getuid?.() === 0;
const canMount = asRoot && spawnSync("unshare", ["-m", "true"]).status === 0;
const READ_ONLY = {
  skip: !asRoot || canMount ? false : "root writes to any folder, and mounts can't be had here",
};

test(
  "in a folder that can't be written Relay says so, exits with 1 and changes nothing",
  READ_ONLY,
  async (t) => {
    const dataDir = dataFolder();
    t.after(() => removeFolder(dataDir));
    const settings = { RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" };
    const first = await serveRelay(settings);
    await first.stop();
    const before = filesOf(dataDir);
    const { code, stdout, stderr } = await serveReadOnly(dataDir, settings);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`^relay: The data folder ${dataDir} can't be written: `, "m"));
    assert.deepEqual(filesOf(dataDir), before);
    // Nothing of that stays behind: with its rights back the folder serves again.
    await (await serveRelay(settings)).stop();
  },
);

/** Runs `relay serve` where the folder is read-only: by its mode, for root by a mount of its own. */
async function serveReadOnly(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  if (!asRoot) {
    const { mode } = statSync(dataDir);
    chmodSync(dataDir, 0o500);
    try {
      return await runRelay(["serve"], settings);
    } finally {
      chmodSync(dataDir, mode & 0o777);
    }
  }
  const main = join(import.meta.dirname, "../../packages/server/src/main.ts");
  const mounted = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  const command = [process.execPath, "-C", "relay-source", main, "serve"];
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    ["-m", "sh", "-c", mounted, dataDir, ...command],
    { encoding: "utf8", timeout: 60_000, env: { PATH: process.env["PATH"] ?? "", ...settings } },
  );
  assert.ok(existsSync(dataDir));
  return { code: status, stdout, stderr };
}
