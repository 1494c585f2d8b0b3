import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { ECHO, callTool, connectApp, openRelay, post } from "./harness.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);

/** Runs a command of Relay; resolves with what it said, whatever its exit code. */
async function relay(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = ["-C", "relay-source", "packages/server/src/main.ts", ...args];
  try {
    const { stdout, stderr } = await run(process.execPath, command, {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], ...env },
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    // What execFile rejects with carries the child's output and code.
    const failed = error as { code: number; stdout: string; stderr: string };
    return { code: failed.code, stdout: failed.stdout, stderr: failed.stderr };
  }
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), "relay-backup-"));
}

test("a backup taken under load restores to a Relay that passes the doctor and knows every link", async () => {
  await using served = await openRelay();
  const folder = temporary();
  const project = await served.project({ callsPerMinute: 6_000 });
  const link = await project.link();
  await connectApp(link, ECHO);
  const done = new AbortController();
  const load = (async () => {
    while (!done.signal.aborted) await callTool(link.mcpUrl);
  })();
  const file = join(folder, "relay.backup");
  const backed = await relay(["backup", file], { RELAY_DATA_DIR: served.dataDir });
  done.abort();
  await load;
  assert.equal(backed.code, 0, backed.stderr);
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const dataDir = join(folder, "restored");
  const restored = await relay(["restore", file], { RELAY_DATA_DIR: dataDir });
  assert.equal(restored.code, 0, restored.stderr);
  const doctor = await relay(["doctor"], { RELAY_DATA_DIR: dataDir, RELAY_PORT: "1" });
  assert.equal(doctor.code, 0, doctor.stdout);
  assert.match(doctor.stdout, /ok {5}counts/);

  const again = await openRelay({}, dataDir);
  const url = link.mcpUrl.replace(served.url, again.url);
  const listed = await post(url, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.equal(listed.message["result"].tools[0].name, "search_notes");
  assert.equal(again.operatorToken, served.operatorToken);
  await again.stop();
  rmSync(folder, { recursive: true });
});

test("a restore refuses a folder that holds something, and a file that is no backup", async () => {
  const folder = temporary();
  const file = join(folder, "notes.txt");
  writeFileSync(file, "not a backup");
  const full = await relay(["restore", file], { RELAY_DATA_DIR: folder });
  assert.equal(full.code, 1);
  assert.match(full.stderr, /is not empty; restore into a new folder/);
  const target = join(folder, "new");
  const wrong = await relay(["restore", file], { RELAY_DATA_DIR: target });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /is not a backup of a Relay/);
  assert.equal(existsSync(target), false);
  rmSync(folder, { recursive: true });
});

test("a backup never overwrites a file, and leaves none where there is nothing to copy", async () => {
  const folder = temporary();
  const file = join(folder, "there");
  const missing = await relay(["backup", file], { RELAY_DATA_DIR: join(folder, "none") });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /There is no /);
  assert.equal(existsSync(file), false);
  writeFileSync(file, "mine");
  await using served = await openRelay();
  const taken = await relay(["backup", file], { RELAY_DATA_DIR: served.dataDir });
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /can't be made/);
  rmSync(folder, { recursive: true });
});

test("the doctor says where counts and rows differ", async () => {
  const served = await openRelay();
  const link = await served.link();
  const app = await connectApp(link, ECHO);
  await callTool(link.mcpUrl);
  await app.close();
  await served.stop();
  const sound = await relay(["doctor"], { RELAY_DATA_DIR: served.dataDir, RELAY_PORT: "1" });
  assert.equal(sound.code, 0, sound.stdout);
  const db = new DatabaseSync(join(served.dataDir, "relay.db"));
  db.exec("UPDATE call_hours SET counted = counted + 1");
  db.close();
  const wrong = await relay(["doctor"], { RELAY_DATA_DIR: served.dataDir, RELAY_PORT: "1" });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /fault {2}counts .*1 counted rows, 2 in the hourly sums/);
  rmSync(served.dataDir, { recursive: true });
});

test("the doctor finds a running server, and says what hosts in the cloud need", async () => {
  await using served = await openRelay();
  const env = { RELAY_DATA_DIR: served.dataDir, RELAY_PUBLIC_URL: served.url };
  const { code, stdout } = await relay(["doctor"], env);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /ok {5}server .* is ready for calls/);
  assert.match(stdout, /warn {3}hosts .*need a public https address/);
});
