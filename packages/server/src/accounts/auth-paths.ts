import type { Features } from "./port.ts";

/** One address of better-auth that is served; every other one is not there. */
export type AuthPath = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** What a success of it is in the audit log; absent where it changes nothing. */
  readonly did?: string;
  /** Without this it is not served. */
  readonly needs?: "mail" | "github" | "passkeys";
  /** Requests from one IP address in how many seconds. */
  readonly limit: { readonly max: number; readonly window: number };
  /** Whether it costs a password hash. */
  readonly hashes?: boolean;
  /** The fields that are passed on; others are dropped. */
  readonly fields: readonly string[];
  /** Fields that must lead to a page of this Relay's. */
  readonly paths?: readonly string[];
};

const GUESSES = { max: 20, window: 60 } as const;
/** Every user that is made stays. */
const SIGN_UPS = { max: 10, window: 600 } as const;
const MAILS = { max: 5, window: 300 } as const;
const USUAL = { max: 60, window: 60 } as const;

/**
 * Every address of better-auth that is served. It has over sixty; whoever adds one here says which
 * fields it takes and what the audit log calls it.
 */
export const AUTH_PATHS: readonly AuthPath[] = [
  {
    method: "POST",
    path: "/sign-in/email",
    did: "Signs in",
    limit: GUESSES,
    hashes: true,
    fields: ["email", "password", "rememberMe"],
  },
  {
    method: "POST",
    path: "/sign-up/email",
    did: "Signs up",
    limit: SIGN_UPS,
    hashes: true,
    fields: ["name", "email", "password", "callbackURL"],
    paths: ["callbackURL"],
  },
  { method: "POST", path: "/sign-out", did: "Signs out", limit: USUAL, fields: [] },
  {
    method: "POST",
    path: "/change-password",
    did: "Changes the password",
    limit: GUESSES,
    hashes: true,
    fields: ["currentPassword", "newPassword"],
  },
  {
    method: "POST",
    path: "/reset-password",
    did: "Sets a new password by a link",
    limit: GUESSES,
    hashes: true,
    fields: ["newPassword", "token"],
  },
  {
    method: "POST",
    path: "/request-password-reset",
    needs: "mail",
    limit: MAILS,
    fields: ["email"],
  },
  {
    method: "POST",
    path: "/send-verification-email",
    needs: "mail",
    limit: MAILS,
    fields: ["email", "callbackURL"],
    paths: ["callbackURL"],
  },
  { method: "GET", path: "/verify-email", needs: "mail", limit: USUAL, fields: [] },
  {
    method: "POST",
    path: "/update-user",
    did: "Changes the own name",
    limit: USUAL,
    fields: ["name"],
  },
  {
    method: "POST",
    path: "/revoke-other-sessions",
    did: "Ends all other sessions",
    limit: USUAL,
    fields: [],
  },
  {
    method: "POST",
    path: "/sign-in/social",
    needs: "github",
    limit: GUESSES,
    fields: ["provider", "callbackURL", "errorCallbackURL", "newUserCallbackURL", "requestSignUp"],
    paths: ["callbackURL", "errorCallbackURL", "newUserCallbackURL"],
  },
  {
    method: "POST",
    path: "/link-social",
    needs: "github",
    limit: GUESSES,
    fields: ["provider", "callbackURL", "errorCallbackURL"],
    paths: ["callbackURL", "errorCallbackURL"],
  },
  {
    method: "GET",
    path: "/callback/github",
    did: "Signs in by GitHub",
    needs: "github",
    limit: USUAL,
    fields: [],
  },
  {
    method: "POST",
    path: "/two-factor/enable",
    did: "Prepares a second factor",
    limit: GUESSES,
    hashes: true,
    fields: ["password"],
  },
  {
    method: "POST",
    path: "/two-factor/disable",
    did: "Removes the second factor",
    limit: GUESSES,
    hashes: true,
    fields: ["password"],
  },
  {
    method: "POST",
    path: "/two-factor/get-totp-uri",
    limit: GUESSES,
    hashes: true,
    fields: ["password"],
  },
  {
    method: "POST",
    path: "/two-factor/verify-totp",
    did: "Signs in with a second factor",
    limit: GUESSES,
    fields: ["code", "trustDevice"],
  },
  {
    method: "POST",
    path: "/two-factor/verify-backup-code",
    did: "Signs in with a backup code",
    limit: GUESSES,
    fields: ["code", "trustDevice"],
  },
  {
    method: "POST",
    path: "/two-factor/generate-backup-codes",
    did: "Makes new backup codes",
    limit: GUESSES,
    hashes: true,
    fields: ["password"],
  },
  {
    method: "GET",
    path: "/passkey/generate-register-options",
    needs: "passkeys",
    limit: USUAL,
    fields: [],
  },
  {
    method: "POST",
    path: "/passkey/verify-registration",
    did: "Adds a passkey",
    needs: "passkeys",
    limit: USUAL,
    fields: ["response", "name"],
  },
  {
    method: "GET",
    path: "/passkey/generate-authenticate-options",
    needs: "passkeys",
    limit: USUAL,
    fields: [],
  },
  {
    method: "POST",
    path: "/passkey/verify-authentication",
    did: "Signs in with a passkey",
    needs: "passkeys",
    limit: GUESSES,
    fields: ["response"],
  },
  {
    method: "GET",
    path: "/passkey/list-user-passkeys",
    needs: "passkeys",
    limit: USUAL,
    fields: [],
  },
  {
    method: "POST",
    path: "/passkey/update-passkey",
    did: "Renames a passkey",
    needs: "passkeys",
    limit: USUAL,
    fields: ["id", "name"],
  },
  {
    method: "POST",
    path: "/passkey/delete-passkey",
    did: "Removes a passkey",
    needs: "passkeys",
    limit: USUAL,
    fields: ["id"],
  },
];

/** The served address of a method and a path without `/api/auth`; null where there is none. */
export function findAuthPath(features: Features, method: string, path: string): AuthPath | null {
  const found = AUTH_PATHS.find((known) => known.path === path && known.method === method);
  if (found === undefined) return null;
  return found.needs === undefined || features[found.needs] ? found : null;
}
