import type { AccountId, UserId } from "@relay/protocol";
import type { MemberChange, OwnAccount, Role } from "./account-store.ts";
import type { Connection } from "./connection.ts";
import { integer } from "./rows.ts";
import type { WriteContext } from "./write-context.ts";

/** Accounts of a user, and members with open invitations of an account, are at most so many. */
export const MEMBERS_MAX = 100;

export function ensureOwnAccount({ db }: WriteContext, own: OwnAccount): void {
  const { userId, accountId, name, at } = own;
  if (db.get("SELECT 1 FROM members WHERE user_id = ?", userId) !== undefined) return;
  const made = db.run(
    `INSERT INTO accounts (account_id, is_operator, created_at, name, own_user_id)
     VALUES (?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
    accountId,
    at,
    name,
    userId,
  );
  if (made > 0) addMember(db, { accountId, userId, role: "owner", at });
}

export function setAccountName({ db }: WriteContext, accountId: AccountId, name: string): boolean {
  return db.run("UPDATE accounts SET name = ? WHERE account_id = ?", name, accountId) > 0;
}

export function setRole(
  { db }: WriteContext,
  accountId: AccountId,
  userId: UserId,
  role: Role,
): MemberChange {
  const refusal = role === "owner" ? null : lastOwner(db, accountId, userId);
  if (refusal !== null) return refusal;
  const changed = db.run(
    "UPDATE members SET role = ? WHERE account_id = ? AND user_id = ?",
    role,
    accountId,
    userId,
  );
  return changed > 0 ? "changed" : "no_member";
}

export function removeMember(
  { db }: WriteContext,
  accountId: AccountId,
  userId: UserId,
): MemberChange {
  const refusal = lastOwner(db, accountId, userId);
  if (refusal !== null) return refusal;
  const removed = db.run(
    "DELETE FROM members WHERE account_id = ? AND user_id = ?",
    accountId,
    userId,
  );
  return removed > 0 ? "changed" : "no_member";
}

export function addMember(
  db: Connection,
  member: {
    readonly accountId: AccountId;
    readonly userId: UserId;
    readonly role: Role;
    readonly at: number;
  },
): void {
  db.run(
    "INSERT INTO members (account_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)",
    member.accountId,
    member.userId,
    member.role,
    member.at,
  );
}

/** Refuses to take the last owner's ownership away. */
function lastOwner(db: Connection, accountId: AccountId, userId: UserId): "last_owner" | null {
  const row = db.get(
    `SELECT sum(user_id = ?1) AS own, count(*) AS n FROM members
     WHERE account_id = ?2 AND role = 'owner'`,
    userId,
    accountId,
  );
  if (row === undefined || integer(row, "n") !== 1) return null;
  return integer(row, "own") === 1 ? "last_owner" : null;
}
