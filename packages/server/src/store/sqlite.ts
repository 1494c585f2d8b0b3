import { join } from "node:path";
import type { AccountId, KeyId, LinkId, ProjectId } from "@relay/protocol";
import type { SegmentId } from "../core/ledger-book.ts";
import type { BillingMode } from "../core/ledger.ts";
import { getAccount } from "./account-reads.ts";
import { Connection, translateError } from "./connection.ts";
import type { Released } from "./link-writes.ts";
import { ListQueue } from "./list-queue.ts";
import { SqliteAccounts } from "./sqlite-accounts.ts";
import { lockDataFolder, makePrivateFile } from "./lock.ts";
import type { FolderLock } from "./lock.ts";
import { Notes } from "./notes.ts";
import type { FromReader, ReaderSettings, ToReader } from "./reader-messages.ts";
import type { NewCredit } from "./money.ts";
import * as money from "./money-reads.ts";
import * as reads from "./reads.ts";
import { StoreThread } from "./store-thread.ts";
import { StoreError } from "./store.ts";
import type {
  CallFilter,
  CallRow,
  ChartSpan,
  Client,
  KeyRules,
  LinkClaim,
  LinkFilter,
  LinkRotation,
  Manifest,
  NewKey,
  NewLink,
  NewProject,
  Page,
  ProjectChanges,
  SocketClose,
  Store,
  SweepRules,
} from "./store.ts";
import type { Attempt, NewEvent, Webhook } from "./webhooks.ts";
import { FIRST_SWEEP_STEP } from "./sweep.ts";
import type { SweepStep } from "./sweep.ts";
import { WriteQueue } from "./write-queue.ts";
import type { WriteCounts } from "./write-queue.ts";
import type { Durability, FromWriter, ToWriter, WriterSettings } from "./writer-messages.ts";

/** The database's name in the data folder. */
export const DATABASE_FILE = "relay.db";

const CACHE_KIB = 8_192;
/** The event loop waits no longer than this for anything. */
const BUSY_MS = 25;
/** Manifests kept so that claims of the same one carry the same object. */
const MANIFESTS_SHARED_MAX = 64;

export type SqliteSettings = { readonly dataDir: string; readonly durability: Durability };

/**
 * Opens the data folder's database, which is made or brought up to date first, and holds the
 * folder's lock until it is closed. Rejects with a `StoreError` that an operator can act on:
 * `locked`, `corrupt`, `newer`, `unavailable`. A file it can't use is left as it is.
 */
