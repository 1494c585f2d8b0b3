import type { DatabaseSync } from "node:sqlite";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import type { AccountId, UserId } from "@relay/protocol";
import { hashText, mintAccountId } from "../ids.ts";
import { MinuteWindows } from "../core/rate.ts";
import { readAnswer } from "./auth-answer.ts";
import {
  ADDRESS_HEADER,
  FRESH_SECONDS,
  RESET_SECONDS,
  authOptions,
  confirmsEmail,
  openAuthDatabase,
  resetLink,
} from "./auth-options.ts";
import { findAuthPath } from "./auth-paths.ts";
import type { AuthPath } from "./auth-paths.ts";
import { addressOf, bodyFor, cookiesOf, isName, leadsHome, searchFor } from "./auth-request.ts";
import { featuresOf } from "./auth-settings.ts";
import type { AccountsDeps } from "./auth-settings.ts";
import { PeopleList } from "./people-list.ts";
import type {
  Accounts,
  AuthAnswer,
  AuthRequest,
  CreatedUser,
  Features,
  Membership,
  NewUser,
  Origin,
  RequestHeaders,
  SessionLine,
  SignedIn,
  Visitor,
} from "./port.ts";
import { mintSecret } from "./secret.ts";

const EMAILS_MAX = 100_000;
/** Tries for one address in a minute, wherever they come from; one that succeeds is not counted. */
const TRIES_PER_MINUTE = 10;
/** Letters to one address in a minute, wherever they are asked for. */
const LETTERS_PER_MINUTE = 1;

const GREETED_MAX = 10_000;
const SWEEP_MS = 60 * 60 * 1_000;

type Auth = ReturnType<typeof makeAuth>;

function makeAuth(deps: AccountsDeps, features: Features, database: DatabaseSync) {
  return betterAuth(authOptions(deps, features, database));
}

