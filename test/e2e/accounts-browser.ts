/** Browsers for wire tests of the dashboard's API: each keeps its cookies and sends its Origin. */
import { join as joinPath } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject, TestRelay } from "./harness.ts";

export const PASSWORD = "correct horse battery";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
};

export class Browser {
  readonly relay: TestRelay;
  readonly #base: string;
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  /** `base` is where requests go, if it is not where the Relay says it is. */
  constructor(relay: TestRelay, base: string = relay.url) {
    this.relay = relay;
    this.#base = base;
    this.#origin = new URL(relay.url).origin;
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Another browser with the same cookies. */
  copy(): Browser {
    const copy = new Browser(this.relay, this.#base);
    for (const [name, value] of this.#cookies) copy.#cookies.set(name, value);
    return copy;
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      redirect: "manual",
      headers: {
        Origin: this.#origin,
        Cookie: this.cookie,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? (JSON.parse(text) as JsonObject) : {},
    };
  }

  signIn(email: string, password = PASSWORD): Promise<Answer> {
    return this.ask("POST", "/api/auth/sign-in/email", { email, password });
  }

  #keep(line: string): void {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    const name = pair.slice(0, at);
    if (/Max-Age=0/i.test(line)) this.#cookies.delete(name);
    else this.#cookies.set(name, pair.slice(at + 1));
  }
}

/** The token in the fragment of a link. */
export function tokenOf(link: string): string {
  return new URL(link).hash.slice("#token=".length);
}

/** The first user, signed in: the operator. */
export async function operatorOf(relay: TestRelay, base?: string): Promise<Browser> {
  const link = await relay.relay.people.setUp.mintLink();
  if (link === null) throw new Error("the set-up is over");
  const browser = new Browser(relay, base);
  const body = { token: tokenOf(link), name: "Op", email: "op@example.com", password: PASSWORD };
  const made = await browser.ask("POST", "/api/setup", body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return browser;
}

/** Somebody with an account of their own, signed in. */
export type Developer = {
  readonly browser: Browser;
  readonly userId: string;
  readonly accountId: string;
  readonly email: string;
};

/** Invites a developer with the operator's token, who signs up, signs in and accepts. */
export async function developerOf(relay: TestRelay, name: string): Promise<Developer> {
  const path = "/v1/operator/invitations";
  const invited = await relay.rest("POST", path, relay.operatorToken, { note: name });
  const invitation = tokenOf(String(invited.body["url"]));
  const email = `${name.toLowerCase()}@example.com`;
  const browser = new Browser(relay);
  const user = { name, email, password: PASSWORD };
  await browser.ask("POST", "/api/auth/sign-up/email", { ...user, invitation });
  await browser.signIn(email);
  const joined = await browser.ask("POST", "/api/invitations", { token: invitation });
  const me = await browser.ask("GET", "/api/me");
  if (joined.status !== 200) throw new Error(JSON.stringify(joined.body));
  const userId = String(me.body["user"].id);
  return { browser, userId, accountId: String(joined.body["accountId"]), email };
}

/** Invites a developer into another's account, who accepts. */
export async function join(owner: Developer, member: Developer, role: string): Promise<void> {
  const path = `/api/accounts/${owner.accountId}/invitations`;
  const invited = await owner.browser.ask("POST", path, { role });
  const token = tokenOf(String(invited.body["url"]));
  const joined = await member.browser.ask("POST", "/api/invitations", { token });
  if (joined.status !== 200) throw new Error(JSON.stringify(joined.body));
}

/** Makes every session of a Relay as old as `minutes`. */
export function ageSessions(relay: TestRelay, minutes: number): void {
  const db = new DatabaseSync(joinPath(relay.dataDir, "auth.db"), { timeout: 1_000 });
  const past = new Date(Date.now() - minutes * 60_000).toISOString();
  db.prepare("UPDATE session SET createdAt = ?").run(past);
  db.close();
}
