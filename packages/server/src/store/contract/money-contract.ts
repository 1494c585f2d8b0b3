import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AccountId, LinkId, ProjectId } from "@relay/protocol";
import type { BillingMode } from "../../core/ledger.ts";
import { mintAccountId, mintEntryId, mintLinkId, mintProjectId } from "../../ids.ts";
import type { NewCredit } from "../money.ts";
import { StoreError } from "../store.ts";
import type { NewProject, Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness, StoreHarness } from "./harness.ts";
import { addProject, DAY, newCall, NOON } from "./records.ts";

const MONTH = "2026-10";
const PRICE = 1_000;

/** What every store must do with money. */
export function moneyContract(open: OpenHarness): void {
  test("a counted call adds to its month, the balance and the ledger with its row, once", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, accountId, linkId } = await paidProject(harness, { freeCallsPerMonth: 1 });
    const month = await opened(harness.store(), projectId);
    const calls = Array.from({ length: 4 }, () => newCall(projectId, linkId));
    const write = (store: Store) =>
      Promise.all(calls.map((call) => store.recordCall(call, false, month.segmentId)));
    await write(harness.store());
    await write(harness.store());
    const store = await harness.reopen();
    await write(store);
    const money = await store.getMoney(projectId, MONTH);
    assert.deepEqual(money, {
      accountId,
      balanceMicros: 7_000,
      spentMicros: 3_000,
      segment: {
        mode: "prepaid",
        allowance: 1,
        priceMicros: PRICE,
        countedAtStart: 0,
        counted: 4,
        isOfThisMode: true,
      },
    });
    const page = await ledgerOf(store, accountId);
    assert.deepEqual(
      page.map(({ kind, amountMicros }) => [kind, amountMicros]),
      [
        ["usage", -3_000],
        ["grant", 10_000],
      ],
    );
    assert.equal((await store.getAccount(accountId))?.balanceMicros, 7_000);
  });

  test("a call that did not count, or counts in no segment, costs nothing", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await paidProject(
      { store: () => store },
      { freeCallsPerMonth: 0 },
    );
    const { segmentId } = await opened(store, projectId);
    const refused = newCall(projectId, linkId, { outcome: "disconnected", counted: false });
    await store.recordCall(refused, false, segmentId);
    await store.recordCall(newCall(projectId, linkId), false, null);
    assert.equal((await store.getMoney(projectId, MONTH))?.balanceMicros, 10_000);
  });

  creditContract(open);
  segmentContract(open);
}

function creditContract(open: OpenHarness): void {
  test("a source key is booked once, also when all come at once and after a restart", async (t) => {
    const harness = await openFor(t, open);
    const { accountId } = await paidProject(harness, {});
    const credit = newCredit(accountId, 500, "checkout 1");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        harness.store().bookCredit({ ...credit, entryId: mintEntryId(NOON) }),
      ),
    );
    assert.deepEqual(
      answers.map(({ type }) => type),
      ["booked", "known", "known", "known", "known"],
    );
    const store = await harness.reopen();
    const again = await store.bookCredit(credit);
    assert.ok(again.type === "known");
    assert.equal(again.account.balanceMicros, 10_500);
    assert.equal(again.account.credits, 2);
  });

  test("a source key of another amount or account, and a balance past all bounds, are refused", async (t) => {
    const harness = await openFor(t, open);
    const store = harness.store();
    const { accountId } = await paidProject(harness, {});
    const other = await harness.addAccount();
    await store.bookCredit(newCredit(accountId, 500, "k"));
    const book = async (account: AccountId, amount: number, key: string) =>
      (await store.bookCredit(newCredit(account, amount, key))).type;
    assert.equal(await book(accountId, 501, "k"), "other_credit");
    assert.equal(await book(other, 500, "k"), "other_credit");
    assert.equal(await book(mintAccountId(NOON), 500, "new"), "no_account");
    assert.equal(await book(accountId, 1_000_000_000_000_000, "much"), "too_much");
    assert.equal(await book(accountId, -20_000, "back"), "booked");
    assert.equal((await store.getAccount(accountId))?.balanceMicros, -9_500);
    assert.equal(await store.getAccount(mintAccountId(NOON)), null);
  });

  test("a ledger is listed newest first, a project's view of it without other projects' usage", async (t) => {
    const harness = await openFor(t, open);
    const store = harness.store();
    const { accountId, projectId, linkId } = await paidProject(harness, { freeCallsPerMonth: 0 });
    const second = await addProject(store, { accountId, freeCallsPerMonth: 0 });
    for (const id of [projectId, second]) {
      const { segmentId } = await opened(store, id);
      await store.recordCall(newCall(id, linkId, { startedAt: NOON + DAY }), false, segmentId);
    }
    await store.bookCredit({ ...newCredit(accountId, 5, "later"), createdAt: NOON + 2 * DAY });
    const kinds = async (within: ProjectId | null, limit: number) =>
      (await ledgerOf(store, accountId, within, limit)).map(({ kind }) => kind);
    for (const limit of [1, 2, 200]) {
      assert.deepEqual(await kinds(null, limit), ["grant", "usage", "usage", "grant"]);
      assert.deepEqual(await kinds(second, limit), ["grant", "usage", "grant"]);
    }
    assert.deepEqual(await ledgerOf(store, await harness.addAccount()), []);
    assert.equal(await store.listLedger(accountId, null, { limit: 1, cursor: "x" }), "bad_cursor");
  });
}

