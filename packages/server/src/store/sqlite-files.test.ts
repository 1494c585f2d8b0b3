import { strict as assert } from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { callsOf } from "./contract/call-contract.ts";
import { addLinkedProject, newCall } from "./contract/records.ts";
import { lockDataFolder } from "./lock.ts";
import type { FilledDisk } from "./fixtures/open-child.ts";
import { assertSound, dataDirFor, openStore, withDatabase } from "./fixtures/sqlite-harness.ts";
import { openSqliteStore } from "./sqlite.ts";
import { StoreError } from "./store.ts";

const CHILD = [
  "-C",
  "relay-source",
  fileURLToPath(new URL("./fixtures/open-child.ts", import.meta.url)),
] as const;

test("a second server is refused the data folder until the first one is dead", async (t) => {
  const dataDir = dataDirFor(t);
  const holder = spawn(process.execPath, [...CHILD, dataDir, "hold"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => holder.kill("SIGKILL"));
  const [said]: unknown[] = await once(holder.stdout, "data");
  assert.equal(String(said), '"opened"\n');
  await assert.rejects(
    openSqliteStore({ dataDir, durability: "normal" }),
    isError("locked", dataDir),
  );
  assert.equal(lockDataFolder(dataDir), null);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await openStore(t, dataDir);
});

test("a second store of the same process is refused too, and the first one keeps its lock", async (t) => {
  const dataDir = dataDirFor(t);
  const first = await openSqliteStore({ dataDir, durability: "normal" });
  await assert.rejects(openSqliteStore({ dataDir, durability: "normal" }), isError("locked"));
  assert.equal(lockDataFolder(dataDir), null);
  await first.close();
  const lock = lockDataFolder(dataDir);
  assert.ok(lock !== null);
  await assert.rejects(openSqliteStore({ dataDir, durability: "normal" }), isError("locked"));
  lock.release();
  lock.release();
  await openStore(t, dataDir);
});

test("the data folder is its owner's alone, and so is every file in it", async (t) => {
  const dataDir = join(dataDirFor(t), "below", "data");
  const store = await openStore(t, dataDir);
  await store.probe();
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  for (const file of ["relay.db", "relay.db-wal", "relay.db-shm", "lock.db"]) {
    assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file);
  }
});

test("a file that is no database is refused and left as it is", async (t) => {
  const dataDir = dataDirFor(t);
  const file = join(dataDir, "relay.db");
  writeFileSync(file, "This was a database once.".repeat(500));
  const before = readFileSync(file);
  const open = () => openSqliteStore({ dataDir, durability: "normal" });
  await assert.rejects(open(), isError("corrupt", "Restore it from a backup"));
  await assert.rejects(open(), isError("corrupt"));
  assert.deepEqual(readFileSync(file), before);
});

test("a database that was cut short is refused and left as it is", async (t) => {
  const dataDir = dataDirFor(t);
  const file = join(dataDir, "relay.db");
  const store = await openSqliteStore({ dataDir, durability: "normal" });
  await store.close();
  truncateSync(file, 20_000);
  const before = readFileSync(file);
  await assert.rejects(openSqliteStore({ dataDir, durability: "normal" }), isError("corrupt"));
  assert.deepEqual(readFileSync(file), before);
});

test("a damaged page fails what reads it as corrupt, and nothing else", async (t) => {
  const dataDir = dataDirFor(t);
  const first = await openSqliteStore({ dataDir, durability: "normal" });
  const { projectId, linkId } = await addLinkedProject(first);
  await first.recordCall(newCall(projectId, linkId), false);
  await first.close();
  const root = withDatabase(dataDir, (db) =>
    db.prepare("SELECT rootpage FROM sqlite_schema WHERE name GLOB 'calls_*'").get(),
  );
  const file = join(dataDir, "relay.db");
  const bytes = readFileSync(file);
  const at = (Number(root?.["rootpage"]) - 1) * 4_096;
  bytes.fill(0xff, at, at + 4_096);
  writeFileSync(file, bytes);
  const store = await openStore(t, dataDir);
  const list = store.listCalls(projectId, {}, { limit: 1, cursor: null });
  await assert.rejects(list, isError("corrupt"));
  await assert.rejects(store.recordCall(newCall(projectId, linkId), false), isError("corrupt"));
  assert.notEqual(await store.getLink(linkId), null);
  await store.probe();
});

