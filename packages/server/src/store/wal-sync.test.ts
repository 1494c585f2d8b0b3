import { strict as assert } from "node:assert";
import { test } from "node:test";
import { WalSync } from "./wal-sync.ts";

test("the log is synced once, within a second of the first commit that did not wait", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let syncs = 0;
  const walSync = new WalSync(() => (syncs += 1) > 0);
  walSync.committed();
  t.mock.timers.tick(500);
  walSync.committed();
  assert.equal(syncs, 0);
  t.mock.timers.tick(499);
  assert.equal(syncs, 1);
  t.mock.timers.tick(5_000);
  assert.equal(syncs, 1);
  walSync.committed();
  t.mock.timers.tick(999);
  assert.equal(syncs, 2);
});

test("a sync that fails is tried again until it succeeds", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let syncs = 0;
  const walSync = new WalSync(() => (syncs += 1) >= 3);
  walSync.committed();
  for (let second = 0; second < 10; second += 1) t.mock.timers.tick(1_000);
  assert.equal(syncs, 3);
});

test("finishing syncs what is due at once, and nothing where nothing is", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let syncs = 0;
  const walSync = new WalSync(() => (syncs += 1) > 0);
  walSync.finish();
  assert.equal(syncs, 0);
  walSync.committed();
  walSync.finish();
  t.mock.timers.tick(5_000);
  assert.equal(syncs, 1);
});
