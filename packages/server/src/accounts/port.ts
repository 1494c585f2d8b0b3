/*
 * The door of this folder: the people who use the dashboard, how they prove who they are, and what
 * a role may do. Behind it is better-auth on a database of its own (`auth.db`); nothing outside this
 * folder knows that. Nothing here is for apps and hosts: their credentials are keys and links.
 */
import type { AccountId, UserId } from "@relay/protocol";
import type { Membership, Role } from "../store/account-store.ts";

export { ROLES } from "../store/account-store.ts";
export type { Membership, Role } from "../store/account-store.ts";

/** Who sent a request, by its session cookie. */
export type Visitor = {
  readonly userId: UserId;
  readonly name: string;
  readonly email: string;
  /** Whether a second factor is asked for at sign-in. */
  readonly twoFactor: boolean;
  /** An owner or admin of the operator's own account. */
  readonly isOperator: boolean;
  /** Whether they proved who they are in the last 15 minutes: what keys, deletion, members want. */
  readonly isFresh: boolean;
  /** Names the session for as long as it lives; not its secret. */
  readonly sessionId: string;
};

/** Headers as Node hands them over. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What the API asks at every request of the people who use the dashboard. */
export interface Sessions {
  /** The visitor of a request's cookies; null without a session, or with one that is over. */
  whoIs(headers: RequestHeaders): Promise<Visitor | null>;
  /** The visitor's role in an account; null for one that is not theirs, or that is not there. */
  roleIn(userId: UserId, accountId: AccountId): Promise<Role | null>;
  /** Every account the user is a member of, the oldest membership first; at most 100. */
  accountsOf(userId: UserId): Promise<readonly Membership[]>;
}

/** What this Relay offers to those who sign in; a page shows no more than this. */
export type Features = {
  readonly signUp: "open" | "invited";
  readonly mail: boolean;
  readonly github: boolean;
  readonly passkeys: boolean;
};

export type Person = { readonly name: string; readonly email: string };

export type NewUser = Person & {
  /** 10 to 128 characters. */
  readonly password: string;
};

export type CreatedUser =
  | { readonly type: "created"; readonly userId: UserId }
  | { readonly type: "email_taken" };

/** Where a request came from, for the list of sessions and the limits. */
export type Origin = { readonly address: string; readonly userAgent: string };

/** One of a user's sessions. */
export type SessionLine = {
  readonly sessionId: string;
  readonly isCurrent: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly address: string | null;
  readonly userAgent: string | null;
};

/** A user as the operator sees one. */
export type UserLine = Person & {
  readonly userId: UserId;
  readonly disabled: boolean;
  readonly createdAt: number;
};

/** One request to an address under `/api/auth`. */
export type AuthRequest = Origin & {
  readonly method: string;
  /** Without `/api/auth`; begins with a slash. */
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  readonly headers: RequestHeaders;
  /** What a POST carries; an empty object for none. */
  readonly body: Readonly<Record<string, unknown>>;
};

/** What an address under `/api/auth` answered. */
export type AuthAnswer = {
  readonly status: number;
  readonly location: string | null;
  readonly cookies: readonly string[];
  readonly retryAfterSeconds: number | null;
  /** JSON without any session's secret. */
  readonly body: Readonly<Record<string, unknown>> | readonly unknown[] | null;
  /** For the audit log; null for what changed nothing. */
  readonly did: string | null;
  /** Who that was, where the request's own cookies do not tell. */
  readonly who: { readonly userId: UserId | null; readonly email: string } | null;
};

/** Cookies that make a browser signed in. */
export type SignedIn = { readonly cookies: readonly string[] };

/** People, their passwords and their sessions. */
export interface Accounts extends Sessions {
  readonly features: Features;
  /** Whether an address under `/api/auth` is served, by its method and path without `/api/auth`. */
  serves(method: string, path: string): boolean;
  /** Answers an address that is served. */
  answer(request: AuthRequest): Promise<AuthAnswer>;
  /** Like `whoIs`, and prolongs a session that is in use; its cookies go into the answer. */
  greet(headers: RequestHeaders): Promise<({ readonly visitor: Visitor } & SignedIn) | null>;
  /** Makes a user who can sign in with a password. */
  createUser(user: NewUser): Promise<CreatedUser>;
  /** Signs a user in who was just made. */
  signIn(email: string, password: string, origin: Origin): Promise<SignedIn>;
  /** Makes the request's session fresh if the password is its user's. */
  reauthenticate(
    headers: RequestHeaders,
    password: string,
  ): Promise<"fresh" | "wrong_password" | "no_password">;
  /** Names and addresses of users, at most 1,000 at once. */
  peopleOf(userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Person>>;
  /** Users, the newest first, at most `limit`, made before `before` where it is given. */
  listUsers(limit: number, before: UserId | null): Promise<readonly UserLine[]>;
  /** Whether any user is there. */
  hasUsers(): Promise<boolean>;
  /** Ends every session of a disabled user and lets none begin; false for no such user. */
  setDisabled(userId: UserId, disabled: boolean): Promise<boolean>;
  sessionsOf(visitor: Visitor): Promise<readonly SessionLine[]>;
  /** Ends one of the visitor's own sessions; false for one that is not theirs. */
  endSession(visitor: Visitor, sessionId: string): Promise<boolean>;
  /** Mints a link with which the user sets a new password once, within an hour; null for no user. */
  resetPasswordLink(email: string): Promise<string | null>;
  close(): Promise<void>;
}
