import type { Role } from "../store/account-store.ts";

/**
 * What an operation needs of a role: `read` shows, `change` changes projects and links, `keys` makes
 * and revokes keys, `money` shows and sets what costs money, `delete` removes a project, `oversee`
 * reads the audit log and the invitations, `members` invites and removes people, `owners` changes who
 * owns the account.
 */
export const NEEDS = [
  "read",
  "change",
  "keys",
  "money",
  "delete",
  "oversee",
  "members",
  "owners",
] as const;
export type Need = (typeof NEEDS)[number];

/** What each role may do; whatever is not named here is refused. */
export const ROLE_MAY = {
  owner: ["read", "change", "keys", "money", "delete", "oversee", "members", "owners"],
  admin: ["read", "change", "keys", "money", "delete", "oversee", "members"],
  developer: ["read", "change", "keys"],
  billing: ["read", "money"],
} as const satisfies Record<Role, readonly Need[]>;

/** What wants the password again when it was last typed over 15 minutes ago. */
export const NEEDS_FRESH: ReadonlySet<Need> = new Set<Need>([
  "keys",
  "delete",
  "members",
  "owners",
]);

/** Whether a role may do what an operation needs. */
export function may(role: Role, need: Need): boolean {
  const allowed: readonly Need[] = ROLE_MAY[role];
  return allowed.includes(need);
}
