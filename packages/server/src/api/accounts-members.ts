import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { UserId } from "@relay/protocol";
import type { Accounts } from "../accounts/port.ts";
import type { MemberChange, Role } from "../store/account-store.ts";
import { PersonName, RoleName } from "./accounts-shapes.ts";
import { noteChange } from "./audit.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { Time, isoTime } from "./shapes.ts";

const ACCOUNT = "/api/accounts/{accountId}";

const MemberShape = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  role: RoleName,
  joinedAt: Time,
});

const RolePatch = z.object({ role: RoleName });
const AccountPatch = z.object({ name: PersonName });

type MemberDeps = ApiDeps & { readonly accounts: Accounts };

/** Who belongs to an account, and what they may do there. */
export function addMembers(api: Api, deps: MemberDeps, sessions: SessionAuth): void {
  addAccount(api, deps, sessions);
  route(
    api,
    {
      method: "get",
      path: `${ACCOUNT}/members`,
      summary: "Lists the account's members, the oldest first",
      by: "visitor",
      answer: z.object({ items: z.array(MemberShape) }),
    },
    async (context) => {
      const accountId = await sessions.accountOf(context, "read");
      const members = await deps.store.accounts.membersOf(accountId);
      const people = await deps.accounts.peopleOf(members.map(({ userId }) => userId));
      const items = members.map(({ userId, role, joinedAt }) => ({
        userId,
        name: people.get(userId)?.name ?? "",
        email: people.get(userId)?.email ?? "",
        role,
        joinedAt: isoTime(joinedAt),
      }));
      return json(context, 200, { items } satisfies { items: z.output<typeof MemberShape>[] });
    },
  );
  addChange(api, deps, sessions);
  addRemoval(api, deps, sessions);
}

function addAccount(api: Api, { store }: MemberDeps, sessions: SessionAuth): void {
  route(
    api,
    {
      method: "patch",
      path: ACCOUNT,
      summary: "Renames the account",
      by: "visitor",
      body: AccountPatch,
      answer: z.object({ accountId: z.string(), name: z.string() }),
    },
    async (context) => {
      const accountId = await sessions.accountOf(context, "members");
      const { name } = await readInput(context, AccountPatch);
      if (!(await store.accounts.setAccountName(accountId, name))) throw notFound("account");
      return json(context, 200, { accountId, name });
    },
  );
}

function addChange(api: Api, { store }: MemberDeps, sessions: SessionAuth): void {
  route(
    api,
    {
      method: "patch",
      path: `${ACCOUNT}/members/{userId}`,
      summary: "Changes a member's role",
      by: "visitor",
      body: RolePatch,
      answer: z.object({ userId: z.string(), role: RoleName }),
      errors: ["CONFLICT"],
    },
    async (context) => {
      const { accountId, userId, role: before } = await memberOf(context, sessions, store);
      const { role } = await readInput(context, RolePatch);
      if (before === "owner" || role === "owner") await sessions.accountOf(context, "owners");
      refuse(await store.accounts.setRole(accountId, userId, role));
      noteChange(context, { before: { role: before }, after: { role } });
      return json(context, 200, { userId, role });
    },
  );
}

function addRemoval(api: Api, { store }: MemberDeps, sessions: SessionAuth): void {
  route(
    api,
    {
      method: "delete",
      path: `${ACCOUNT}/members/{userId}`,
      summary: "Removes a member",
      by: "visitor",
      answer: z.object({ userId: z.string(), removed: z.literal(true) }),
      errors: ["CONFLICT"],
    },
    async (context) => {
      const { accountId, userId, role } = await memberOf(context, sessions, store);
      const visitor = await sessions.visitor(context);
      // Whoever is in may leave; to send an owner away takes an owner.
      if (role === "owner" && userId !== visitor.userId) {
        await sessions.accountOf(context, "owners");
      }
      refuse(await store.accounts.removeMember(accountId, userId));
      noteChange(context, { before: { role } });
      return json(context, 200, { userId, removed: true });
    },
  );
}

/** The member that the path names, for who may change members, and for the member alone to leave. */
async function memberOf(
  context: ApiContext,
  sessions: SessionAuth,
  { accounts }: ApiDeps["store"],
): Promise<{
  readonly accountId: Awaited<ReturnType<SessionAuth["accountOf"]>>;
  readonly userId: UserId;
  readonly role: Role;
}> {
  const visitor = await sessions.visitor(context);
  const text = context.req.param("userId") ?? "";
  const leaves = context.req.method === "DELETE" && text === visitor.userId;
  const accountId = await sessions.accountOf(context, leaves ? "read" : "members");
  // Checked right here.
  const userId = isUuid(text) ? (text as UserId) : null;
  const role = userId === null ? null : await accounts.roleIn(accountId, userId);
  if (userId === null || role === null) throw notFound("member");
  return { accountId, userId, role };
}

function refuse(change: MemberChange): void {
  if (change === "no_member") throw notFound("member");
  if (change === "last_owner") {
    throw new ApiError("CONFLICT", "The account would have no owner; make somebody else one first");
  }
}
