import type { AccountId, ProjectId, RequestId, UserId } from "@relay/protocol";
import type { Page, Paged } from "./store.ts";

/**
 * Who belongs to which account, who is invited, and what was done: the part of the store that the
 * dashboard needs. The people themselves, their passwords and sessions are kept elsewhere.
 */
export interface AccountStore {
  // Members.
  /** The user's role in an account; null where it has none. */
  roleIn(accountId: AccountId, userId: UserId): Promise<Role | null>;
  /** The user's accounts, the oldest membership first; at most 100. */
  accountsOf(userId: UserId): Promise<readonly Membership[]>;
  /** The account's members, the oldest first; at most 100. */
  membersOf(accountId: AccountId): Promise<readonly Member[]>;
  /**
   * Gives a user who is in no account one of its own, once; does nothing for one who is in an
   * account, or who once had its own.
   */
  ensureOwnAccount(own: OwnAccount): Promise<void>;
  setAccountName(accountId: AccountId, name: string): Promise<boolean>;
  /** Changes a member's role; an account always keeps an owner. */
  setRole(accountId: AccountId, userId: UserId, role: Role): Promise<MemberChange>;
  removeMember(accountId: AccountId, userId: UserId): Promise<MemberChange>;

  // Invitations.
  /** `limit_reached`: the account has 100 members and open invitations. */
  invite(invitation: NewInvitation): Promise<"invited" | "limit_reached" | "no_account">;
  /** The open invitations of an account at `at`, the oldest first; null names those to no account. */
  listInvitations(accountId: AccountId | null, at: number): Promise<readonly Invitation[]>;
  /** Finds an open invitation by the SHA-256 of its token. */
  findInvitation(hash: Uint8Array, at: number): Promise<Invitation | null>;
  /** Counts one sign-up with an open invitation; false past the tenth, and where it is not open. */
  countSignUp(hash: Uint8Array, at: number): Promise<boolean>;
  /** Uses an invitation up: of two at once one wins. An invitation to no account makes one. */
  acceptInvitation(acceptance: Acceptance): Promise<Accepted>;
  revokeInvitation(accountId: AccountId | null, invitationId: string): Promise<boolean>;

  // The first account of all.
  setUp(): Promise<SetUp>;
  /** Claims the set-up; of many at once exactly one gets true. */
  claimSetUp(at: number): Promise<boolean>;
  /** Gives a claim back that made no user. */
  releaseSetUp(): Promise<void>;
  /** Ends the set-up for good: its user owns the operator's account. */
  completeSetUp(userId: UserId, at: number): Promise<void>;

  // What was done.
  /** Adds one line; none is ever changed, and only the sweep takes lines away, after 400 days. */
  recordAudit(entry: AuditEntry): Promise<void>;
  /** Newest first; of one account, or with null of all and of none. */
  listAudit(accountId: AccountId | null, page: Page): Promise<Paged<AuditEntry> | "bad_cursor">;
}

/** What a member of an account may do; `accounts/roles` has the table. */
export const ROLES = ["owner", "admin", "developer", "billing"] as const;
export type Role = (typeof ROLES)[number];

export type Membership = {
  readonly accountId: AccountId;
  readonly name: string;
  readonly role: Role;
  readonly isOperator: boolean;
};

export type Member = { readonly userId: UserId; readonly role: Role; readonly joinedAt: number };

export type OwnAccount = {
  readonly userId: UserId;
  /** Used if one has to be made. */
  readonly accountId: AccountId;
  readonly name: string;
  readonly at: number;
};

/** `last_owner`: the account would be left without an owner. */
export type MemberChange = "changed" | "no_member" | "last_owner";

export type Invitation = {
  readonly invitationId: string;
  /** Null invites to this Relay with an account of one's own. */
  readonly accountId: AccountId | null;
  readonly accountName: string | null;
  readonly role: Role;
  /** What the inviter wrote down to know it by, such as an e-mail address. */
  readonly note: string | null;
  readonly invitedBy: UserId | null;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type NewInvitation = Omit<Invitation, "accountName"> & { readonly hash: Uint8Array };

export type Acceptance = {
  readonly hash: Uint8Array;
  readonly userId: UserId;
  readonly at: number;
  /** The account that an invitation to no account makes. */
  readonly ownAccountId: AccountId;
  readonly ownAccountName: string;
};

export type Accepted =
  | { readonly type: "joined"; readonly accountId: AccountId; readonly role: Role }
  | { readonly type: "gone" }
  /** The invitation stays open. */
  | { readonly type: "already_member"; readonly accountId: AccountId }
  /** The user is in 100 accounts. */
  | { readonly type: "limit_reached" };

/** `claimed` with a user is over for good; without one its claim has not made a user yet. */
export type SetUp = { readonly claimed: boolean; readonly userId: UserId | null };

/** One line of the audit log: who did what to what, from where. Never holds a secret. */
export type AuditEntry = {
  readonly auditId: string;
  readonly at: number;
  /** Null for what concerns no account, such as a sign-in. */
  readonly accountId: AccountId | null;
  readonly projectId: ProjectId | null;
  /** Null where nobody was signed in, and for the operator's token. */
  readonly userId: UserId | null;
  /** The user's e-mail address then, or `operator token`. */
  readonly actor: string;
  /** What was done, in words. */
  readonly action: string;
  /** The id of what it was done to; null where there is none. */
  readonly target: string | null;
  /** JSON, at most 4 KiB each; null where there is nothing to tell. */
  readonly before: string | null;
  readonly after: string | null;
  readonly address: string;
  readonly requestId: RequestId;
};
