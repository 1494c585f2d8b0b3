import { join } from "node:path";
import type { AccountId, UserId } from "@relay/protocol";
import { makePrivateFile } from "../store/lock.ts";
import { AUTH_DATABASE_FILE } from "./auth-file.ts";
import { findAuthPath } from "./auth-paths.ts";
import { featuresOf, sessionCookieName } from "./auth-settings.ts";
import type { AccountsDeps } from "./auth-settings.ts";
import type {
  Accounts,
  AuthRequest,
  Features,
  NewUser,
  Origin,
  RequestHeaders,
  Visitor,
} from "./port.ts";

/**
 * Accounts that are opened by the first request which needs them: what is behind them is the largest
 * thing a Relay loads, and many a Relay never shows its dashboard to anybody.
 */
export class LazyAccounts implements Accounts {
  readonly features: Features;
  readonly #deps: AccountsDeps;
  readonly #cookie: string;
  #opened: Promise<Accounts> | null = null;
  #isClosed = false;

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
    this.features = featuresOf(deps);
    this.#cookie = sessionCookieName(deps.publicUrl);
  }

  async whoIs(headers: RequestHeaders) {
    return this.#hasSession(headers) ? (await this.#open()).whoIs(headers) : null;
  }

  async greet(headers: RequestHeaders) {
    return this.#hasSession(headers) ? (await this.#open()).greet(headers) : null;
  }

  roleIn(userId: UserId, accountId: AccountId) {
    return this.#deps.store.roleIn(accountId, userId);
  }

  accountsOf(userId: UserId) {
    return this.#deps.store.accountsOf(userId);
  }

  serves(method: string, path: string): boolean {
    return findAuthPath(this.features, method, path) !== null;
  }

  async answer(request: AuthRequest) {
    return (await this.#open()).answer(request);
  }

  async createUser(user: NewUser) {
    return (await this.#open()).createUser(user);
  }

  async signIn(email: string, password: string, origin: Origin) {
    return (await this.#open()).signIn(email, password, origin);
  }

  async reauthenticate(headers: RequestHeaders, password: string) {
    return (await this.#open()).reauthenticate(headers, password);
  }

  async peopleOf(userIds: readonly UserId[]) {
    return (await this.#open()).peopleOf(userIds);
  }

  async listUsers(limit: number, before: UserId | null) {
    return (await this.#open()).listUsers(limit, before);
  }

  async hasUsers() {
    return (await this.#open()).hasUsers();
  }

  async setDisabled(userId: UserId, disabled: boolean) {
    return (await this.#open()).setDisabled(userId, disabled);
  }

  async sessionsOf(visitor: Visitor) {
    return (await this.#open()).sessionsOf(visitor);
  }

  async endSession(visitor: Visitor, sessionId: string) {
    return (await this.#open()).endSession(visitor, sessionId);
  }

  async resetPasswordLink(email: string) {
    return (await this.#open()).resetPasswordLink(email);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opening = this.#opened;
    if (opening !== null) await (await opening.catch(() => null))?.close();
  }

  #hasSession({ cookie }: RequestHeaders): boolean {
    return typeof cookie === "string" && cookie.includes(`${this.#cookie}=`);
  }

  #open(): Promise<Accounts> {
    if (this.#isClosed) return Promise.reject(new Error("accounts are closed"));
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<Accounts> {
    try {
      makePrivateFile(join(this.#deps.dataDir, AUTH_DATABASE_FILE));
      const { openBetterAuth } = await loadBetterAuth();
      return await openBetterAuth(this.#deps);
    } catch (error) {
      // The next request tries again.
      this.#opened = null;
      throw error;
    }
  }
}

/** Opens accounts on these parts. */
type OpenAccounts = (deps: AccountsDeps) => Promise<Accounts>;

/**
 * Loads what is behind accounts. A server does so before it listens, since loading holds up
 * everything else for a moment.
 */
export async function loadBetterAuth(): Promise<{ readonly openBetterAuth: OpenAccounts }> {
  // It has settings of its own in the environment, telemetry among them, that would win over ours.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("BETTER_AUTH_")) delete process.env[name];
  }
  return import("./better-auth.ts");
}
