import { timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UserId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { hashToken } from "../ids.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { Accounts, NewUser } from "./port.ts";
import { mintSecret } from "./secret.ts";

const LINK_MS = 30 * 60 * 1_000;
const FILE = "setup.json";

export type SetUpDeps = {
  readonly dataDir: string;
  readonly publicUrl: string;
  readonly store: Pick<AccountStore, "setUp" | "claimSetUp" | "releaseSetUp" | "completeSetUp">;
  readonly accounts: Pick<Accounts, "createUser" | "hasUsers" | "listUsers">;
  readonly clock: Clock;
};

/** What came of a claim: `gone` for a link that is over, was never one, or that another one claimed. */
export type Claim = { readonly userId: UserId } | "gone" | "email_taken";

/**
 * The first account of all, whose user is the operator. A link that whoever started the server reads
 * on its output makes it, once: only the hash of the link's token is kept, and when the link is
 * claimed there is never another.
 */
export class SetUp {
  readonly #deps: SetUpDeps;
  readonly #file: string;

  constructor(deps: SetUpDeps) {
    this.#deps = deps;
    this.#file = join(deps.dataDir, FILE);
  }

  /** Whether the first account is still to be made. */
  async isNeeded(): Promise<boolean> {
    return (await this.#deps.store.setUp()).userId === null;
  }

  /** Ends what a crash in the middle of a claim left: with the user it made, or as if never claimed. */
  async recover(): Promise<void> {
    const { store, accounts, clock } = this.#deps;
    const { claimed, userId } = await store.setUp();
    if (!claimed || userId !== null) return;
    const [first] = await accounts.listUsers(1, null);
    if (first === undefined) await store.releaseSetUp();
    else await store.completeSetUp(first.userId, clock.wall());
  }

  /** Mints the link, in place of any before it; null once the first account is there. */
  async mintLink(): Promise<string | null> {
    if (!(await this.isNeeded())) return null;
    const token = mintSecret("su");
    const kept: Kept = {
      hash: hashToken(token).toString("hex"),
      expiresAt: this.#deps.clock.wall() + LINK_MS,
    };
    // Whole or not at all, for its owner's eyes only.
    const half = `${this.#file}.new`;
    rmSync(half, { force: true });
    writeFileSync(half, JSON.stringify(kept), { mode: 0o600 });
    renameSync(half, this.#file);
    return `${this.#deps.publicUrl}/setup#token=${token}`;
  }

  /** Makes the first account for whoever has the link's token. */
  async claim(token: string, user: NewUser): Promise<Claim> {
    if (!(await this.isNeeded()) || !this.#isToken(token)) return "gone";
    return this.make(user);
  }

  /** Makes the first account for whoever starts the server. Of many at once one wins. */
  async make(user: NewUser): Promise<Claim> {
    const { store, accounts, clock } = this.#deps;
    if (!(await store.claimSetUp(clock.wall()))) return "gone";
    try {
      const made = await accounts.createUser(user);
      if (made.type === "email_taken") return "email_taken";
      await store.completeSetUp(made.userId, clock.wall());
      rmSync(this.#file, { force: true });
      return { userId: made.userId };
    } finally {
      // Does nothing to a set-up that is complete.
      await store.releaseSetUp();
    }
  }

  #isToken(token: string): boolean {
    const kept = readKept(this.#file);
    if (kept === null || kept.expiresAt <= this.#deps.clock.wall()) return false;
    const known = Buffer.from(kept.hash, "hex");
    const given = hashToken(token);
    return known.length === given.length && timingSafeEqual(known, given);
  }
}

type Kept = { readonly hash: string; readonly expiresAt: number };

function readKept(file: string): Kept | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof kept !== "object" || kept === null) return null;
    if (!("hash" in kept) || !("expiresAt" in kept)) return null;
    const { hash, expiresAt } = kept;
    return typeof hash === "string" && typeof expiresAt === "number" ? { hash, expiresAt } : null;
  } catch {
    // No link was minted, or what is there is not one of ours.
    return null;
  }
}
