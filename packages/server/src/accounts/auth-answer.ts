import type { UserId } from "@relay/protocol";
import type { AuthPath } from "./auth-paths.ts";
import type { AuthAnswer } from "./port.ts";

/** Passed on of what better-auth answers, beside its body. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["token", "session"]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Makes what better-auth answered into what leaves: without the secrets of sessions, which it shows
 * to scripts although its cookie hides them from scripts, and without what tells who is there.
 */
export async function readAnswer(path: AuthPath, response: Response): Promise<AuthAnswer> {
  const { status } = response;
  const cookies = response.headers.getSetCookie();
  const body = await bodyOf(response);
  const isDone = status < 400;
  const wait = response.headers.get("x-retry-after");
  return {
    status,
    location: response.headers.get("location"),
    cookies,
    retryAfterSeconds: status === 429 ? Math.max(1, Number(wait) || 1) : null,
    body: isDone ? withoutSecrets(path, body) : body,
    did: isDone && !waitsForSecondFactor(body) ? (path.did ?? null) : null,
    who: isDone ? userIn(path, body) : null,
  };
}

async function bodyOf(response: Response): Promise<AuthAnswer["body"]> {
  const text = await response.text();
  if (text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    // Only an address that is not for programs answers with anything else.
    return null;
  }
}

function withoutSecrets(path: AuthPath, body: AuthAnswer["body"]): AuthAnswer["body"] {
  // What a sign-up answers is the same whether or not the address was taken.
  if (path.path === "/sign-up/email") return {};
  if (body === null || isList(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET_FIELDS.has(name)));
}

function waitsForSecondFactor(body: AuthAnswer["body"]): boolean {
  return body !== null && !isList(body) && body["twoFactorRedirect"] === true;
}

function userIn({ path }: AuthPath, body: AuthAnswer["body"]): AuthAnswer["who"] {
  const user = body === null || isList(body) ? null : body["user"];
  if (typeof user !== "object" || user === null || !("id" in user) || !("email" in user))
    return null;
  const { id, email } = user;
  if (typeof id !== "string" || typeof email !== "string") return null;
  // A sign-up names a user that is not there where the address was taken. Any other id is one that
  // better-auth had from `mintUserId`.
  return { userId: path === "/sign-up/email" ? null : (id as UserId), email };
}

function isList(body: Fields | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body);
}
