import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Writable } from "node:stream";
import type { TestContext } from "node:test";
import { systemClock } from "../../clock.ts";
import type { Clock } from "../../clock.ts";
import { openLog } from "../../observe/log.ts";
import type { AccountsDeps } from "../auth-settings.ts";
import { LazyAccounts } from "../lazy-accounts.ts";
import type { Letter } from "../mail.ts";
import type { Passwords } from "../passwords.ts";
import type { AuthAnswer } from "../port.ts";

/** Passwords that cost nothing and count what they would have cost. */
export class CountedPasswords implements Passwords {
  hashed = 0;
  verified = 0;
  isBusy = false;

  async hash(password: string): Promise<string> {
    this.hashed += 1;
    return `plain:${password}`;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    this.verified += 1;
    return hash === `plain:${password}`;
  }

  /** What was spent since the last time. */
  spent(): number {
    const sum = this.hashed + this.verified;
    this.hashed = 0;
    this.verified = 0;
    return sum;
  }
}

/** Where a request comes from, and with what. */
type From = {
  readonly cookie?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Accounts on a folder of their own, and the browser that uses them. */
export class TestAccounts {
  accounts: LazyAccounts;
  readonly passwords = new CountedPasswords();
  readonly letters: Letter[] = [];
  readonly log: string[] = [];
  readonly dataDir: string;
  readonly deps: AccountsDeps;

  constructor(t: TestContext, changes: Partial<AccountsDeps> & { readonly mails?: boolean } = {}) {
    this.dataDir = mkdtempSync(join(tmpdir(), "relay-accounts-"));
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        this.log.push(String(chunk));
        done();
      },
    });
    const send = async (letter: Letter): Promise<void> => void this.letters.push(letter);
    this.deps = {
      dataDir: this.dataDir,
      publicUrl: "https://relay.example.com/base",
      signUp: "open",
      authKey: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      github: null,
      mail: changes.mails === true ? { send } : null,
      passwords: this.passwords,
      store: {
        roleIn: async () => null,
        accountsOf: async () => [],
        ensureOwnAccount: async () => undefined,
      },
      clock: systemClock,
      log: openLog("debug", sink),
      ...changes,
    };
    this.accounts = new LazyAccounts(this.deps);
    t.after(async () => {
      await this.accounts.close();
      rmSync(this.dataDir, { recursive: true });
    });
  }

  post(
    path: string,
    body: Readonly<Record<string, unknown>> = {},
    from: From = {},
  ): Promise<AuthAnswer> {
    return this.#send("POST", path, body, from);
  }

  get(path: string, cookie = "", search = ""): Promise<AuthAnswer> {
    return this.#send("GET", path, {}, { cookie }, search);
  }

  /** Closes the accounts and opens what they kept. */
  async reopen(): Promise<void> {
    await this.accounts.close();
    this.accounts = new LazyAccounts(this.deps);
  }

  /** Looks into the database, or changes it, by a connection of its own. */
  database<Result>(use: (db: DatabaseSync) => Result): Result {
    const db = new DatabaseSync(join(this.dataDir, "auth.db"), { timeout: 1_000 });
    try {
      return use(db);
    } finally {
      db.close();
    }
  }

  /** Lets what runs beside an answer, such as a letter, get on. */
  async settled(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  #send(
    method: string,
    path: string,
    body: Readonly<Record<string, unknown>>,
    { cookie = "", address = "203.0.113.7", headers = {} }: From,
    search = "",
  ): Promise<AuthAnswer> {
    return this.accounts.answer({
      method,
      path,
      search,
      headers: { cookie, ...headers },
      body,
      address,
      userAgent: "Test/1",
    });
  }
}

/** What a browser would send back of an answer's cookies. */
export function cookieOf({ cookies }: Pick<AuthAnswer, "cookies">): string {
  return cookies
    .map((line) => line.split(";")[0] ?? "")
    .filter((pair) => !pair.endsWith("="))
    .join("; ");
}

/** The system's clock, some time ahead. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, wall: () => systemClock.wall() + ms };
}

export const ANN = { name: "Ann", email: "ann@example.com", password: "correct horse" } as const;