function segmentContract(open: OpenHarness): void {
  test("a month goes on where it was, until its terms or the mode change", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, linkId } = await paidProject(harness, { freeCallsPerMonth: 1 });
    let store = harness.store();
    const first = await opened(store, projectId);
    for (let n = 0; n < 3; n += 1) {
      await store.recordCall(newCall(projectId, linkId), false, first.segmentId);
    }
    const same = await opened(store, projectId);
    assert.deepEqual([same.segmentId, same.counted], [first.segmentId, 3]);
    await store.changeProject(projectId, { name: "New", spendCapMicros: 7_000 });
    const capped = await opened(store, projectId);
    assert.deepEqual([capped.segmentId, capped.capMicros], [first.segmentId, 7_000]);
    await store.changeProject(projectId, { priceMicrosPerCall: 5 });
    const dearer = await opened(store, projectId);
    assert.notEqual(dearer.segmentId, first.segmentId);
    assert.deepEqual(
      [dearer.segment.countedAtStart, dearer.counted, dearer.earlierSpentMicros],
      [3, 0, 2_000],
    );
    // A call of before the change is billed as it was admitted.
    await store.recordCall(newCall(projectId, linkId), false, first.segmentId);
    await store.recordCall(newCall(projectId, linkId), false, dearer.segmentId);
    assert.equal((await store.getMoney(projectId, MONTH))?.spentMicros, 3_005);
    store = await harness.reopen();
    await start(store, "off");
    assert.equal(await store.openMonth(projectId, MONTH, NOON), null);
    await store.recordCall(newCall(projectId, linkId), false, null);
    await start(store, "prepaid");
    assert.equal((await store.getMoney(projectId, MONTH))?.segment?.isOfThisMode, false);
    const after = await opened(store, projectId);
    assert.deepEqual([after.segment.countedAtStart, after.earlierSpentMicros], [6, 3_005]);
  });

  test("a call counts in the month it was admitted in, whenever it is written", async (t) => {
    const harness = await openFor(t, open);
    const { projectId, linkId } = await paidProject(harness, { freeCallsPerMonth: 0 });
    const store = harness.store();
    const startedAt = Date.UTC(2026, 9, 31, 23, 59, 59);
    const october = await opened(store, projectId);
    const november = await opened(store, projectId, "2026-11");
    assert.notEqual(october.segmentId, november.segmentId);
    const call = newCall(projectId, linkId, { startedAt, durationMs: 5_000 });
    await store.recordCall(call, false, october.segmentId);
    assert.equal((await store.getMoney(projectId, "2026-10"))?.spentMicros, PRICE);
    assert.equal((await store.getMoney(projectId, "2026-11"))?.spentMicros, 0);
    assert.equal((await store.usage(projectId, "2026-10")).counted, 1);
    assert.equal((await store.usage(projectId, "2026-11")).counted, 0);
  });

  test("a row whose segment is not there is refused, and leaves nothing", async (t) => {
    const store = (await openFor(t, open)).store();
    const { projectId, linkId } = await paidProject({ store: () => store }, {});
    const write = store.recordCall(newCall(projectId, linkId), false, 4_711);
    await assert.rejects(write, (error) => !(error instanceof StoreError));
    assert.equal((await store.usage(projectId, MONTH)).total, 0);
  });

  test("a month of a project that is not there is not opened", async (t) => {
    const store = (await openFor(t, open)).store();
    await start(store, "prepaid");
    assert.equal(await store.openMonth(mintProjectId(NOON), MONTH, NOON), null);
    assert.equal(await store.getMoney(mintProjectId(NOON), MONTH), null);
  });
}

/** A project of the operator's account, which has a credit of 10,000, in mode `prepaid`. */
async function paidProject(
  { store }: Pick<StoreHarness, "store">,
  changes: Partial<NewProject>,
): Promise<{ projectId: ProjectId; accountId: AccountId; linkId: LinkId }> {
  await start(store(), "prepaid");
  const projectId = await addProject(store(), { priceMicrosPerCall: PRICE, ...changes });
  const project = await store().getProject(projectId);
  assert.ok(project !== null);
  const { accountId } = project;
  await store().bookCredit(newCredit(accountId, 10_000, "start"));
  return { projectId, accountId, linkId: mintLinkId(NOON) };
}

function start(store: Store, mode: BillingMode): Promise<void> {
  return store.startBilling(mode, 0, NOON);
}

async function opened(store: Store, projectId: ProjectId, month = MONTH) {
  const found = await store.openMonth(projectId, month, NOON);
  assert.ok(found !== null);
  return found;
}

function newCredit(accountId: AccountId, amountMicros: number, sourceKey: string): NewCredit {
  const entryId = mintEntryId(NOON);
  return { entryId, accountId, kind: "grant", amountMicros, sourceKey, note: "", createdAt: NOON };
}

/** Every entry of an account's ledger, by pages. */
async function ledgerOf(
  store: Store,
  accountId: AccountId,
  within: ProjectId | null = null,
  limit = 200,
) {
  const entries = [];
  let cursor: string | null = null;
  do {
    const page = await store.listLedger(accountId, within, { limit, cursor });
    assert.ok(page !== "bad_cursor");
    entries.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return entries;
}
