/** People who use the dashboard of a Relay under test: signed in by cookie, as a browser is. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openRelay } from "./harness.ts";
import type { JsonObject, TestRelay } from "./harness.ts";

const PASSWORD = "correct horse battery";
const ORIGIN = { address: "127.0.0.1", userAgent: "test" };

/** Opens a Relay with these variables set, where anybody may sign up. */
export async function openDashboard(
  env: Readonly<Record<string, string>> = {},
): Promise<Dashboard> {
  return new Dashboard(await openRelay({ RELAY_SIGN_UP: "open", ...env }));
}

export class Dashboard {
  readonly relay: TestRelay;

  constructor(relay: TestRelay) {
    this.relay = relay;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]();
  }

  /** The first user of all, who owns the operator's account. */
  async operator(): Promise<Visitor> {
    const { setUp } = this.relay.relay.people;
    const claim = await setUp.make(personOf("operator"));
    if (typeof claim === "string") throw new Error(`the set-up said ${claim}`);
    return this.#signIn("operator");
  }

  /** A new user with an account of their own. */
  async visitor(name: string): Promise<Visitor> {
    const made = await this.relay.relay.people.accounts.createUser(personOf(name));
    if (made.type !== "created") throw new Error(made.type);
    return this.#signIn(name);
  }

  async #signIn(name: string): Promise<Visitor> {
    const { email, password } = personOf(name);
    const { cookies } = await this.relay.relay.people.accounts.signIn(email, password, ORIGIN);
    const cookie = cookies.map((one) => one.slice(0, one.indexOf(";"))).join("; ");
    const headers = { Cookie: cookie, Origin: new URL(this.relay.url).origin };
    const me = await this.relay.rest("GET", "/api/me", null, undefined, headers);
    if (me.status !== 200) throw new Error(JSON.stringify(me.body));
    return new Visitor(this.relay, headers, me.body);
  }
}

function personOf(name: string) {
  return { name, email: `${name}@example.com`, password: PASSWORD };
}

export class Visitor {
  readonly userId: string;
  /** The first account they are in. */
  readonly accountId: string;
  readonly #relay: TestRelay;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(relay: TestRelay, headers: Readonly<Record<string, string>>, me: JsonObject) {
    this.#relay = relay;
    this.#headers = headers;
    this.userId = me["user"].id;
    this.accountId = me["accounts"][0].accountId;
  }

  /** What a browser sends from the dashboard's own page. */
  headers(): Record<string, string> {
    return { ...this.#headers };
  }

  ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: Headers; body: JsonObject }> {
    return this.#relay.rest(method, path, null, body, { ...this.#headers, ...headers });
  }

  async signOut(): Promise<void> {
    const { status } = await this.ask("POST", "/api/auth/sign-out", {});
    if (status !== 200) throw new Error(`signing out was answered with ${status}`);
  }

  /** Makes every session of the user as old as one that began an hour ago. */
  grow(): void {
    const db = new DatabaseSync(join(this.#relay.dataDir, "auth.db"), { timeout: 1_000 });
    const past = new Date(Date.now() - 3_600_000).toISOString();
    db.prepare("UPDATE session SET createdAt = ? WHERE userId = ?").run(past, this.userId);
    db.close();
  }

  /** Gives the user a role in an account, or takes it away. */
  become(role: string | null, accountId: string): void {
    const db = new DatabaseSync(join(this.#relay.dataDir, "relay.db"), { timeout: 1_000 });
    db.prepare("DELETE FROM members WHERE user_id = ? AND account_id = ?").run(
      this.userId,
      accountId,
    );
    if (role !== null) {
      db.prepare(
        "INSERT INTO members (account_id, user_id, role, joined_at) VALUES (?, ?, ?, 0)",
      ).run(accountId, this.userId, role);
    }
    db.close();
  }
}
