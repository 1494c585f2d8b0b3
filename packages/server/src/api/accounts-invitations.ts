import { z } from "@hono/zod-openapi";
import type { AccountId, UserId } from "@relay/protocol";
import type { Mail } from "../accounts/mail.ts";
import { invitationLetter } from "../accounts/mail.ts";
import { mintSecret } from "../accounts/secret.ts";
import { MinuteWindows } from "../core/rate.ts";
import { hashToken, mintAccountId, mintInvitationId } from "../ids.ts";
import type { Invitation, Role } from "../store/account-store.ts";
import { Email, RoleName } from "./accounts-shapes.ts";
import { noteChange } from "./audit.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound, rateLimited } from "./errors.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { Time, isoTime, textOf } from "./shapes.ts";

const OF_ACCOUNT = "/api/accounts/{accountId}/invitations";
const OF_OPERATOR = "/v1/operator/invitations";
const OPEN_MS = 7 * 24 * 60 * 60 * 1_000;
const ADDRESSES_MAX = 100_000;
/** Looks at invitations from one address in a minute. */
const LOOKS_PER_MINUTE = 60;

const Note = textOf(128).optional();
const NewInvitation = z.object({ role: RoleName, note: Note, email: Email.optional() });
const NewDeveloper = z.object({ note: Note, email: Email.optional() });

/** In the body, since addresses are written into the logs of proxies. */
const ByToken = z.object({ token: z.string({ error: "must be an invitation's token" }).max(128) });

const InvitationShape = z
  .object({
    invitationId: z.string(),
    role: RoleName,
    note: z.string().nullable(),
    createdAt: Time,
    expiresAt: Time,
  })
  .openapi("Invitation");
const MadeInvitation = InvitationShape.extend({ url: z.string(), mailed: z.boolean() }).openapi(
  "MadeInvitation",
);
const InvitationList = z.object({ items: z.array(InvitationShape) });
const Revoked = z.object({ invitationId: z.string(), revoked: z.literal(true) });

export type InvitationDeps = ApiDeps & { readonly mail: Mail | null };

/** Invitations: a link that whoever has it may use once, to join an account or to get one. */
export function addInvitations(
  api: Api,
  deps: InvitationDeps,
  auth: Auth,
  sessions: SessionAuth,
): void {
  addAccountInvitations(api, deps, sessions);
  addOperatorInvitations(api, deps, auth);
  addAcceptance(api, deps, sessions);
}

function addAccountInvitations(api: Api, deps: InvitationDeps, sessions: SessionAuth): void {
  route(
    api,
    {
      method: "get",
      path: OF_ACCOUNT,
      summary: "Lists the account's open invitations, the oldest first",
      by: "visitor",
      answer: InvitationList,
    },
    async (context) => list(context, deps, await sessions.accountOf(context, "oversee")),
  );
  route(
    api,
    {
      method: "post",
      path: OF_ACCOUNT,
      summary: "Invites somebody to the account; the link is shown this once",
      by: "visitor",
      body: NewInvitation,
      status: 201,
      answer: MadeInvitation,
      errors: ["LIMIT_REACHED"],
    },
    async (context) => {
      const accountId = await sessions.accountOf(context, "members");
      const wanted = await readInput(context, NewInvitation);
      if (wanted.role === "owner") await sessions.accountOf(context, "owners");
      const { userId } = await sessions.visitor(context);
      return invite(context, deps, { ...wanted, accountId, invitedBy: userId });
    },
  );
  route(
    api,
    {
      method: "delete",
      path: `${OF_ACCOUNT}/{invitationId}`,
      summary: "Takes an invitation back",
      by: "visitor",
      answer: Revoked,
    },
    async (context) => revoke(context, deps, await sessions.accountOf(context, "members")),
  );
}

function addOperatorInvitations(api: Api, deps: InvitationDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: OF_OPERATOR,
      summary: "Lists open invitations to this Relay, the oldest first",
      by: "operator",
      answer: InvitationList,
    },
    async (context) => {
      await auth.operator(context);
      return list(context, deps, null);
    },
  );
  route(
    api,
    {
      method: "post",
      path: OF_OPERATOR,
      summary: "Invites a developer to an account of their own; the link is shown this once",
      by: "operator",
      need: "members",
      body: NewDeveloper,
      status: 201,
      answer: MadeInvitation,
      errors: ["LIMIT_REACHED"],
    },
    async (context) => {
      await auth.operator(context);
      const wanted = await readInput(context, NewDeveloper);
      const invitedBy = context.get("visitor")?.userId ?? null;
      return invite(context, deps, { ...wanted, role: "owner", accountId: null, invitedBy });
    },
  );
  route(
    api,
    {
      method: "delete",
      path: `${OF_OPERATOR}/{invitationId}`,
      summary: "Takes an invitation to this Relay back",
      by: "operator",
      answer: Revoked,
    },
    async (context) => {
      await auth.operator(context);
      return revoke(context, deps, null);
    },
  );
}

