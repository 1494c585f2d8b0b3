import type { Mail } from "../accounts/mail.ts";
import type { Accounts } from "../accounts/port.ts";
import type { SetUp } from "../accounts/set-up.ts";
import { addAuditLists } from "./accounts-audit.ts";
import { addAuth } from "./accounts-auth.ts";
import { addInvitations } from "./accounts-invitations.ts";
import { addMe } from "./accounts-me.ts";
import { addMembers } from "./accounts-members.ts";
import type { Auth } from "./auth.ts";
import { addOperatorUsers } from "./operator-users.ts";
import type { Api, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";

/** The dashboard's people: how they prove who they are, and their first account. */
export type People = {
  readonly accounts: Accounts;
  readonly setUp: SetUp;
  /** Null where this Relay sends no mail. */
  readonly mail: Mail | null;
};

/** Everything of the API that is about people: signing in, accounts, invitations, what was done. */
export function addPeople(
  api: Api,
  deps: ApiDeps,
  people: People,
  auth: Auth,
  sessions: SessionAuth,
): void {
  const all = { ...deps, ...people };
  addAuth(api, { ...people, invitations: deps.store.accounts, clock: deps.clock });
  addMe(api, all, sessions);
  addMembers(api, all, sessions);
  addInvitations(api, all, auth, sessions);
  addAuditLists(api, deps, auth, sessions);
  addOperatorUsers(api, people, auth);
}
