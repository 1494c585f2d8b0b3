import type { AccountId, UserId } from "@relay/protocol";
import type { Invitation, Member, Membership, Role, SetUp } from "./account-store.ts";
import type { Connection, Row } from "./connection.ts";
import { MEMBERS_MAX } from "./member-writes.ts";
import { integer, text, textOrNull } from "./rows.ts";
import type { Account } from "./store.ts";

/*
 * Reads by key of what the dashboard asks at every request. Ids and roles end at the database and
 * begin again with the `as` of this file, as in `rows.ts`.
 */

/** The owner who has been a member longest, of a hundred at most; the account goes by `a`. */
export const OWNER_ID = `(SELECT m.user_id FROM members m WHERE m.account_id = a.account_id
  AND m.role = 'owner' ORDER BY m.joined_at, m.user_id LIMIT 1)`;

/** The columns of an account; its table goes by `a`. */
export const ACCOUNT_COLUMNS = `a.account_id, a.name, a.is_operator, a.created_at,
  ${OWNER_ID} AS owner_id,
  (SELECT count(*) FROM projects p WHERE p.account_id = a.account_id AND p.deleted_at IS NULL)
    AS projects,
  ifnull((SELECT balance_micros FROM balances b WHERE b.account_id = a.account_id), 0)
    AS balance_micros`;

const ACCOUNT_BY_ID = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a WHERE a.account_id = ?`;
const ROLE = "SELECT role FROM members WHERE account_id = ? AND user_id = ?";
const ACCOUNTS = `SELECT m.account_id, m.role, a.name, a.is_operator FROM members m
  JOIN accounts a ON a.account_id = m.account_id
  WHERE m.user_id = ? ORDER BY m.joined_at, m.account_id LIMIT ${MEMBERS_MAX}`;
const MEMBERS = `SELECT user_id, role, joined_at FROM members WHERE account_id = ?
  ORDER BY joined_at, user_id LIMIT ${MEMBERS_MAX}`;
const INVITATION = `SELECT i.invitation_id, i.account_id, i.role, i.note, i.invited_by, i.created_at,
  i.expires_at, a.name FROM invitations i LEFT JOIN accounts a ON a.account_id = i.account_id`;
/** Loose invitations are a thousand at most. */
const INVITATIONS = `${INVITATION} WHERE i.account_id IS ? AND i.expires_at > ?
  ORDER BY i.created_at, i.invitation_id LIMIT 1000`;
const INVITATION_BY_HASH = `${INVITATION} WHERE i.hash = ? AND i.expires_at > ?`;
const SET_UP = "SELECT user_id FROM set_up WHERE only = 1";

/** Every text this file reads with; a test looks at how SQLite would go about each. */
export const ACCOUNT_READ_SQL: readonly string[] = [
  ACCOUNT_BY_ID,
  ROLE,
  ACCOUNTS,
  MEMBERS,
  INVITATIONS,
  INVITATION_BY_HASH,
  SET_UP,
];

export function getAccount(db: Connection, accountId: AccountId): Account | null {
  const row = db.get(ACCOUNT_BY_ID, accountId);
  return row === undefined ? null : readAccount(row);
}

/** Reads a row of `ACCOUNT_COLUMNS`. */
export function readAccount(row: Row): Account {
  return {
    accountId: text(row, "account_id") as AccountId,
    name: text(row, "name"),
    ownerId: readOwnerId(row),
    isOperator: integer(row, "is_operator") === 1,
    projects: integer(row, "projects"),
    balanceMicros: integer(row, "balance_micros"),
    createdAt: integer(row, "created_at"),
  };
}

/** Reads what a row has of `OWNER_ID` as `owner_id`. */
export function readOwnerId(row: Row): UserId | null {
  return textOrNull(row, "owner_id") as UserId | null;
}

export function roleIn(db: Connection, accountId: AccountId, userId: UserId): Role | null {
  const row = db.get(ROLE, accountId, userId);
  return row === undefined ? null : (text(row, "role") as Role);
}

export function accountsOf(db: Connection, userId: UserId): readonly Membership[] {
  return db.all(ACCOUNTS, userId).map((row) => ({
    accountId: text(row, "account_id") as AccountId,
    name: text(row, "name"),
    role: text(row, "role") as Role,
    isOperator: integer(row, "is_operator") === 1,
  }));
}

export function membersOf(db: Connection, accountId: AccountId): readonly Member[] {
  return db.all(MEMBERS, accountId).map((row) => ({
    userId: text(row, "user_id") as UserId,
    role: text(row, "role") as Role,
    joinedAt: integer(row, "joined_at"),
  }));
}

export function listInvitations(
  db: Connection,
  accountId: AccountId | null,
  at: number,
): readonly Invitation[] {
  return db.all(INVITATIONS, accountId, at).map(readInvitation);
}

export function findInvitation(db: Connection, hash: Uint8Array, at: number): Invitation | null {
  const row = db.get(INVITATION_BY_HASH, hash, at);
  return row === undefined ? null : readInvitation(row);
}

export function setUp(db: Connection): SetUp {
  const row = db.get(SET_UP);
  if (row === undefined) return { claimed: false, userId: null };
  return { claimed: true, userId: textOrNull(row, "user_id") as UserId | null };
}

function readInvitation(row: Row): Invitation {
  return {
    invitationId: text(row, "invitation_id"),
    accountId: textOrNull(row, "account_id") as AccountId | null,
    accountName: textOrNull(row, "name"),
    role: text(row, "role") as Role,
    note: textOrNull(row, "note"),
    invitedBy: textOrNull(row, "invited_by") as UserId | null,
    createdAt: integer(row, "created_at"),
    expiresAt: integer(row, "expires_at"),
  };
}