test("another program's database is refused and left as it is", async (t) => {
  const dataDir = dataDirFor(t);
  const file = join(dataDir, "relay.db");
  const other = new DatabaseSync(file);
  other.exec("CREATE TABLE bookmarks (url TEXT)");
  other.close();
  const before = readFileSync(file);
  const open = openSqliteStore({ dataDir, durability: "normal" });
  await assert.rejects(open, isError("corrupt", "another program"));
  assert.deepEqual(readFileSync(file), before);
});

test("a newer Relay's database is refused with its number", async (t) => {
  const dataDir = dataDirFor(t);
  await (await openSqliteStore({ dataDir, durability: "normal" })).close();
  withDatabase(dataDir, (db) => db.exec("INSERT INTO migrations VALUES (9001, 'later', 0)"));
  const open = openSqliteStore({ dataDir, durability: "normal" });
  await assert.rejects(open, isError("newer", "9001"));
});

test("the folder is free again after an opening that failed", async (t) => {
  const dataDir = dataDirFor(t);
  writeFileSync(join(dataDir, "relay.db"), "x".repeat(5_000));
  await assert.rejects(openSqliteStore({ dataDir, durability: "normal" }), isError("corrupt"));
  const lock = lockDataFolder(dataDir);
  assert.ok(lock !== null);
  lock.release();
});

const READ_ONLY = { skip: whyNoMounts() };

test("a folder that can't be written is refused as unavailable", READ_ONLY, async (t) => {
  const dataDir = dataDirFor(t);
  await (await openSqliteStore({ dataDir, durability: "normal" })).close();
  const mount = `mount --bind ${dataDir} ${dataDir} && mount -o remount,ro,bind ${dataDir}`;
  const said = inOwnMounts(mount, [dataDir]);
  assert.match(String(said), /^unavailable: The data folder .* can't be written/);
  mkdirSync(join(dataDir, "empty"));
  const empty = join(dataDir, "empty");
  assert.match(String(inOwnMounts(mount, [empty])), /^unavailable: The data folder/);
});

test(
  "a full disk refuses writes, loses none it took, and hinders none once it has room",
  READ_ONLY,
  async (t) => {
    const dataDir = dataDirFor(t);
    const kept = join(dataDir, "kept");
    mkdirSync(kept);
    const mounted = join(dataDir, "disk");
    mkdirSync(mounted);
    const said = inOwnMounts(
      `mount -t tmpfs -o size=8m tmpfs ${mounted}`,
      [mounted, "fill"],
      `cp ${mounted}/relay.db* ${kept}`,
    );
    // Said by our own child.
    const disk = said as FilledDisk;
    t.diagnostic(`${disk.acked} calls were written, refused: ${disk.refused.join()}`);
    assert.equal(disk.isRead, true);
    assert.ok(disk.acked > 0);
    for (const refusal of disk.refused) assert.match(refusal, /^unavailable: .*(full|I\/O)/);
    const store = await openStore(t, kept);
    const calls = await callsOf(store, disk.projectId);
    assert.deepEqual(new Set(calls.map(({ callId }) => String(callId))), new Set(disk.rows));
    assert.equal((await store.usage(disk.projectId, "2026-10")).total, disk.total);
    assertSound(kept, "offline");
  },
);

/** Runs a shell command and then the child with mounts of their own, which end with them. */
function inOwnMounts(command: string, args: readonly string[], after = "true"): unknown {
  const script = `${command} && "$0" "$@" && ${after}`;
  const ran = spawnSync(
    "unshare",
    ["-rm", "sh", "-c", script, process.execPath, ...CHILD, ...args],
    { encoding: "utf8", timeout: 60_000 },
  );
  assert.equal(ran.status, 0, ran.stderr);
  return JSON.parse(ran.stdout);
}

/** Says why mounts of one's own can't be had here, false when they can. */
function whyNoMounts(): string | false {
  const tried = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", tmpdir()]);
  return tried.status === 0 ? false : "needs Linux and the right to mount (unshare -rm)";
}

function isError(code: StoreError["code"], text = ""): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.includes(text), error.message);
    return true;
  };
}
