import type { AccountId } from "@relay/protocol";
import type { Acceptance, Accepted, NewInvitation, Role } from "./account-store.ts";
import type { Connection, Row } from "./connection.ts";
import { MEMBERS_MAX, addMember } from "./member-writes.ts";
import { integer, text, textOrNull } from "./rows.ts";
import type { WriteContext } from "./write-context.ts";

/** Open invitations to no account. */
const LOOSE_INVITATIONS_MAX = 1_000;
/** One invitation's sign-ups: a person who mistypes an address tries again, a robot does not. */
const SIGN_UPS_MAX = 10;
/** Expired invitations that one write clears away. */
const CLEARED_MAX = 200;

export function invite(
  { db }: WriteContext,
  invitation: NewInvitation,
): "invited" | "limit_reached" | "no_account" {
  const { accountId, createdAt } = invitation;
  db.run(
    `DELETE FROM invitations WHERE invitation_id IN
       (SELECT invitation_id FROM invitations WHERE expires_at <= ? LIMIT ${CLEARED_MAX})`,
    createdAt,
  );
  if (accountId !== null && !isAccount(db, accountId)) return "no_account";
  const most = accountId === null ? LOOSE_INVITATIONS_MAX : MEMBERS_MAX;
  const members = db.get("SELECT count(*) AS n FROM members WHERE account_id = ?", accountId);
  const open = db.get(
    "SELECT count(*) AS n FROM invitations WHERE account_id IS ? AND expires_at > ?",
    accountId,
    createdAt,
  );
  if (integer(members ?? {}, "n") + integer(open ?? {}, "n") >= most) return "limit_reached";
  db.run(
    `INSERT INTO invitations (invitation_id, account_id, role, note, hash, invited_by, created_at,
       expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    invitation.invitationId,
    accountId,
    invitation.role,
    invitation.note,
    invitation.hash,
    invitation.invitedBy,
    createdAt,
    invitation.expiresAt,
  );
  return "invited";
}

export function countSignUp({ db }: WriteContext, hash: Uint8Array, at: number): boolean {
  const counted = db.run(
    `UPDATE invitations SET sign_ups = sign_ups + 1
     WHERE hash = ? AND expires_at > ? AND sign_ups < ${SIGN_UPS_MAX}`,
    hash,
    at,
  );
  return counted > 0;
}

export function acceptInvitation({ db }: WriteContext, acceptance: Acceptance): Accepted {
  const { hash, userId, at } = acceptance;
  const row = db.get(
    "SELECT invitation_id, account_id, role FROM invitations WHERE hash = ? AND expires_at > ?",
    hash,
    at,
  );
  if (row === undefined) return { type: "gone" };
  // Written by this store, as an account's id and a role.
  const named = textOrNull(row, "account_id") as AccountId | null;
  const role = text(row, "role") as Role;
  const memberships = db.all("SELECT account_id FROM members WHERE user_id = ?", userId);
  if (named !== null && memberships.some((other) => other["account_id"] === named)) {
    return { type: "already_member", accountId: named };
  }
  if (memberships.length >= MEMBERS_MAX) return { type: "limit_reached" };
  const joins =
    named === null
      ? ownAccount(db, acceptance, memberships)
      : ({ type: "free", accountId: named } as const);
  if (joins.type !== "free") return joins;
  const { accountId } = joins;
  db.run("DELETE FROM invitations WHERE invitation_id = ?", text(row, "invitation_id"));
  addMember(db, { accountId, userId, role, at });
  return { type: "joined", accountId, role };
}

export function revokeInvitation(
  { db }: WriteContext,
  accountId: AccountId | null,
  invitationId: string,
): boolean {
  const revoked = db.run(
    "DELETE FROM invitations WHERE invitation_id = ? AND account_id IS ?",
    invitationId,
    accountId,
  );
  return revoked > 0;
}

type OwnAccount =
  | { readonly type: "free"; readonly accountId: AccountId }
  | Extract<Accepted, { readonly type: "already_member" | "limit_reached" }>;

/** The account that an invitation to no account promises, made if the user never had one. */
function ownAccount(
  db: Connection,
  { userId, at, ownAccountId, ownAccountName }: Acceptance,
  memberships: readonly Row[],
): OwnAccount {
  const known = db.get("SELECT account_id FROM accounts WHERE own_user_id = ?", userId);
  if (known !== undefined) {
    // Written by this store, as an account's id.
    const accountId = text(known, "account_id") as AccountId;
    if (memberships.some((other) => other["account_id"] === accountId)) {
      return { type: "already_member", accountId };
    }
    // Others that the user once let in may have taken it over.
    return isEmpty(db, accountId) ? { type: "free", accountId } : { type: "limit_reached" };
  }
  db.run(
    `INSERT INTO accounts (account_id, is_operator, created_at, name, own_user_id)
     VALUES (?, 0, ?, ?, ?)`,
    ownAccountId,
    at,
    ownAccountName,
    userId,
  );
  return { type: "free", accountId: ownAccountId };
}

function isEmpty(db: Connection, accountId: string): boolean {
  return db.get("SELECT 1 FROM members WHERE account_id = ?", accountId) === undefined;
}

function isAccount(db: Connection, accountId: AccountId): boolean {
  return db.get("SELECT 1 FROM accounts WHERE account_id = ?", accountId) !== undefined;
}
