import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { AccountId, UserId } from "@relay/protocol";
import {
  hashToken,
  mintAccountId,
  mintAuditId,
  mintInvitationId,
  mintRequestId,
  mintUserId,
} from "../../ids.ts";
import type { Acceptance, AuditEntry, NewInvitation } from "../account-store.ts";
import type { Store } from "../store.ts";
import { openFor } from "./harness.ts";
import type { OpenHarness } from "./harness.ts";
import { DAY, HOUR, NOON, newProject } from "./records.ts";

const ANN = mintUserId(NOON);
const BEN = mintUserId(NOON);

/** Gives the user an account of its own and returns it. */
async function ownAccount({ accounts }: Store, userId: UserId): Promise<AccountId> {
  const accountId = mintAccountId(NOON);
  await accounts.ensureOwnAccount({ userId, accountId, name: "Own", at: NOON });
  return (await accounts.accountsOf(userId))[0]?.accountId ?? accountId;
}

let lastToken = 0;

function newInvitation(
  accountId: AccountId | null,
  changes: Partial<NewInvitation> = {},
): NewInvitation {
  return {
    invitationId: mintInvitationId(NOON),
    accountId,
    role: "developer",
    note: "for Ben",
    invitedBy: ANN,
    createdAt: NOON,
    expiresAt: NOON + DAY,
    hash: hashToken(`invitation ${(lastToken += 1)}`),
    ...changes,
  };
}

function acceptanceOf({ hash }: NewInvitation, userId: UserId, at = NOON): Acceptance {
  return { hash, userId, at, ownAccountId: mintAccountId(NOON), ownAccountName: "Ben's" };
}

/** What every store must do with members, invitations, the set-up and the audit log. */
export function accountContract(open: OpenHarness): void {
  memberContract(open);
  invitationContract(open);
  setUpContract(open);
  auditContract(open);
}

function memberContract(open: OpenHarness): void {
  test("a user gets one account of its own, however often and at once it is asked for", async (t) => {
    const store = (await openFor(t, open)).store();
    await Promise.all([ownAccount(store, ANN), ownAccount(store, ANN)]);
    const accountId = await ownAccount(store, ANN);
    assert.deepEqual(await store.accounts.accountsOf(ANN), [
      { accountId, name: "Own", role: "owner", isOperator: false },
    ]);
    assert.equal(await store.accounts.roleIn(accountId, ANN), "owner");
    assert.equal(await store.accounts.roleIn(accountId, BEN), null);
  });

  test("an account and its projects are listed with its name and the oldest of its owners", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = await ownAccount(store, ANN);
    const project = newProject({ accountId });
    await store.createProject(project, []);
    const listed = async () => {
      const accounts = await store.listAccounts({ limit: 10, cursor: null });
      const projects = await store.listProjects({ limit: 10, cursor: null });
      assert.ok(accounts !== "bad_cursor" && projects !== "bad_cursor");
      const [own] = accounts.items.filter((account) => account.accountId === accountId);
      assert.deepEqual(await store.getAccount(accountId), own);
      const [shown] = projects.items;
      assert.deepEqual([shown?.accountName, shown?.ownerId], [own?.name, own?.ownerId]);
      return [own?.name, own?.ownerId, own?.projects];
    };
    assert.deepEqual(await listed(), ["Own", ANN, 1]);
    const invitation = newInvitation(accountId);
    await store.accounts.invite(invitation);
    await store.accounts.acceptInvitation(acceptanceOf(invitation, BEN, NOON + 1));
    await store.accounts.setAccountName(accountId, "Team");
    assert.deepEqual(await listed(), ["Team", ANN, 1]);
    await store.accounts.setRole(accountId, BEN, "owner");
    assert.deepEqual(await listed(), ["Team", ANN, 1]);
    await store.accounts.setRole(accountId, ANN, "admin");
    assert.deepEqual(await listed(), ["Team", BEN, 1]);
  });

  test("whoever is a member somewhere gets no account of its own", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = await ownAccount(store, ANN);
    const invitation = newInvitation(accountId);
    await store.accounts.invite(invitation);
    await store.accounts.acceptInvitation(acceptanceOf(invitation, BEN));
    assert.equal(await ownAccount(store, BEN), accountId);
    assert.equal((await store.accounts.accountsOf(BEN)).length, 1);
  });

  test("an account always keeps an owner", async (t) => {
    const store = (await openFor(t, open)).store();
    const { accounts } = store;
    const accountId = await ownAccount(store, ANN);
    assert.equal(await accounts.removeMember(accountId, ANN), "last_owner");
    assert.equal(await accounts.setRole(accountId, ANN, "admin"), "last_owner");
    assert.equal(await accounts.setRole(accountId, ANN, "owner"), "changed");
    const invitation = newInvitation(accountId, { role: "owner" });
    await accounts.invite(invitation);
    await accounts.acceptInvitation(acceptanceOf(invitation, BEN));
    assert.equal(await accounts.setRole(accountId, ANN, "billing"), "changed");
    assert.equal(await accounts.removeMember(accountId, BEN), "last_owner");
    assert.equal(await accounts.removeMember(accountId, ANN), "changed");
    assert.equal(await accounts.removeMember(accountId, ANN), "no_member");
    assert.deepEqual(await accounts.accountsOf(ANN), []);
    // Whoever was removed from the account once made for them gets no second one.
    await accounts.ensureOwnAccount({
      userId: ANN,
      accountId: mintAccountId(NOON),
      name: "Second",
      at: NOON,
    });
    assert.deepEqual(await accounts.accountsOf(ANN), []);
  });
}

