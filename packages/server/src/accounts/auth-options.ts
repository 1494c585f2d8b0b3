import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { NodeSqliteDialect } from "@better-auth/kysely-adapter/node-sqlite-dialect";
import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins/two-factor";
import type { BetterAuthOptions } from "better-auth";
import { mintUserId } from "../ids.ts";
import { AUTH_DATABASE_FILE } from "./auth-file.ts";
import { AUTH_PATHS } from "./auth-paths.ts";
import { cookiePrefix } from "./auth-settings.ts";
import type { AccountsDeps } from "./auth-settings.ts";
import { confirmLetter, passwordLetter } from "./mail.ts";
import type { Features } from "./port.ts";

/** The header in which the address of a client reaches better-auth; nobody outside can set it. */
export const ADDRESS_HEADER = "x-relay-client-address";

/** Who has proved who they are this recently may make keys, delete and invite. */
export const FRESH_SECONDS = 15 * 60;
const SESSION_SECONDS = 14 * 24 * 60 * 60;
/** A session in use is prolonged once a day. */
const PROLONG_SECONDS = 24 * 60 * 60;
const LINK_SECONDS = 60 * 60;
/** One user's sessions. */
const SESSIONS_MAX = 100;
export const PASSWORD_CHARS = { min: 10, max: 128 } as const;

/** Opens `auth.db`, which must be there already, so that it has the right mode from the start. */
export function openAuthDatabase(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(join(dataDir, AUTH_DATABASE_FILE), { timeout: 1_000 });
  // A crash of the process loses nothing; a power cut may lose the last sign-in.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  return database;
}

/** How better-auth is set up here. Whatever is not named in it is off or not served. */
export function authOptions(deps: AccountsDeps, features: Features, database: DatabaseSync) {
  const origin = new URL(deps.publicUrl).origin;
  const isHttps = origin.startsWith("https:");
  return {
    appName: "Relay",
    baseURL: `${deps.publicUrl}/api/auth`,
    secret: deps.authKey,
    telemetry: { enabled: false },
    trustedOrigins: [origin],
    // Without transactions: one would stay open while a password is hashed, and everybody else's
    // requests would wait for it. What a crash in between leaves is cleared at the next start.
    database: { dialect: new NodeSqliteDialect({ database }), type: "sqlite", transaction: false },
    advanced: {
      cookiePrefix: cookiePrefix(deps.publicUrl),
      // It would add a prefix of its own to ours.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHttps, sameSite: "lax", httpOnly: true, path: "/" },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      disableCSRFCheck: false,
      disableOriginCheck: false,
      database: { generateId: () => mintUserId(deps.clock.wall()) },
      // Who waits for a letter to be sent would be told whether one was.
      backgroundTasks: { handler: (task: Promise<unknown>) => void task.catch(() => undefined) },
    },
    session: {
      expiresIn: SESSION_SECONDS,
      updateAge: PROLONG_SECONDS,
      freshAge: FRESH_SECONDS,
      // A session that is ended is over at once, everywhere.
      cookieCache: { enabled: false },
    },
    verification: { storeIdentifier: "hashed" },
    account: {
      encryptOAuthTokens: true,
      // Whoever signs up first with a stranger's address must not get into what the stranger makes.
      accountLinking: { enabled: true, disableImplicitLinking: true },
    },
    user: {
      changeEmail: { enabled: false },
      deleteUser: { enabled: false },
      additionalFields: { disabled: { type: "boolean", required: false, input: false } },
    },
    emailAndPassword: {
      enabled: true,
      // Then a second sign-up with an address answers as the first did.
      autoSignIn: false,
      requireEmailVerification: confirmsEmail(features),
      minPasswordLength: PASSWORD_CHARS.min,
      maxPasswordLength: PASSWORD_CHARS.max,
      resetPasswordTokenExpiresIn: LINK_SECONDS,
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: (password: string) => deps.passwords.hash(password),
        verify: ({ password, hash }: { readonly password: string; readonly hash: string }) =>
          deps.passwords.verify(password, hash),
      },
      ...mailOptions(deps).reset,
    },
    ...mailOptions(deps).confirm,
    socialProviders:
      deps.github === null ? {} : { github: { ...deps.github, disableImplicitSignUp: true } },
    onAPIError: { errorURL: `${deps.publicUrl}/sign-in` },
    rateLimit: {
      enabled: true,
      storage: "database",
      window: 60,
      max: 60,
      customRules: Object.fromEntries(AUTH_PATHS.map(({ path, limit }) => [path, limit])),
    },
    databaseHooks: { session: { create: { before: beforeSession(database) } } },
    logger: { level: "error", log: (_level: string, message: string) => noteFault(deps, message) },
    plugins: [
      twoFactor({ issuer: "Relay", totpOptions: { digits: 6, period: 30 } }),
      passkey({
        rpID: new URL(deps.publicUrl).hostname,
        rpName: "Relay",
        origin,
        // It stands for both factors, so that it wants more than the key itself.
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        authentication: { afterVerification: refuseUnverifiedUser },
        advanced: { webAuthnChallengeCookie: "passkey" },
      }),
    ],
  } as const satisfies BetterAuthOptions;
}

