/** A data folder with something broken in it: said clearly, and never written over. */
import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { RelayProcess, dataFolder, removeFolder, serveRelay } from "../e2e/config-process.ts";
import { ECHO, callTool, connectApp } from "../e2e/harness.ts";
import type { TestLink } from "../e2e/harness.ts";
import { filesOf } from "./files-of.ts";

const PATIENCE_MS = 60_000;

/** A folder in which a Relay has served a call and stopped. */
async function usedFolder(t: TestContext): Promise<string> {
  const dataDir = dataFolder();
  t.after(() => removeFolder(dataDir));
  await using relay = await serveRelay({ RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" });
  const { body: keys } = await relay.rest("POST", "/v1/operator/projects", { name: "Notes" });
  const { body } = await relay.rest("POST", "/v1/links", {}, keys["publishableKey"]);
  const link = body as TestLink;
  await connectApp(link, ECHO);
  await callTool(link.mcpUrl);
  await relay.stop();
  return dataDir;
}

/** Every command that opens the folder fails on it with these words and leaves it byte for byte. */
async function assertRefused(
  dataDir: string,
  says: RegExp,
  commands: readonly (readonly string[])[],
): Promise<void> {
  const before = filesOf(dataDir);
  for (const words of commands) {
    const command = new RelayProcess(words, { RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" });
    // One that serves all the same would never end.
    const timer = setTimeout(() => command.child.kill("SIGKILL"), PATIENCE_MS);
    const { code, stdout, stderr } = await command.ended;
    clearTimeout(timer);
    assert.equal(code, 1, words.join(" "));
    assert.match(stdout + stderr, says, words.join(" "));
    // Words for a person, not a stack for whoever wrote it.
    assert.doesNotMatch(stdout + stderr, /\n {4}at /, words.join(" "));
    assert.deepEqual(filesOf(dataDir), before, words.join(" "));
  }
}

test("a relay.db that is no database is named and left as it is, by every command", async (t) => {
  const dataDir = await usedFolder(t);
  const file = join(dataDir, "relay.db");
  const bytes = readFileSync(file);
  bytes.fill("no database", 0, 4_096);
  writeFileSync(file, bytes);
  const commands = [["serve"], ["doctor"], ["project", "create", "Notes"], ["setup-link"]];
  await assertRefused(dataDir, /damaged|not a database/i, commands);
});

test("a relay.db that was cut short is named and left as it is", async (t) => {
  const dataDir = await usedFolder(t);
  truncateSync(join(dataDir, "relay.db"), 20_000);
  await assertRefused(dataDir, /damaged/i, [["serve"], ["doctor"]]);
});

test("a damaged page is found by the doctor, which says to restore a backup", async (t) => {
  const dataDir = await usedFolder(t);
  const file = join(dataDir, "relay.db");
  const db = new DatabaseSync(file);
  const root = db
    .prepare("SELECT rootpage FROM sqlite_schema WHERE name GLOB 'calls_[0-9]*'")
    .get();
  db.close();
  const bytes = readFileSync(file);
  const at = (Number(root?.["rootpage"]) - 1) * 4_096;
  bytes.fill(0xff, at, at + 4_096);
  writeFileSync(file, bytes);
  await assertRefused(dataDir, /fault {2}database .*(damaged|malformed)/, [["doctor"]]);
});

test("an auth.db that is no database is named by the doctor, holds up no call and is left as it is", async (t) => {
  const dataDir = await usedFolder(t);
  writeFileSync(join(dataDir, "auth.db"), "no database ".repeat(1_000));
  const before = filesOf(dataDir)["auth.db"];
  await assertRefused(dataDir, /fault {2}users .*(auth\.db|damaged)/, [["doctor"]]);
  await using relay = await serveRelay({ RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" });
  assert.equal((await fetch(`${relay.url}/readyz`)).status, 200);
  const signIn = await fetch(`${relay.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: new URL(relay.url).origin },
    body: JSON.stringify({ email: "a@example.com", password: "a password of some length" }),
  });
  assert.ok(signIn.status >= 500, `${signIn.status}`);
  await signIn.text();
  await relay.stop();
  assert.equal(filesOf(dataDir)["auth.db"], before);
});

test("a seal.key or operator-token that is damaged is named and left as it is", async (t) => {
  const dataDir = await usedFolder(t);
  for (const name of ["seal.key", "operator-token"]) {
    const file = join(dataDir, name);
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, 7));
    await assertRefused(dataDir, new RegExp(name), [["serve"]]);
    writeFileSync(file, whole);
  }
});