function invitationContract(open: OpenHarness): void {
  test("of two who accept an invitation at once one becomes a member", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = await ownAccount(store, ANN);
    const invitation = newInvitation(accountId);
    assert.equal(await store.accounts.invite(invitation), "invited");
    const accepted = await Promise.all(
      [BEN, mintUserId(NOON)].map((userId) =>
        store.accounts.acceptInvitation(acceptanceOf(invitation, userId)),
      ),
    );
    assert.deepEqual(accepted.map(({ type }) => type).toSorted(), ["gone", "joined"]);
    assert.equal((await store.accounts.membersOf(accountId)).length, 2);
  });

  test("a member who opens an invitation to the account leaves it for another", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = await ownAccount(store, ANN);
    const invitation = newInvitation(accountId);
    await store.accounts.invite(invitation);
    const again = await store.accounts.acceptInvitation(acceptanceOf(invitation, ANN));
    assert.deepEqual(again, { type: "already_member", accountId });
    assert.equal(await store.accounts.roleIn(accountId, ANN), "owner");
    const found = await store.accounts.findInvitation(invitation.hash, NOON);
    assert.equal(found?.accountName, "Own");
  });

  test("an invitation is over at its end, when revoked, and never another account's", async (t) => {
    const store = (await openFor(t, open)).store();
    const { accounts } = store;
    const accountId = await ownAccount(store, ANN);
    const other = await ownAccount(store, BEN);
    const invitation = newInvitation(accountId, { expiresAt: NOON + HOUR });
    await accounts.invite(invitation);
    assert.equal(await accounts.findInvitation(invitation.hash, NOON + HOUR), null);
    const late = acceptanceOf(invitation, BEN, NOON + HOUR);
    assert.deepEqual(await accounts.acceptInvitation(late), { type: "gone" });
    assert.equal(await accounts.countSignUp(invitation.hash, NOON + HOUR), false);
    assert.equal(await accounts.revokeInvitation(other, invitation.invitationId), false);
    assert.equal(await accounts.revokeInvitation(null, invitation.invitationId), false);
    assert.equal((await accounts.listInvitations(accountId, NOON)).length, 1);
    assert.deepEqual(await accounts.listInvitations(other, NOON), []);
    assert.equal(await accounts.revokeInvitation(accountId, invitation.invitationId), true);
    assert.equal(await accounts.findInvitation(invitation.hash, NOON), null);
  });

  test("an invitation to no account makes its user one, and counts ten sign-ups", async (t) => {
    const store = (await openFor(t, open)).store();
    const { accounts } = store;
    const invitation = newInvitation(null, { role: "owner" });
    await accounts.invite(invitation);
    for (let n = 0; n < 10; n += 1) {
      assert.equal(await accounts.countSignUp(invitation.hash, NOON), true);
    }
    assert.equal(await accounts.countSignUp(invitation.hash, NOON), false);
    const acceptance = acceptanceOf(invitation, BEN);
    const accepted = await accounts.acceptInvitation(acceptance);
    const accountId = acceptance.ownAccountId;
    assert.deepEqual(accepted, { type: "joined", accountId, role: "owner" });
    const second = newInvitation(null, { role: "owner" });
    await accounts.invite(second);
    assert.deepEqual(await accounts.acceptInvitation(acceptanceOf(second, BEN)), {
      type: "already_member",
      accountId,
    });
    assert.equal((await accounts.accountsOf(BEN)).length, 1);
  });

  test("members and open invitations of an account are a hundred at most", async (t) => {
    const store = (await openFor(t, open)).store();
    const accountId = await ownAccount(store, ANN);
    const invite = () => store.accounts.invite(newInvitation(accountId));
    const made = await Promise.all(Array.from({ length: 101 }, invite));
    assert.equal(made.filter((answer) => answer === "invited").length, 99);
    // Those that are over make room.
    const later = newInvitation(accountId, { createdAt: NOON + DAY, expiresAt: NOON + 2 * DAY });
    assert.equal(await store.accounts.invite(later), "invited");
    assert.equal(await store.accounts.invite(newInvitation(mintAccountId(NOON))), "no_account");
  });
}