/** Where anybody may sign up, an address is confirmed first, or it could be anybody's. */
export function confirmsEmail(features: Features): boolean {
  return features.mail && features.signUp === "open";
}

function mailOptions({ mail, publicUrl }: AccountsDeps) {
  if (mail === null) return { reset: {}, confirm: {} };
  type ToUser = { readonly user: { readonly email: string } };
  return {
    reset: {
      sendResetPassword: ({ user, token }: ToUser & { readonly token: string }) =>
        mail.send(passwordLetter(user.email, resetLink(publicUrl, token))),
    },
    confirm: {
      emailVerification: {
        sendOnSignUp: true,
        sendOnSignIn: true,
        expiresIn: LINK_SECONDS,
        sendVerificationEmail: ({ user, url }: ToUser & { readonly url: string }) =>
          mail.send(confirmLetter(user.email, url)),
      },
    },
  };
}

/** The token is in the fragment, which browsers keep to themselves. */
export function resetLink(publicUrl: string, token: string): string {
  return `${publicUrl}/reset-password#token=${token}`;
}

export const RESET_SECONDS = LINK_SECONDS;

/** Lets no session of a disabled user begin, and ends the oldest of one who has too many. */
function beforeSession(database: DatabaseSync) {
  const isDisabled = (userId: string): boolean =>
    database.prepare('SELECT disabled FROM "user" WHERE id = ?').get(userId)?.["disabled"] === 1;
  return async ({ userId }: { readonly userId: string }): Promise<void> => {
    if (!isDisabled(userId)) {
      database
        .prepare(
          `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE userId = ?
             ORDER BY updatedAt DESC LIMIT -1 OFFSET ${SESSIONS_MAX - 1})`,
        )
        .run(userId);
      return;
    }
    throw new APIError("FORBIDDEN", {
      code: "USER_DISABLED",
      message: "The operator has disabled this user",
    });
  };
}

type PasskeyVerification = {
  readonly verification: { readonly authenticationInfo: { readonly userVerified: boolean } };
};

async function refuseUnverifiedUser({ verification }: PasskeyVerification): Promise<void> {
  if (verification.authenticationInfo.userVerified) return;
  throw new APIError("UNAUTHORIZED", {
    code: "AUTHENTICATION_FAILED",
    message: "The passkey did not check who uses it",
  });
}

/** Its messages may quote what a stranger sent behind a colon. */
function noteFault({ log }: AccountsDeps, message: string): void {
  log.warn({ detail: message.split(":")[0]?.slice(0, 200) }, "better-auth reports a fault");
}
