import { countCodePoints } from "@relay/protocol";
import type { AuthPath } from "./auth-paths.ts";
import { isOwnPath } from "./own-path.ts";
import type { RequestHeaders } from "./port.ts";

const NAME_CHARS_MAX = 64;

type Fields = Readonly<Record<string, unknown>>;

/** The fields that an address takes, and those that are not for its caller to choose. */
export function bodyFor(path: AuthPath, given: Fields): Fields {
  const taken = Object.fromEntries(
    path.fields.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  switch (path.path) {
    case "/change-password":
      return { ...taken, revokeOtherSessions: true };
    case "/sign-in/social":
    case "/link-social":
      // The page goes there by itself: an answer to a script can't lead a browser away.
      return { ...taken, provider: "github", disableRedirect: true };
    case "/two-factor/enable":
      return { ...taken, method: "totp" };
    default:
      return taken;
  }
}

/** A name as people are shown one: nothing that breaks a line or hides what follows. */
export function isName(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value.isWellFormed() &&
    value.trim() !== "" &&
    countCodePoints(value, NAME_CHARS_MAX) <= NAME_CHARS_MAX &&
    !/\p{Cc}/u.test(value)
  );
}

/** Whether a field that names where to go on to names a page of ours, or nothing. */
export function leadsHome(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && isOwnPath(value));
}

/** A GET's query is the provider's, or a link's from a letter; none other takes one. */
export function searchFor(path: string, search: string): string {
  if (path === "/callback/github") return search;
  if (path !== "/verify-email") return "";
  const given = new URLSearchParams(search);
  const next = given.get("callbackURL") ?? "/";
  const kept = new URLSearchParams({
    token: given.get("token") ?? "",
    callbackURL: isOwnPath(next) ? next : "/",
  });
  return `?${kept.toString()}`;
}

/** Of a request's headers, the one that better-auth is given. */
export function cookiesOf(headers: RequestHeaders): Headers {
  const { cookie } = headers;
  return typeof cookie === "string" ? new Headers({ cookie }) : new Headers();
}

/** An address as better-auth reads one; a /64 by its first. */
export function addressOf(ip: string): string {
  return ip.endsWith("::/64") ? ip.slice(0, -"/64".length) : ip;
}