export async function openSqliteStore(settings: SqliteSettings): Promise<SqliteStore> {
  const { dataDir, durability } = settings;
  const lock = lockDataFolder(dataDir);
  if (lock === null) {
    throw new StoreError(
      "locked",
      `Another Relay server uses the data folder ${dataDir}. Stop it, or set RELAY_DATA_DIR to another folder.`,
    );
  }
  const path = join(dataDir, DATABASE_FILE);
  try {
    makePrivateFile(path);
    const writes = await startWriter({ path, durability });
    try {
      const lists = new ListQueue(readerStarter({ path }));
      const db = new Connection(path, { readOnly: true, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
      return new SqliteStore({ lock, writes, lists, db });
    } catch (error) {
      await writes.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw explain(translateError(error), path);
  }
}

async function startWriter(settings: WriterSettings): Promise<WriteQueue> {
  const script = new URL("./writer.ts", import.meta.url);
  return new WriteQueue(await StoreThread.start<ToWriter, FromWriter>(script, settings));
}

function readerStarter(settings: ReaderSettings): () => Promise<StoreThread<ToReader, FromReader>> {
  const script = new URL("./reader.ts", import.meta.url);
  return () => StoreThread.start<ToReader, FromReader>(script, settings);
}

function explain(error: Error, path: string): Error {
  if (!(error instanceof StoreError)) return error;
  const advice =
    error.code === "corrupt"
      ? " Nothing in it was changed. Restore it from a backup, or move it away to begin with an empty one."
      : "";
  return new StoreError(error.code, `${path}: ${error.message}${advice}`, { cause: error });
}

type Parts = {
  readonly lock: FolderLock;
  readonly writes: WriteQueue;
  readonly lists: ListQueue;
  readonly db: Connection;
};

/**
 * The store in one SQLite file. Writes go to a thread that commits them in groups, lists to
 * another; reads by key are answered here, from a connection that only reads.
 */
export class SqliteStore implements Store {
  readonly accounts: SqliteAccounts;
  readonly #lock: FolderLock;
  readonly #writes: WriteQueue;
  readonly #lists: ListQueue;
  readonly #db: Connection;
  readonly #notes: Notes;
  readonly #manifests = new Map<string, Manifest>();
  #closed: Promise<void> | null = null;

  constructor({ lock, writes, lists, db }: Parts) {
    this.#lock = lock;
    this.#writes = writes;
    this.#lists = lists;
    this.#db = db;
    this.accounts = new SqliteAccounts({ writes, lists, read: (read) => this.#read(read) });
    this.#notes = new Notes({
      keyUses: (uses) => writes.write("writeKeyUses", uses),
      clients: (seen) => writes.write("writeClients", seen),
    });
  }

  /** How the store has been writing, for metrics and tests. */
  get counts(): WriteCounts & { readonly lostNotes: number } {
    return { ...this.#writes.counts, lostNotes: this.#notes.lost };
  }

  createAccount(accountId: AccountId, at: number) {
    return this.#writes.write("createAccount", accountId, at);
  }

  listAccounts(page: Page) {
    return this.#lists.read("listAccounts", page);
  }

  createProject(project: NewProject, keys: readonly NewKey[]) {
    return this.#writes.write("createProject", project, keys.map(ownKeyBytes));
  }

  getProject(projectId: ProjectId) {
    return this.#read((db) => reads.getProject(db, projectId));
  }

  listProjects(page: Page) {
    return this.#lists.read("listProjects", page);
  }

  changeProject(projectId: ProjectId, changes: ProjectChanges) {
    return this.#writes.write("changeProject", projectId, changes);
  }

  listProjectsOf(accountIds: readonly AccountId[]) {
    return this.#lists.read("listProjectsOf", accountIds);
  }

  deleteProject(projectId: ProjectId, at: number) {
    return this.#writes.write("deleteProject", projectId, at);
  }

  /** One small write after the other, so that others go in between. */
  async purgeProject(projectId: ProjectId): Promise<void> {
    while (await this.#writes.write("purgeStep", projectId));
  }

  projectStart(projectId: ProjectId) {
    return this.#lists.read("projectStart", projectId);
  }

  createKey(key: NewKey, rules?: KeyRules) {
    return this.#writes.write("createKey", ownKeyBytes(key), rules);
  }

  listKeys(projectId: ProjectId) {
    return this.#read((db) => reads.listKeys(db, projectId));
  }

  revokeKey(projectId: ProjectId, keyId: KeyId, at: number) {
    return this.#writes.write("revokeKey", projectId, keyId, at);
  }

  findKey(hash: Uint8Array, at: number) {
    return this.#read((db) => reads.findKey(db, hash, at));
  }

  noteKeyUsed(keyId: KeyId, at: number): void {
    if (this.#closed === null) this.#notes.keyUsed(keyId, at);
  }

  createLink(link: NewLink, linksMax: number) {
    const linkTokenHash = ownBytes(link.linkTokenHash);
    const urlTokenHash = ownBytes(link.urlTokenHash);
    return this.#writes.write("createLink", { ...link, linkTokenHash, urlTokenHash }, linksMax);
  }

  getLink(linkId: LinkId) {
    return this.#read((db) => reads.getLink(db, linkId));
  }

  listLinks(projectId: ProjectId, filter: LinkFilter, page: Page) {
    return this.#lists.read("listLinks", projectId, filter, page);
  }

  findLinkByLinkToken(hash: Uint8Array) {
    return this.#read((db) => reads.findLinkByLinkToken(db, hash));
  }

  findLinkByUrlToken(hash: Uint8Array) {
    return this.#read((db) => reads.findLinkByUrlToken(db, hash));
  }

  getManifest(hash: string) {
    return this.#read((db) => reads.getManifest(db, hash));
  }

  claimLink(claim: LinkClaim) {
    return this.#writes.write("claimLink", { ...claim, manifest: this.#shared(claim.manifest) });
  }

  releaseLink(linkId: LinkId, epoch: number, at: number, close: SocketClose | null) {
    return this.#writes.write("releaseLink", linkId, epoch, at, close);
  }

  /** In small writes: a process that crashed may have left tens of thousands. */
  async releaseNode(node: string, at: number): Promise<number> {
    let released = 0;
    let last: Released;
    do {
      last = await this.#writes.write("releaseSome", node, at);
      released += last.links;
    } while (!last.isDone);
    return released;
  }

  linkHistory(linkId: LinkId) {
    return this.#lists.read("linkHistory", linkId);
  }

  rotateLink(rotation: LinkRotation) {
    const urlTokenHash = ownBytes(rotation.urlTokenHash);
    const sealedUrl = rotation.sealedUrl === null ? null : ownBytes(rotation.sealedUrl);
    return this.#writes.write("rotateLink", { ...rotation, urlTokenHash, sealedUrl });
  }

  forgetSealedUrl(linkId: LinkId, urlTokenHash: Uint8Array) {
    return this.#writes.write("forgetSealedUrl", linkId, ownBytes(urlTokenHash));
  }

  setLinkPaused(linkId: LinkId, paused: boolean) {
    return this.#writes.write("setLinkPaused", linkId, paused);
  }

  setLinkLabel(linkId: LinkId, label: string | null) {
    return this.#writes.write("setLinkLabel", linkId, label);
  }

  revokeLink(linkId: LinkId, at: number) {
    return this.#writes.write("revokeLink", linkId, at);
  }

  noteClient(linkId: LinkId, client: Client): void {
    if (this.#closed === null) this.#notes.client(linkId, client);
  }

  recordCall(call: CallRow, rollUpOnly: boolean, segmentId: SegmentId | null = null) {
    return this.#writes.write("recordCall", call, rollUpOnly, segmentId);
  }

  startBilling(mode: BillingMode, lowBalanceMicros: number, at: number) {
    return this.#writes.write("startBilling", mode, lowBalanceMicros, at);
  }

  openMonth(projectId: ProjectId, month: string, at: number) {
    return this.#writes.write("openMonth", projectId, month, at);
  }

  bookCredit(credit: NewCredit) {
    return this.#writes.write("bookCredit", credit);
  }

  getAccount(accountId: AccountId) {
    return this.#read((db) => getAccount(db, accountId));
  }

  getMoney(projectId: ProjectId, month: string) {
    return this.#read((db) => money.getMoney(db, projectId, month));
  }

  listLedger(accountId: AccountId, projectId: ProjectId | null, page: Page) {
    return this.#lists.read("listLedger", accountId, projectId, page);
  }

  getWebhook(projectId: ProjectId) {
    return this.#read((db) => money.getWebhook(db, projectId));
  }

  setWebhook(projectId: ProjectId, webhook: Webhook | null, at: number) {
    const own =
      webhook === null ? null : { ...webhook, sealedSecret: ownBytes(webhook.sealedSecret) };
    return this.#writes.write("setWebhook", projectId, own, at);
  }

  addEvent(event: NewEvent) {
    return this.#writes.write("addEvent", event);
  }

  dueEvents(now: number, most: number) {
    return this.#read((db) => money.dueEvents(db, now, most));
  }

  noteAttempt(eventId: string, attempt: Attempt) {
    return this.#writes.write("noteAttempt", eventId, attempt);
  }

  listEvents(projectId: ProjectId, page: Page) {
    return this.#lists.read("listEvents", projectId, page);
  }

  listCalls(projectId: ProjectId, filter: CallFilter, page: Page) {
    return this.#lists.read("listCalls", projectId, filter, page);
  }

  listClients(projectId: ProjectId, span: Pick<CallFilter, "from" | "to">) {
    return this.#lists.read("listClients", projectId, span);
  }

  usage(projectId: ProjectId, month: string) {
    return this.#lists.read("usage", projectId, month);
  }

  hours(projectId: ProjectId, span: ChartSpan, tool: string | null) {
    return this.#lists.read("hours", projectId, span, tool);
  }

  latencies(projectId: ProjectId, span: ChartSpan) {
    return this.#lists.read("latencies", projectId, span);
  }

  stats(month: string) {
    return this.#lists.read("stats", month);
  }

  /** One small write after the other, so that others go in between. */
  async sweep(rules: SweepRules): Promise<void> {
    let step: SweepStep | null = FIRST_SWEEP_STEP;
    while (step !== null) step = await this.#writes.write("sweepStep", rules, step);
  }

  writeDelayMs(): number {
    return this.#writes.delayMs();
  }

  probe() {
    return this.#writes.write("writeProbe");
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const notes = this.#notes.flush();
    // The readers first: the last to close empties the log into the database.
    await this.#lists.close();
    this.#db.close();
    await notes;
    await this.#writes.close();
    this.#lock.release();
  }

  async #read<Result>(read: (db: Connection) => Result): Promise<Result> {
    if (this.#closed !== null) throw new StoreError("closed", "The store is closed.");
    try {
      return read(this.#db);
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Within one message an object crosses to the writer once, however often it is named. */
  #shared(manifest: Manifest): Manifest {
    const known = this.#manifests.get(manifest.hash);
    if (known !== undefined) return known;
    if (this.#manifests.size >= MANIFESTS_SHARED_MAX) this.#manifests.clear();
    this.#manifests.set(manifest.hash, manifest);
    return manifest;
  }
}

function ownKeyBytes(key: NewKey): NewKey {
  return { ...key, hash: ownBytes(key.hash) };
}

/** A Buffer is often a window into a large pool, which would cross to the writer as a whole. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}