/** Opens the people's database, brings it up to date, and clears away what a crash left of one. */
export async function openBetterAuth(deps: AccountsDeps): Promise<Accounts> {
  const features = featuresOf(deps);
  const database = openAuthDatabase(deps.dataDir);
  try {
    const migrations = await getMigrations(authOptions(deps, features, database));
    await migrations.runMigrations();
    // A user without any way in is half of a sign-up that did not get to its end.
    database.exec('DELETE FROM "user" WHERE id NOT IN (SELECT userId FROM account)');
    const auth = makeAuth(deps, features, database);
    await auth.$context;
    return new BetterAuthAccounts(deps, features, database, auth);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Accounts by better-auth. */
class BetterAuthAccounts implements Accounts {
  readonly features: Features;
  readonly #deps: AccountsDeps;
  readonly #database: DatabaseSync;
  readonly #auth: Auth;
  readonly #people: PeopleList;
  readonly #greeted = new Set<UserId>();
  #sweptAt = 0;
  readonly #tries = new MinuteWindows(EMAILS_MAX);

  constructor(deps: AccountsDeps, features: Features, database: DatabaseSync, auth: Auth) {
    this.#deps = deps;
    this.features = features;
    this.#database = database;
    this.#auth = auth;
    this.#people = new PeopleList(database);
  }

  async whoIs(headers: RequestHeaders): Promise<Visitor | null> {
    const found = await this.#auth.api.getSession({
      headers: cookiesOf(headers),
      query: { disableRefresh: true },
    });
    return found === null ? null : this.#visitorOf(found);
  }

  async greet(headers: RequestHeaders): Promise<({ readonly visitor: Visitor } & SignedIn) | null> {
    const { headers: answered, response } = await this.#auth.api.getSession({
      headers: cookiesOf(headers),
      returnHeaders: true,
    });
    if (response === null) return null;
    return { visitor: await this.#visitorOf(response), cookies: answered.getSetCookie() };
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

  async answer(request: AuthRequest): Promise<AuthAnswer> {
    const path = findAuthPath(this.features, request.method, request.path);
    if (path === null) return refusal(404, "NOT_FOUND", "No such address");
    const body = bodyFor(path, request.body);
    const foreign = path.paths?.find((name) => !leadsHome(body[name]));
    if (foreign !== undefined) {
      return refusal(400, "VALIDATION_ERROR", `${foreign}: must be a path of this Relay's own`);
    }
    if (body["name"] !== undefined && !isName(body["name"])) {
      return refusal(400, "VALIDATION_ERROR", "name: must be 1 to 64 characters");
    }
    this.#sweep();
    const busy = this.#refuseBusy(path) ?? this.#countTry(path, body);
    if (busy !== null) return busy;
    const answer = await readAnswer(path, await this.#auth.handler(this.#requestOf(request, body)));
    if (answer.status < 400 && path.needs !== "mail") this.#forgetTry(path, body);
    return this.#uniform(path, answer);
  }

  async createUser({ name, email, password }: NewUser): Promise<CreatedUser> {
    const { internalAdapter, password: passwords } = await this.#auth.$context;
    const address = email.toLowerCase();
    if ((await internalAdapter.findUserByEmail(address)) !== null) {
      return { type: "email_taken" };
    }
    const hash = await passwords.hash(password);
    // Whoever makes users here has the machine, or was given a link by who has.
    const user = await internalAdapter.createUser(
      { name, email: address, emailVerified: true },
      { method: "email-password" },
    );
    const account = { userId: user.id, providerId: "credential", accountId: user.id };
    await internalAdapter.linkAccount({ ...account, password: hash });
    // An id that better-auth had from `mintUserId`.
    return { type: "created", userId: user.id as UserId };
  }

  async signIn(email: string, password: string, origin: Origin): Promise<SignedIn> {
    const headers = new Headers({
      [ADDRESS_HEADER]: addressOf(origin.address),
      "user-agent": origin.userAgent,
    });
    const { headers: answered } = await this.#auth.api.signInEmail({
      body: { email, password },
      headers,
      returnHeaders: true,
    });
    return { cookies: answered.getSetCookie() };
  }

  async reauthenticate(
    headers: RequestHeaders,
    password: string,
  ): Promise<"fresh" | "wrong_password" | "no_password"> {
    const found = await this.#auth.api.getSession({ headers: cookiesOf(headers) });
    const { internalAdapter, password: passwords } = await this.#auth.$context;
    const account =
      found === null ? null : await internalAdapter.findCredentialAccount(found.user.id);
    const hash = account?.password;
    if (found === null || hash === undefined || hash === null) return "no_password";
    if (!(await passwords.verify({ hash, password }))) return "wrong_password";
    // better-auth takes a session for as fresh as it is new.
    await internalAdapter.updateSession(found.session.token, { createdAt: new Date() });
    return "fresh";
  }

  async peopleOf(userIds: readonly UserId[]) {
    return this.#people.peopleOf(userIds);
  }

  async listUsers(limit: number, before: UserId | null) {
    return this.#people.list(limit, before);
  }

  async hasUsers(): Promise<boolean> {
    return this.#people.list(1, null).length > 0;
  }

  async setDisabled(userId: UserId, disabled: boolean): Promise<boolean> {
    return this.#people.setDisabled(userId, disabled);
  }

  async sessionsOf({ userId, sessionId }: Visitor): Promise<readonly SessionLine[]> {
    return this.#people.sessionsOf(userId, sessionId, this.#deps.clock.wall());
  }

  async endSession({ userId }: Visitor, sessionId: string): Promise<boolean> {
    return this.#people.endSession(userId, sessionId);
  }

  async resetPasswordLink(email: string): Promise<string | null> {
    const { internalAdapter } = await this.#auth.$context;
    const found = await internalAdapter.findUserByEmail(email.toLowerCase());
    if (found === null) return null;
    const token = mintSecret("rp");
    await internalAdapter.createVerificationValue({
      identifier: `reset-password:${token}`,
      value: found.user.id,
      expiresAt: new Date(this.#deps.clock.wall() + RESET_SECONDS * 1_000),
    });
    return resetLink(this.#deps.publicUrl, token);
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  async #visitorOf({ user, session }: Found): Promise<Visitor> {
    const { clock } = this.#deps;
    // An id that better-auth had from `mintUserId`.
    const userId = user.id as UserId;
    const memberships = await this.#membershipsOf(userId, user.name);
    const age = clock.wall() - new Date(session.createdAt).getTime();
    return {
      userId,
      name: user.name,
      email: user.email,
      twoFactor: user.twoFactorEnabled === true,
      isOperator: memberships.some(
        ({ isOperator, role }) => isOperator && (role === "owner" || role === "admin"),
      ),
      isFresh: age < FRESH_SECONDS * 1_000,
      sessionId: session.id,
    };
  }

  /** The user's accounts; one who just signed up where anybody may gets an own one first. */
  async #membershipsOf(userId: UserId, name: string): Promise<readonly Membership[]> {
    const { store, clock } = this.#deps;
    const known = await store.accountsOf(userId);
    if (known.length > 0 || this.features.signUp !== "open" || this.#greeted.has(userId)) {
      return known;
    }
    const at = clock.wall();
    await store.ensureOwnAccount({ userId, accountId: mintAccountId(at), name, at });
    // Who is in no account even so was removed from the own one: not asked for again.
    if (this.#greeted.size >= GREETED_MAX) this.#greeted.clear();
    this.#greeted.add(userId);
    return store.accountsOf(userId);
  }

  /** Clears away what is over, an hour after the last time at the soonest. */
  #sweep(): void {
    const now = this.#deps.clock.wall();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    this.#people.sweep(now);
  }

  #refuseBusy(path: AuthPath): AuthAnswer | null {
    if (path.hashes !== true || !this.#deps.passwords.isBusy) return null;
    const answer = refusal(503, "UNAVAILABLE", "Too many people sign in at once; try again");
    return { ...answer, retryAfterSeconds: 2 };
  }

  /** Counts a try by the address it is for, so that many machines together guess no faster. */
  #countTry(path: AuthPath, body: Fields): AuthAnswer | null {
    const key = tryKey(path, body);
    if (key === null) return null;
    const most = path.needs === "mail" ? LETTERS_PER_MINUTE : TRIES_PER_MINUTE;
    const wait = this.#tries.take(key, this.#deps.clock.monotonic(), most);
    if (wait === 0) return null;
    const answer = refusal(429, "RATE_LIMITED", `Too many tries; try again in ${wait} s`);
    return { ...answer, retryAfterSeconds: wait };
  }

  #forgetTry(path: AuthPath, body: Fields): void {
    const key = tryKey(path, body);
    if (key !== null) this.#tries.giveBack(key);
  }

  #requestOf({ method, path, search, headers, ...origin }: AuthRequest, body: Fields): Request {
    const known = cookiesOf(headers);
    known.set(ADDRESS_HEADER, addressOf(origin.address));
    known.set("user-agent", origin.userAgent);
    known.set("origin", new URL(this.#deps.publicUrl).origin);
    if (method === "POST") known.set("content-type", "application/json");
    return new Request(`${this.#deps.publicUrl}/api/auth${path}${searchFor(path, search)}`, {
      method,
      headers: known,
      ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
    });
  }

  /** An address that waits to be confirmed and a wrong password look the same. */
  #uniform(path: AuthPath, answer: AuthAnswer): AuthAnswer {
    if (path.path !== "/sign-in/email" || !confirmsEmail(this.features)) return answer;
    if (answer.status !== 401 && answer.status !== 403) return answer;
    const isDisabled = codeOf(answer) === "USER_DISABLED";
    const message =
      "The e-mail address or the password is wrong, or the address has not been confirmed yet";
    return isDisabled ? answer : { ...refusal(401, "INVALID_EMAIL_OR_PASSWORD", message) };
  }
}

type Fields = Readonly<Record<string, unknown>>;

type Found = {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactorEnabled?: boolean | null | undefined;
  };
  readonly session: { readonly id: string; readonly createdAt: Date };
};

function tryKey({ needs }: AuthPath, { email }: Fields): string | null {
  return typeof email === "string"
    ? hashText(needs ?? "", email.toLowerCase().slice(0, 320))
    : null;
}

function codeOf({ body }: AuthAnswer): unknown {
  return body !== null && "code" in body ? body.code : null;
}

function refusal(status: number, code: string, message: string): AuthAnswer {
  return {
    status,
    location: null,
    cookies: [],
    retryAfterSeconds: null,
    body: { code, message },
    did: null,
    who: null,
  };
}