function addAcceptance(api: Api, deps: InvitationDeps, sessions: SessionAuth): void {
  const looks = new MinuteWindows(ADDRESSES_MAX);
  route(
    api,
    {
      method: "post",
      path: "/api/invitations/look",
      summary: "Shows what an invitation is for",
      by: "anyone",
      reads: true,
      body: ByToken,
      answer: z.object({ accountName: z.string().nullable(), role: RoleName, expiresAt: Time }),
      errors: ["NOT_FOUND", "RATE_LIMITED"],
    },
    async (context) => {
      const wait = looks.take(context.var.exchange.ip, deps.clock.monotonic(), LOOKS_PER_MINUTE);
      if (wait > 0) throw rateLimited(wait);
      const { token } = await readInput(context, ByToken);
      const found = await deps.store.accounts.findInvitation(hashToken(token), deps.clock.wall());
      if (found === null) throw invitationGone();
      const { accountName, role, expiresAt } = found;
      return json(context, 200, { accountName, role, expiresAt: isoTime(expiresAt) });
    },
  );
  route(
    api,
    {
      method: "post",
      path: "/api/invitations",
      summary: "Accepts an invitation",
      by: "visitor",
      body: ByToken,
      answer: z.object({ accountId: z.string(), role: RoleName }),
      errors: ["CONFLICT", "LIMIT_REACHED"],
    },
    async (context) => accept(context, deps, sessions),
  );
}

async function accept(
  context: ApiContext,
  { store, clock }: InvitationDeps,
  sessions: SessionAuth,
): Promise<Response> {
  const { userId, name } = await sessions.visitor(context);
  const { token } = await readInput(context, ByToken);
  const at = clock.wall();
  const accepted = await store.accounts.acceptInvitation({
    hash: hashToken(token),
    userId,
    at,
    ownAccountId: mintAccountId(at),
    ownAccountName: name,
  });
  switch (accepted.type) {
    case "gone":
      throw invitationGone();
    case "already_member":
      throw new ApiError("CONFLICT", "You are in this account already; the invitation stays open");
    case "limit_reached":
      throw new ApiError("LIMIT_REACHED", "You are in as many accounts as one person can be");
    case "joined": {
      const { accountId, role } = accepted;
      context.set("accountId", accountId);
      noteChange(context, { target: accountId, after: { role } });
      return json(context, 200, { accountId, role });
    }
  }
}

type Wanted = {
  readonly accountId: AccountId | null;
  readonly role: Role;
  readonly note?: string | undefined;
  readonly email?: string | undefined;
  readonly invitedBy: UserId | null;
};

async function invite(
  context: ApiContext,
  { store, clock, urls, mail }: InvitationDeps,
  { accountId, role, note, email, invitedBy }: Wanted,
): Promise<Response> {
  if (email !== undefined && mail === null) {
    throw new ApiError("VALIDATION_ERROR", "email: this Relay sends no mail; pass the link on");
  }
  const token = mintSecret("iv");
  const createdAt = clock.wall();
  const invitation = {
    invitationId: mintInvitationId(createdAt),
    accountId,
    role,
    note: note ?? email ?? null,
    invitedBy,
    createdAt,
    expiresAt: createdAt + OPEN_MS,
  };
  const made = await store.accounts.invite({ ...invitation, hash: hashToken(token) });
  if (made === "no_account") throw notFound("account");
  if (made === "limit_reached") {
    throw new ApiError("LIMIT_REACHED", "There are as many members and invitations as can be");
  }
  const url = `${urls.public}/invitation#token=${token}`;
  // Not waited for: who invites is shown the link in any case.
  if (email !== undefined) void mail?.send(invitationLetter(email, url));
  noteChange(context, { target: invitation.invitationId });
  const view = invitationView({ ...invitation, accountName: null });
  return json(context, 201, { ...view, url, mailed: email !== undefined });
}

async function list(
  context: ApiContext,
  { store, clock }: InvitationDeps,
  accountId: AccountId | null,
): Promise<Response> {
  const open = await store.accounts.listInvitations(accountId, clock.wall());
  return json(context, 200, { items: open.map(invitationView) });
}

async function revoke(
  context: ApiContext,
  { store }: InvitationDeps,
  accountId: AccountId | null,
): Promise<Response> {
  const invitationId = context.req.param("invitationId") ?? "";
  const revoked = await store.accounts.revokeInvitation(accountId, invitationId);
  if (!revoked) throw notFound("invitation");
  return json(context, 200, { invitationId, revoked: true });
}

function invitationView(invitation: Invitation): z.output<typeof InvitationShape> {
  return {
    invitationId: invitation.invitationId,
    role: invitation.role,
    note: invitation.note,
    createdAt: isoTime(invitation.createdAt),
    expiresAt: isoTime(invitation.expiresAt),
  };
}

function invitationGone(): ApiError {
  return new ApiError(
    "NOT_FOUND",
    "This invitation is over: it was used, taken back, or is too old. Ask for a new one.",
  );
}