function setUpContract(open: OpenHarness): void {
  test("the set-up is claimed once, and over for good once it has a user", async (t) => {
    const harness = await openFor(t, open);
    const { accounts } = harness.store();
    assert.deepEqual(await accounts.setUp(), { claimed: false, userId: null });
    const claims = await Promise.all([1, 2, 3].map(() => accounts.claimSetUp(NOON)));
    assert.equal(claims.filter(Boolean).length, 1);
    assert.deepEqual(await accounts.setUp(), { claimed: true, userId: null });
    await accounts.releaseSetUp();
    assert.equal(await accounts.claimSetUp(NOON), true);
    await accounts.completeSetUp(ANN, NOON);
    await accounts.completeSetUp(BEN, NOON);
    await accounts.releaseSetUp();
    assert.equal(await accounts.claimSetUp(NOON), false);
    const reopened = await harness.reopen();
    assert.deepEqual(await reopened.accounts.setUp(), { claimed: true, userId: ANN });
    const [membership] = await reopened.accounts.accountsOf(ANN);
    assert.equal(membership?.isOperator, true);
    assert.equal(membership?.role, "owner");
    assert.deepEqual(await reopened.accounts.accountsOf(BEN), []);
  });
}

function auditContract(open: OpenHarness): void {
  const entryAt = (at: number, accountId: AccountId | null): AuditEntry => ({
    auditId: mintAuditId(at),
    at,
    accountId,
    projectId: null,
    userId: ANN,
    actor: "ann@example.com",
    action: "Renames the account",
    target: accountId,
    before: null,
    after: '{"name":"Own"}',
    address: "203.0.113.7",
    requestId: mintRequestId(at),
  });

  test("the audit log lists an account's own lines, the newest first, in pages", async (t) => {
    const store = (await openFor(t, open)).store();
    const { accounts } = store;
    const mine = mintAccountId(NOON);
    const entries = [0, 1, 2].map((minute) => entryAt(NOON + minute, mine));
    for (const entry of entries) await accounts.recordAudit(entry);
    await accounts.recordAudit(entryAt(NOON, mintAccountId(NOON)));
    await accounts.recordAudit(entryAt(NOON, null));
    const first = await accounts.listAudit(mine, { limit: 2, cursor: null });
    assert.ok(first !== "bad_cursor");
    assert.deepEqual(first.items, [entries[2], entries[1]]);
    const second = await accounts.listAudit(mine, { limit: 2, cursor: first.nextCursor });
    assert.deepEqual(second, { items: [entries[0]], nextCursor: null });
    const all = await accounts.listAudit(null, { limit: 10, cursor: null });
    assert.equal(all !== "bad_cursor" && all.items.length, 5);
    assert.equal(await accounts.listAudit(mine, { limit: 2, cursor: "x" }), "bad_cursor");
  });

  test("the sweep takes lines of the audit log away after 400 days, and not before", async (t) => {
    const store = (await openFor(t, open)).store();
    const now = Date.now();
    const kept = entryAt(now - 399 * DAY, null);
    await store.accounts.recordAudit(entryAt(now - 402 * DAY, null));
    await store.accounts.recordAudit(kept);
    await store.sweep({
      now,
      callRetentionDays: 30,
      unusedLinkDays: 7,
      revokedLinkDays: 30,
      rollUpMonths: 13,
    });
    const left = await store.accounts.listAudit(null, { limit: 10, cursor: null });
    assert.deepEqual(left, { items: [kept], nextCursor: null });
  });
}
