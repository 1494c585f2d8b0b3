import { z } from "@hono/zod-openapi";
import type { Accounts, AuthAnswer } from "../accounts/port.ts";
import { hashToken } from "../ids.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { Clock } from "../clock.ts";
import { noteChange } from "./audit.ts";
import { ApiError } from "./errors.ts";
import { readInput } from "./routes.ts";
import type { Api, ApiContext } from "./routes.ts";
import { staleSession } from "./session-auth.ts";

const BASE = "/api/auth";
const USER_AGENT_CHARS = 256;

const Fields = z.record(z.string(), z.unknown(), { error: "must be an object" });

/** What can be done by a stolen session must not take away its owner's way in. */
const FRESH_PATHS: ReadonlySet<string> = new Set(["/passkey/delete-passkey", "/link-social"]);

export type AuthDeps = {
  readonly accounts: Accounts;
  readonly invitations: Pick<AccountStore, "countSignUp">;
  readonly clock: Clock;
};

/**
 * Everything under `/api/auth`: signing up, in and out, and what belongs to a user alone. Errors
 * have the shape of the rest of the API and, beside it, the `code` and `message` that better-auth's
 * own clients read.
 */
export function addAuth(api: Api, deps: AuthDeps): void {
  api.on(["GET", "POST"], `${BASE}/*`, async (context, next) => {
    const { accounts } = deps;
    const { method } = context.req;
    const path = context.req.path.slice(BASE.length);
    if (!accounts.serves(method, path)) return next();
    const { exchange } = context.var;
    // Every address has a route of its own in metrics, and none carries a token.
    exchange.route = `${BASE}${path}`;
    const body = method === "POST" ? await readInput(context, Fields) : {};
    const visitor = await accounts.whoIs(exchange.request.headers);
    if (visitor !== null) context.set("visitor", visitor);
    if (FRESH_PATHS.has(path) && visitor?.isFresh === false) throw staleSession();
    const allowed = await admitSignUp(path, body, deps);
    const answer = await accounts.answer({
      method,
      path,
      search: new URL(context.req.url).search,
      headers: exchange.request.headers,
      body: allowed,
      address: exchange.ip,
      userAgent: userAgentOf(context),
    });
    if (answer.did !== null) {
      const after = typeof body["name"] === "string" ? { name: body["name"] } : undefined;
      const who = answer.who === null ? {} : { actor: answer.who };
      noteChange(context, { action: answer.did, after, ...who });
    }
    return answerWith(context, answer);
  });
}

/** The browser's own name for itself, cut where it is not a name any more. */
export function userAgentOf(context: ApiContext): string {
  const given = context.req.header("user-agent") ?? "";
  return given.slice(0, USER_AGENT_CHARS).replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Where people come by invitation alone, an open one is wanted of who signs up. */
async function admitSignUp(
  path: string,
  body: Readonly<Record<string, unknown>>,
  { accounts, invitations, clock }: AuthDeps,
): Promise<Readonly<Record<string, unknown>>> {
  const signsUp = path === "/sign-up/email" || body["requestSignUp"] === true;
  if (!signsUp || accounts.features.signUp === "open") return body;
  const token = body["invitation"];
  const isInvited =
    typeof token === "string" && (await invitations.countSignUp(hashToken(token), clock.wall()));
  if (isInvited) return body;
  throw new ApiError("FORBIDDEN", "An invitation is needed to sign up, and this one is not open");
}

function answerWith(context: ApiContext, answer: AuthAnswer): Response {
  const headers = new Headers({ "Content-Type": "application/json" });
  for (const [name, value] of context.res.headers) {
    if (!headers.has(name)) headers.set(name, value);
  }
  for (const cookie of answer.cookies) headers.append("Set-Cookie", cookie);
  if (answer.retryAfterSeconds !== null) {
    headers.set("Retry-After", String(answer.retryAfterSeconds));
  }
  // A redirect is the answer to a browser that came by itself: from GitHub, or from a letter.
  if (answer.location !== null && answer.status >= 300 && answer.status < 400) {
    headers.set("Location", answer.location);
    return new Response(null, { status: answer.status, headers });
  }
  const body = answer.status < 400 ? answer.body : refusalOf(context, answer);
  return new Response(JSON.stringify(body ?? {}), { status: answer.status, headers });
}

function refusalOf(context: ApiContext, { status, body }: AuthAnswer): unknown {
  const given = body !== null && "code" in body && "message" in body ? body : null;
  const code = given === null ? codeOf(status) : String(given["code"]);
  const message = given === null ? messageOf(status) : String(given["message"]);
  return { code, message, error: { code, message, requestId: context.var.exchange.requestId } };
}

/** What to say where better-auth says nothing. */
function messageOf(status: number): string {
  if (status === 429) return "Too many requests; try again later";
  return status >= 500 ? "Something went wrong on the relay's side" : "This could not be done";
}

function codeOf(status: number): string {
  if (status === 429) return "RATE_LIMITED";
  if (status === 401) return "UNAUTHORIZED";
  return status >= 500 ? "INTERNAL" : "VALIDATION_ERROR";
}
