import { z } from "@hono/zod-openapi";
import type { Accounts, SessionLine } from "../accounts/port.ts";
import type { SetUp } from "../accounts/set-up.ts";
import { MinuteWindows } from "../core/rate.ts";
import { userAgentOf } from "./accounts-auth.ts";
import { Email, NewPassword, PersonName } from "./accounts-shapes.ts";
import { noteChange } from "./audit.ts";
import { ApiError, notFound, rateLimited } from "./errors.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { Time, isoTime } from "./shapes.ts";

const ADDRESSES_MAX = 100_000;
/** Claims of the set-up from one address, and passwords typed again by one user, in a minute. */
const TRIES_PER_MINUTE = 10;

const Claim = z.object({
  token: z.string({ error: "must be a string" }).max(200, "is not a set-up link's"),
  name: PersonName,
  email: Email,
  password: NewPassword,
});

const FeaturesShape = z.object({
  signUp: z.enum(["open", "invited"]),
  setUpNeeded: z.boolean(),
  mail: z.boolean(),
  github: z.boolean(),
  passkeys: z.boolean(),
  billing: z.string(),
  publicUrl: z.string(),
  mcpPublicUrl: z.string(),
  version: z.string(),
});

const MeShape = z.object({
  user: z.object({ id: z.string(), name: z.string(), email: z.string(), twoFactor: z.boolean() }),
  isOperator: z.boolean(),
  isFresh: z.boolean(),
  accounts: z.array(z.object({ accountId: z.string(), name: z.string(), role: z.string() })),
});

const SessionShape = z.object({
  id: z.string(),
  token: z.string(),
  current: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
  expiresAt: Time,
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
});

export type MeDeps = ApiDeps & {
  readonly accounts: Accounts;
  readonly setUp: SetUp;
};

/** What a browser asks first: what there is here, whether there is a first account, and who I am. */
export function addMe(api: Api, deps: MeDeps, sessions: SessionAuth): void {
  addFeatures(api, deps);
  addSetUp(api, deps);
  addWhoAmI(api, deps);
  addSessions(api, deps, sessions);
}

function addFeatures(api: Api, deps: MeDeps): void {
  const { accounts, setUp, urls, version } = deps;
  route(
    api,
    {
      method: "get",
      path: "/api/features",
      summary: "Shows what this Relay offers to those who sign in",
      by: "anyone",
      answer: FeaturesShape,
    },
    async (context) => {
      const setUpNeeded = await setUp.isNeeded();
      const here = { publicUrl: urls.public, mcpPublicUrl: urls.mcp, version };
      return json(context, 200, {
        ...accounts.features,
        setUpNeeded,
        billing: deps.billing.mode,
        ...here,
      });
    },
  );
}

function addSetUp(api: Api, { accounts, setUp, clock }: MeDeps): void {
  const claims = new MinuteWindows(ADDRESSES_MAX);
  route(
    api,
    {
      method: "post",
      path: "/api/setup",
      summary: "Sets up the first account",
      by: "anyone",
      body: Claim,
      status: 201,
      answer: MeShape.pick({ user: true }),
      errors: ["NOT_FOUND", "CONFLICT", "RATE_LIMITED"],
    },
    async (context) => {
      const { ip } = context.var.exchange;
      // Over for good: then nothing here tells what it once was.
      if (!(await setUp.isNeeded())) throw setUpGone();
      const wait = claims.take(ip, clock.monotonic(), TRIES_PER_MINUTE);
      if (wait > 0) throw rateLimited(wait);
      const { token, ...user } = await readInput(context, Claim);
      const claim = await setUp.claim(token, user);
      if (claim === "gone") throw setUpGone();
      if (claim === "email_taken") {
        throw new ApiError("CONFLICT", "email: there is a user with this address already");
      }
      const { userId } = claim;
      const origin = { address: ip, userAgent: userAgentOf(context) };
      const { cookies } = await accounts.signIn(user.email, user.password, origin);
      setCookies(context, cookies);
      const { name, email } = user;
      const actor = { userId, email };
      noteChange(context, { target: userId, after: { name, email }, actor });
      return json(context, 201, { user: { id: userId, name, email, twoFactor: false } });
    },
  );
}

