import type { AccountId, UserId } from "@relay/protocol";
import * as reads from "./account-reads.ts";
import type {
  Acceptance,
  AccountStore,
  AuditEntry,
  NewInvitation,
  OwnAccount,
  Role,
} from "./account-store.ts";
import type { Connection } from "./connection.ts";
import type { ListQueue } from "./list-queue.ts";
import type { Page } from "./store.ts";
import type { WriteQueue } from "./write-queue.ts";

type Parts = {
  readonly writes: WriteQueue;
  readonly lists: ListQueue;
  /** Reads by key, on the store's own connection. */
  readonly read: <Result>(read: (db: Connection) => Result) => Promise<Result>;
};

/** The accounts' part of the SQLite store. */
export class SqliteAccounts implements AccountStore {
  readonly #writes: WriteQueue;
  readonly #lists: ListQueue;
  readonly #read: Parts["read"];

  constructor({ writes, lists, read }: Parts) {
    this.#writes = writes;
    this.#lists = lists;
    this.#read = read;
  }

  roleIn(accountId: AccountId, userId: UserId) {
    return this.#read((db) => reads.roleIn(db, accountId, userId));
  }

  accountsOf(userId: UserId) {
    return this.#read((db) => reads.accountsOf(db, userId));
  }

  membersOf(accountId: AccountId) {
    return this.#read((db) => reads.membersOf(db, accountId));
  }

  ensureOwnAccount(own: OwnAccount) {
    return this.#writes.write("ensureOwnAccount", own);
  }

  setAccountName(accountId: AccountId, name: string) {
    return this.#writes.write("setAccountName", accountId, name);
  }

  setRole(accountId: AccountId, userId: UserId, role: Role) {
    return this.#writes.write("setRole", accountId, userId, role);
  }

  removeMember(accountId: AccountId, userId: UserId) {
    return this.#writes.write("removeMember", accountId, userId);
  }

  invite(invitation: NewInvitation) {
    return this.#writes.write("invite", { ...invitation, hash: Uint8Array.from(invitation.hash) });
  }

  listInvitations(accountId: AccountId | null, at: number) {
    return this.#read((db) => reads.listInvitations(db, accountId, at));
  }

  findInvitation(hash: Uint8Array, at: number) {
    return this.#read((db) => reads.findInvitation(db, hash, at));
  }

  countSignUp(hash: Uint8Array, at: number) {
    return this.#writes.write("countSignUp", Uint8Array.from(hash), at);
  }

  acceptInvitation(acceptance: Acceptance) {
    const hash = Uint8Array.from(acceptance.hash);
    return this.#writes.write("acceptInvitation", { ...acceptance, hash });
  }

  revokeInvitation(accountId: AccountId | null, invitationId: string) {
    return this.#writes.write("revokeInvitation", accountId, invitationId);
  }

  setUp() {
    return this.#read(reads.setUp);
  }

  claimSetUp(at: number) {
    return this.#writes.write("claimSetUp", at);
  }

  releaseSetUp() {
    return this.#writes.write("releaseSetUp");
  }

  completeSetUp(userId: UserId, at: number) {
    return this.#writes.write("completeSetUp", userId, at);
  }

  recordAudit(entry: AuditEntry) {
    return this.#writes.write("recordAudit", entry);
  }

  listAudit(accountId: AccountId | null, page: Page) {
    return this.#lists.read("listAudit", accountId, page);
  }
}
