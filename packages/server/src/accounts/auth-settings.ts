import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { Mail } from "./mail.ts";
import type { Passwords } from "./passwords.ts";
import type { Features } from "./port.ts";

/** What accounts stand on. */
export type AccountsDeps = {
  /** The folder of `auth.db`. */
  readonly dataDir: string;
  /** Where browsers reach this Relay; without a trailing slash. */
  readonly publicUrl: string;
  readonly signUp: "open" | "invited";
  /** Signs cookies and seals second factors: 64 hexadecimal digits. */
  readonly authKey: string;
  readonly github: GitHubApp | null;
  readonly mail: Mail | null;
  readonly passwords: Passwords;
  readonly store: Pick<AccountStore, "roleIn" | "accountsOf" | "ensureOwnAccount">;
  readonly clock: Clock;
  readonly log: Log;
};

export type GitHubApp = { readonly clientId: string; readonly clientSecret: string };

/** What a Relay with these settings offers to those who sign in. */
export function featuresOf(
  deps: Pick<AccountsDeps, "publicUrl" | "signUp" | "github" | "mail">,
): Features {
  return {
    signUp: deps.signUp,
    mail: deps.mail !== null,
    github: deps.github !== null,
    passkeys: takesPasskeys(new URL(deps.publicUrl)),
  };
}

/** Browsers bind passkeys to names, never to IP addresses, and give them to safe pages alone. */
function takesPasskeys({ protocol, hostname }: URL): boolean {
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith("[");
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return !isAddress && (protocol === "https:" || isLocal);
}

/** The cookie that holds a session. `__Host-` binds it to this host, this scheme and every path. */
export function sessionCookieName(publicUrl: string): string {
  return `${cookiePrefix(publicUrl)}.session_token`;
}

export function cookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? "__Host-relay" : "relay";
}