function setUpGone(): ApiError {
  return new ApiError(
    "NOT_FOUND",
    "This set-up link is over. Until the first account is made, `relay setup-link` prints a new one.",
  );
}

function addWhoAmI(api: Api, { accounts }: MeDeps): void {
  route(
    api,
    {
      method: "get",
      path: "/api/me",
      summary: "Shows who is signed in",
      by: "visitor",
      answer: MeShape,
    },
    async (context) => {
      const greeting = await accounts.greet(context.var.exchange.request.headers);
      if (greeting === null) throw new ApiError("UNAUTHORIZED", "Sign in first");
      const { visitor, cookies } = greeting;
      setCookies(context, cookies);
      const { userId: id, name, email, twoFactor, isOperator, isFresh } = visitor;
      const memberships = await accounts.accountsOf(id);
      return json(context, 200, {
        user: { id, name, email, twoFactor },
        isOperator,
        isFresh,
        accounts: memberships.map((own) => ({
          accountId: own.accountId,
          name: own.name,
          role: own.role,
        })),
      } satisfies z.output<typeof MeShape>);
    },
  );
}

const Password = z.object({ password: z.string({ error: "must be a string" }).max(128) });
const OwnSession = z.object({ token: z.string({ error: "must be a session's id" }).max(64) });

function addSessions(api: Api, { accounts, clock }: MeDeps, sessions: SessionAuth): void {
  const tries = new MinuteWindows(ADDRESSES_MAX);
  route(
    api,
    {
      method: "post",
      path: "/api/reauthenticate",
      summary: "Types the password again",
      by: "visitor",
      body: Password,
      answer: z.object({ fresh: z.literal(true) }),
      errors: ["FORBIDDEN"],
    },
    async (context) => {
      const { userId } = await sessions.visitor(context);
      const { password } = await readInput(context, Password);
      const wait = tries.take(userId, clock.monotonic(), TRIES_PER_MINUTE);
      if (wait > 0) throw rateLimited(wait);
      const { headers } = context.var.exchange.request;
      const answer = await accounts.reauthenticate(headers, password);
      if (answer === "wrong_password") throw new ApiError("FORBIDDEN", "The password is wrong");
      if (answer === "no_password") {
        throw new ApiError("FORBIDDEN", "You have no password here: sign in again instead");
      }
      tries.giveBack(userId);
      return json(context, 200, { fresh: true });
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/api/auth/list-sessions",
      summary: "Lists the visitor's own sessions, the last used first",
      by: "visitor",
      answer: z.array(SessionShape),
    },
    async (context) => {
      const visitor = await sessions.visitor(context);
      return json(context, 200, (await accounts.sessionsOf(visitor)).map(sessionView));
    },
  );
  route(
    api,
    {
      method: "post",
      path: "/api/auth/revoke-session",
      summary: "Ends one of the visitor's own sessions",
      by: "visitor",
      body: OwnSession,
      answer: z.object({ status: z.literal(true) }),
      errors: ["NOT_FOUND"],
    },
    async (context) => {
      const visitor = await sessions.visitor(context);
      const { token: sessionId } = await readInput(context, OwnSession);
      if (!(await accounts.endSession(visitor, sessionId))) throw notFound("session");
      noteChange(context, { target: sessionId, after: undefined });
      return json(context, 200, { status: true });
    },
  );
}

/** `token` names the session to `revoke-session`; its secret is in the cookie alone. */
function sessionView(line: SessionLine): z.output<typeof SessionShape> {
  return {
    id: line.sessionId,
    token: line.sessionId,
    current: line.isCurrent,
    createdAt: isoTime(line.createdAt),
    updatedAt: isoTime(line.lastUsedAt),
    expiresAt: isoTime(line.expiresAt),
    ipAddress: line.address,
    userAgent: line.userAgent,
  };
}

function setCookies(context: ApiContext, cookies: readonly string[]): void {
  for (const cookie of cookies) context.header("Set-Cookie", cookie, { append: true });
}
