import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { UserId } from "@relay/protocol";
import { mintUserId } from "../ids.ts";
import type { SetUp as SetUpState } from "../store/account-store.ts";
import { SetUp } from "./set-up.ts";
import { ANN, clockAhead } from "./test/open-accounts.ts";

const MINUTE_MS = 60_000;

/** A set-up whose store and people are in memory, and whose clock the test turns. */
function open(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-setup-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  let state: SetUpState = { claimed: false, userId: null };
  const users: UserId[] = [];
  const at = { aheadMs: 0, failing: false };
  const setUp = new SetUp({
    dataDir,
    publicUrl: "https://relay.example.com",
    clock: { ...clockAhead(0), wall: () => clockAhead(at.aheadMs).wall() },
    store: {
      setUp: async () => state,
      claimSetUp: async () => {
        if (state.claimed) return false;
        state = { claimed: true, userId: null };
        return true;
      },
      releaseSetUp: async () => {
        if (state.userId === null) state = { claimed: false, userId: null };
      },
      completeSetUp: async (userId) => void (state = { claimed: true, userId }),
    },
    accounts: {
      createUser: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        if (at.failing) throw new Error("the disk is full");
        const userId = mintUserId(Date.now());
        users.push(userId);
        return { type: "created", userId };
      },
      hasUsers: async () => users.length > 0,
      listUsers: async () =>
        users.slice(0, 1).map((userId) => ({ ...ANN, userId, disabled: false, createdAt: 0 })),
    },
  });
  const mint = async (): Promise<string> => {
    const link = (await setUp.mintLink()) ?? "";
    assert.match(link, /^https:\/\/relay\.example\.com\/setup#token=su_[0-9a-f]{48}$/);
    return link.slice(link.indexOf("=") + 1);
  };
  return {
    setUp,
    mint,
    at,
    users,
    dataDir,
    state: () => state,
    crash: () => (state = { claimed: true, userId: null }),
  };
}

test("a set-up link makes the first user once, and then there is never another", async (t) => {
  const { setUp, mint, users, dataDir } = open(t);
  const token = await mint();
  const claimed = await setUp.claim(token, ANN);
  assert.deepEqual(claimed, { userId: users[0] });
  assert.equal(await setUp.claim(token, ANN), "gone");
  assert.equal(await setUp.isNeeded(), false);
  assert.equal(await setUp.mintLink(), null);
  assert.deepEqual(readdirSync(dataDir), []);
  assert.equal(users.length, 1);
});

test("of two claims at once one wins", async (t) => {
  const { setUp, mint, users } = open(t);
  const token = await mint();
  const claims = await Promise.all([1, 2, 3].map(() => setUp.claim(token, ANN)));
  assert.equal(claims.filter((claim) => claim === "gone").length, 2);
  assert.equal(users.length, 1);
});

test("a set-up link is over after thirty minutes, and when a newer one is made", async (t) => {
  const { setUp, mint, at, users } = open(t);
  const old = await mint();
  at.aheadMs = 30 * MINUTE_MS;
  assert.equal(await setUp.claim(old, ANN), "gone");
  const token = await mint();
  const newer = await mint();
  assert.equal(await setUp.claim(token, ANN), "gone");
  assert.equal(await setUp.claim("", ANN), "gone");
  assert.equal(users.length, 0);
  assert.ok(typeof (await setUp.claim(newer, ANN)) === "object");
});

test("only the hash of a set-up link is kept, for its owner's eyes", async (t) => {
  const { mint, dataDir } = open(t);
  const token = await mint();
  const file = join(dataDir, "setup.json");
  assert.ok(!readFileSync(file, "utf8").includes(token.slice(3)));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a claim that fails half-way leaves the set-up open", async (t) => {
  const { setUp, mint, at } = open(t);
  const token = await mint();
  at.failing = true;
  await assert.rejects(setUp.claim(token, ANN), /disk is full/);
  at.failing = false;
  assert.ok(typeof (await setUp.claim(token, ANN)) === "object");
});

test("a crash in the middle of a claim is mended at the next start", async (t) => {
  const before = open(t);
  before.crash();
  await before.setUp.recover();
  assert.deepEqual(before.state(), { claimed: false, userId: null });

  const after = open(t);
  const token = await after.mint();
  await after.setUp.claim(token, ANN);
  after.crash();
  await after.setUp.recover();
  assert.deepEqual(after.state(), { claimed: true, userId: after.users[0] });
});
