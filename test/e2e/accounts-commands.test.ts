import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Browser, PASSWORD, developerOf, operatorOf, tokenOf } from "./accounts-browser.ts";
import { openRelay } from "./harness.ts";

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

function linkIn(text: string): string {
  return /https?:\S+#token=\S+/.exec(text)?.[0] ?? "";
}

test("`setup-link` prints a link of the running Relay that works, until there is a first user", async () => {
  await using served = await openRelay();
  const env = { RELAY_DATA_DIR: served.dataDir, RELAY_PUBLIC_URL: served.url };
  const printed = await relay(["setup-link"], env);
  assert.equal(printed.code, 0, printed.stderr);
  const link = linkIn(printed.stdout);
  assert.ok(link.startsWith(`${served.url}/setup#token=su_`), printed.stdout);
  const browser = new Browser(served);
  const body = { token: tokenOf(link), name: "Op", email: "op@example.com", password: PASSWORD };
  assert.equal((await browser.ask("POST", "/api/setup", body)).status, 201);
  const over = await relay(["setup-link"], env);
  assert.equal(over.code, 1);
  assert.match(over.stderr, /The first account is there already; invite others from it/);
});

test("`user reset-password` prints a link that lets its reader in, and says who is not there", async () => {
  await using served = await openRelay();
  const { browser, email } = await developerOf(served, "Ann");
  const env = { RELAY_DATA_DIR: served.dataDir, RELAY_PUBLIC_URL: served.url };
  const printed = await relay(["user", "reset-password", email], env);
  assert.equal(printed.code, 0, printed.stderr);
  const token = tokenOf(linkIn(printed.stdout));
  const newPassword = "another horse battery";
  const reset = { token, newPassword };
  assert.equal((await browser.ask("POST", "/api/auth/reset-password", reset)).status, 200);
  assert.equal((await browser.ask("GET", "/api/me")).status, 401);
  assert.equal((await browser.signIn(email, newPassword)).status, 200);
  const missing = await relay(["user", "reset-password", "nobody@example.com"], env);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /No such user/);
});

test("an unattended start makes the operator of the environment's address and file, once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-admin-"));
  const file = join(folder, "password");
  writeFileSync(file, `${PASSWORD}\n`);
  const env = { RELAY_ADMIN_EMAIL: "op@example.com", RELAY_ADMIN_PASSWORD_FILE: file };
  const first = await openRelay(env);
  assert.equal(await first.relay.people.setUp.isNeeded(), false);
  const browser = new Browser(first);
  assert.equal((await browser.signIn("op@example.com")).status, 200);
  assert.equal((await browser.ask("GET", "/api/me")).body["isOperator"], true);
  await first.stop();
  // The file is not looked at again: another password in it changes nothing.
  writeFileSync(file, "short");
  await using again = await openRelay(env, first.dataDir);
  assert.equal((await new Browser(again).signIn("op@example.com")).status, 200);
  rmSync(folder, { recursive: true });
});

test("an unattended start with a password that is none says so, and what it holds stays unsaid", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-admin-"));
  const file = join(folder, "password");
  writeFileSync(file, "hunter2");
  const env = { RELAY_ADMIN_EMAIL: "op@example.com", RELAY_ADMIN_PASSWORD_FILE: file };
  await assert.rejects(openRelay(env, folder), (error: Error) => {
    assert.match(error.message, /must hold a password of 10 to 128 characters; .* holds 7/);
    return !error.message.includes("hunter2");
  });
  const half = { RELAY_ADMIN_EMAIL: "op@example.com" };
  await assert.rejects(
    openRelay(half, folder),
    /RELAY_ADMIN_EMAIL needs RELAY_ADMIN_PASSWORD_FILE/,
  );
  rmSync(folder, { recursive: true });
});

test("a backup carries the people: who signed in before it is signed in after its restore", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-people-"));
  const served = await openRelay();
  const operator = await operatorOf(served);
  const file = join(folder, "relay.backup");
  const backed = await relay(["backup", file], { RELAY_DATA_DIR: served.dataDir });
  assert.equal(backed.code, 0, backed.stderr);
  await served[Symbol.asyncDispose]();
  const dataDir = join(folder, "restored");
  const restored = await relay(["restore", file], { RELAY_DATA_DIR: dataDir });
  assert.equal(restored.code, 0, restored.stderr);
  const doctor = await relay(["doctor"], { RELAY_DATA_DIR: dataDir, RELAY_PORT: "1" });
  assert.equal(doctor.code, 0, doctor.stdout);
  assert.match(doctor.stdout, /ok {5}users {8}1 of the dashboard, with 1 sessions/);

  const again = await openRelay({}, dataDir);
  const me = await again.rest("GET", "/api/me", null, undefined, { Cookie: operator.cookie });
  assert.equal(me.body["user"]?.email, "op@example.com");
  assert.equal(me.body["isOperator"], true);
  await again.stop();
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(join(dataDir, `auth.db${ending}`), { force: true });
  }
  const lost = await relay(["doctor"], { RELAY_DATA_DIR: dataDir, RELAY_PORT: "1" });
  assert.equal(lost.code, 1);
  assert.match(lost.stdout, /fault {2}users .*auth\.db has none\. Restore it from a backup/);
  rmSync(folder, { recursive: true });
});
