/*
 * The door of this folder: what the rest of the server knows of storage. Behind it is SQLite
 * (`sqlite.ts`, with its threads); `store.contract.ts` says what any other implementation must do.
 * Nothing here may know of sockets, hosts or HTTP: no import from relay, host, app or api.
 */
import type {
  AccountId,
  AppInfo,
  CallId,
  KeyId,
  LinkId,
  LintWarning,
  Outcome,
  ProjectId,
  RequestId,
  UserId,
} from "@relay/protocol";
import type { SegmentId } from "../core/ledger-book.ts";
import type { MoneyStore } from "./money.ts";
import type { WebhookStore } from "./webhooks.ts";
import type { AccountStore } from "./account-store.ts";

/**
 * What Relay remembers, as verbs named by use. One contract suite runs against every
 * implementation. Times are integer milliseconds since 1970 UTC. Every promise rejects with
 * `StoreError` when the store is away; an expected refusal is a returned value.
 */
export interface Store extends MoneyStore, WebhookStore {
  /** Members, invitations and the audit log. */
  readonly accounts: AccountStore;

  // Accounts, projects and their keys.
  /** Makes a developer's account, which may have a limited number of projects. */
  createAccount(accountId: AccountId, at: number): Promise<void>;
  /** Newest first; the operator's own is among them. */
  listAccounts(page: Page): Promise<Paged<Account> | "bad_cursor">;
  createProject(project: NewProject, keys: readonly NewKey[]): Promise<CreatedProject>;
  getProject(projectId: ProjectId): Promise<Project | null>;
  /** Newest first. */
  listProjects(page: Page): Promise<Paged<ListedProject> | "bad_cursor">;
  /** The projects of a few accounts, the newest first, at most 1,000. */
  listProjectsOf(accountIds: readonly AccountId[]): Promise<readonly Project[]>;
  changeProject(projectId: ProjectId, changes: ProjectChanges): Promise<Project | null>;
  /**
   * Deletes a project: from now on nobody sees it, its keys or its links. False when there is none.
   * What it had stays in the store until `purgeProject`, or a sweep an hour later, drops it.
   */
  deleteProject(projectId: ProjectId, at: number): Promise<boolean>;
  /** Drops what a deleted project had: its calls, their roll-ups, its links. */
  purgeProject(projectId: ProjectId): Promise<void>;
  /** How far the project has come on the way to its first call. */
  projectStart(projectId: ProjectId): Promise<ProjectStart>;
  /** Keeps the 50 newest of a project's dead keys; `rules` may refuse a key. */
  createKey(key: NewKey, rules?: KeyRules): Promise<CreatedKey>;
  listKeys(projectId: ProjectId): Promise<readonly ProjectKey[]>;
  /** Revokes a key of the project; false when the project has no such live key. */
  revokeKey(projectId: ProjectId, keyId: KeyId, at: number): Promise<boolean>;
  /** Finds a live key (not revoked, not expired at `at`) by the SHA-256 of its text. */
  findKey(hash: Uint8Array, at: number): Promise<FoundKey | null>;
  /** Notes that a key was used; may be written late and merged with others. */
  noteKeyUsed(keyId: KeyId, at: number): void;

  // Links.
  /**
   * Creates a link. At the project's limit of live links the oldest one that never connected and is
   * over an hour old gives way; where none does, the answer is `limit_reached`.
   */
  createLink(link: NewLink, linksMax: number): Promise<CreatedLink>;
  getLink(linkId: LinkId): Promise<LinkAndProject | null>;
  /** One project's links in the order of `filter.sort`; revoked ones only where asked for. */
  listLinks(
    projectId: ProjectId,
    filter: LinkFilter,
    page: Page,
  ): Promise<Paged<ListedLink> | "bad_cursor">;
  /** Finds a link that is not revoked. */
  findLinkByLinkToken(hash: Uint8Array): Promise<LinkAndProject | null>;
  findLinkByUrlToken(hash: Uint8Array): Promise<LinkAndProject | null>;
  getManifest(hash: string): Promise<Manifest | null>;
  /**
   * Makes `node` the owner of a link's live socket: stores the manifest, adds one to the epoch, and
   * begins the socket's line of the link's history; a manifest unlike the one before gets a line of
   * its own. Only when the link is not revoked, else `gone`. Concurrent claims get different epochs.
   */
  claimLink(claim: LinkClaim): Promise<ClaimedLink | "gone">;
  /**
   * The socket of this epoch ended with `close`, null where nobody saw how. Ends ownership of exactly
   * this epoch, a later claim is left alone; completes the socket's line of the history either way.
   */
  releaseLink(linkId: LinkId, epoch: number, at: number, close: SocketClose | null): Promise<void>;
  /**
   * Ends every ownership that `node` holds and every socket it left open, whose close nobody saw (what
   * a crashed process left behind). Returns how many links it owned.
   */
  releaseNode(node: string, at: number): Promise<number>;
  /** The link's last 20 sockets and last 20 changes of its manifest, the newest first (SPEC 11). */
  linkHistory(linkId: LinkId): Promise<LinkHistory>;
  /** Gives the link a new URL token; returns the hash of the one before, or `gone` if revoked. */
  rotateLink(rotation: LinkRotation): Promise<{ readonly before: Uint8Array } | "gone">;
  /** Erases the sealed URL if it still belongs to this URL token. */
  forgetSealedUrl(linkId: LinkId, urlTokenHash: Uint8Array): Promise<void>;
  setLinkPaused(linkId: LinkId, paused: boolean): Promise<boolean>;
  setLinkLabel(linkId: LinkId, label: string | null): Promise<boolean>;
  /** Revokes a link for good; true also when it was revoked before; false when there is none. */
  revokeLink(linkId: LinkId, at: number): Promise<boolean>;
  /** Keeps the last MCP client of a link; may be written late and merged with others. */
  noteClient(linkId: LinkId, client: Client): void;

  // Calls.
  /**
   * Writes a call's row, its part of the hourly roll-up and `lastCallAt` of its link in one
   * transaction; resolves when that is committed. Idempotent by the call's id. `rollUpOnly` leaves
   * out the row (SPEC 7: past 300 refused calls of a link in a minute). A counted call adds to the
   * segment it was admitted in, and with it to the month, the balance and the ledger.
   */
  recordCall(call: CallRow, rollUpOnly: boolean, segmentId?: SegmentId | null): Promise<void>;
  /** Newest first, within the project. */
  listCalls(
    projectId: ProjectId,
    filter: CallFilter,
    page: Page,
  ): Promise<Paged<CallRow> | "bad_cursor">;
  /** Who made the 20,000 newest calls of a span, by name, the busiest 50; a call may name nobody. */
  listClients(
    projectId: ProjectId,
    span: Pick<CallFilter, "from" | "to">,
  ): Promise<readonly ClientCalls[]>;
  /** `month` as `YYYY-MM`; read from the roll-ups, never from rows. */
  usage(projectId: ProjectId, month: string): Promise<Usage>;
  /** Calls of each hour that had any, ascending, of all tools or of one; read from the roll-ups. */
  hours(
    projectId: ProjectId,
    span: ChartSpan,
    tool: string | null,
  ): Promise<readonly HourOfCalls[]>;
  /** How long answered calls took, by tool, the 200 busiest; read from the roll-ups. */
  latencies(projectId: ProjectId, span: ChartSpan): Promise<readonly ToolLatency[]>;
  /** What there is in all, and the calls of every project in a month; read from the roll-ups. */
  stats(month: string): Promise<Stats>;

  // The store itself.
  /** Drops what is too old: call days, roll-ups, unused and long revoked links, orphan manifests. */
  sweep(rules: SweepRules): Promise<void>;
  /** The age in ms of the oldest write that is not committed, 0 when there is none. */
  writeDelayMs(): number;
  /** Commits a probe write; rejects when the store can't be written. */
  probe(): Promise<void>;
  /** Waits for what is queued, then closes. */
  close(): Promise<void>;
}

/**
 * The store did not do what it was asked: it is away, full or read-only (`unavailable`), broken, of
 * a newer Relay, held by another server, or closed. Any other error is a bug of the caller's.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: "unavailable" | "corrupt" | "newer" | "locked" | "closed";

  constructor(code: StoreError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type Account = {
  readonly accountId: AccountId;
  /** Empty for one that was made without a person. */
  readonly name: string;
  /** The owner who has been a member longest; null where there is none. */
  readonly ownerId: UserId | null;
  /** The operator's own account has no limit of projects. */
  readonly isOperator: boolean;
  readonly projects: number;
  readonly balanceMicros: number;
  readonly createdAt: number;
};

export type Project = {
  readonly projectId: ProjectId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly callsPerMinute: number;
  /** Exact origins; an empty list allows every origin. */
  readonly allowedOrigins: readonly string[];
  /** The operator's flag. */
  readonly suspended: boolean;
  /** The developer's own flag. */
  readonly stopped: boolean;
  /** null = unlimited. */
  readonly freeCallsPerMonth: number | null;
  readonly priceMicrosPerCall: number;
  /** null = no cap. */
  readonly spendCapMicros: number | null;
  readonly createdAt: number;
};

/** A project as the list of all has it, with whose it is. */
export type ListedProject = Project & {
  readonly accountName: Account["name"];
  readonly ownerId: Account["ownerId"];
};

/** `accountId` null means the operator's own account, which has no limit of projects. */
export type NewProject = Omit<Project, "accountId"> & {
  readonly accountId: AccountId | null;
  readonly projectsMax: number;
};

/** `limit_reached`: the account has `projectsMax` projects; `no_account`: there is no such account. */
export type CreatedProject = "created" | "limit_reached" | "no_account";

export type ProjectChanges = Partial<Omit<Project, "projectId" | "accountId" | "createdAt">>;

export type KeyKind = "pk" | "sk";

export type NewKey = {
  readonly keyId: KeyId;
  readonly projectId: ProjectId;
  readonly kind: KeyKind;
  readonly hash: Uint8Array;
  /** The whole key for `pk` (it is public), null for `sk`. */
  readonly plain: string | null;
  readonly last4: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
};

/** `liveMax` live keys at most; `replaces` a live key of the same kind, which then expires. */
export type KeyRules = {
  readonly liveMax: number;
  readonly replaces: { readonly keyId: KeyId; readonly expiresAt: number } | null;
};

/** `no_key`: the project has no such live key of this kind to replace. */
export type CreatedKey = "created" | "no_project" | "no_key" | "limit_reached";

export type ProjectKey = Omit<NewKey, "hash"> & {
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
};

export type FoundKey = { readonly keyId: KeyId; readonly kind: KeyKind; readonly project: Project };

export type Client = { readonly name: string; readonly version: string };

export type Link = {
  readonly linkId: LinkId;
  readonly projectId: ProjectId;
  readonly label: string | null;
  readonly paused: boolean;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly lastSeenAt: number | null;
  readonly lastCallAt: number | null;
  readonly urlTokenHash: Uint8Array;
  /** Whether the link was created with a secret key: then its URL may be returned by REST. */
  readonly madeWithSecretKey: boolean;
  /** Whether its developer made it in the dashboard to try the app: it is no person's link. */
  readonly trial: boolean;
  /** The rotated URL until the app has it, AES-256-GCM; null when there is nothing to tell. */
  readonly sealedUrl: Uint8Array | null;
  readonly ownerNode: string | null;
  readonly ownerEpoch: number;
  /** Null before the first hello. */
  readonly manifestHash: string | null;
  readonly app: AppInfo | null;
  readonly toolCount: number;
  readonly client: Client | null;
};

export type LinkAndProject = { readonly link: Link; readonly project: Project };

export type NewLink = {
  readonly linkId: LinkId;
  readonly projectId: ProjectId;
  readonly label: string | null;
  readonly linkTokenHash: Uint8Array;
  readonly urlTokenHash: Uint8Array;
  readonly madeWithSecretKey: boolean;
  /** Absent means false. */
  readonly trial?: boolean;
  readonly createdAt: number;
};

/** A link as a list shows it, with what its manifest was warned about. */
export type ListedLink = Link & { readonly warnings: readonly LintWarning[] };

/**
 * `online` and `offline` ask whether an app is connected, `paused` whether it is or not, `never`
 * whether one ever was. Without `revoked` a list leaves revoked links out (SPEC 9).
 */
export type LinkState = "online" | "offline" | "paused" | "never" | "revoked";

/** A leading minus puts the greatest first; links without a label come last. */
export type LinkSort = "-lastSeenAt" | "lastSeenAt" | "-createdAt" | "createdAt" | "label";

/** `label` is a part of the label, in upper or lower case; `trial` true leaves out people's links. */
export type LinkFilter = {
  readonly state?: LinkState;
  readonly label?: string;
  readonly trial?: boolean;
  readonly sort: LinkSort;
};

/** `gaveWay` is the link that was removed to make room, if one was. */
export type CreatedLink =
  | { readonly created: true; readonly gaveWay: LinkId | null }
  | { readonly created: false; readonly reason: "limit_reached" | "no_project" };

/** What one valid hello said, as the raw text it said it in. */
export type Manifest = {
  /** SHA-256 of the three raw texts, lower-case hex. */
  readonly hash: string;
  readonly app: AppInfo;
  readonly instructions: string | null;
  /** The `tools` array as it was written, CR and LF between tokens made spaces. */
  readonly toolsText: string;
  readonly toolCount: number;
  readonly warnings: readonly LintWarning[];
};

export type LinkClaim = {
  readonly linkId: LinkId;
  readonly node: string;
  readonly manifest: Manifest;
  readonly at: number;
};

/** The link as it stands right after the claim; its `ownerEpoch` is the new epoch. */
export type ClaimedLink = LinkAndProject;

/**
 * How a socket ended: the code and the reason it was closed with, by Relay if Relay was the first,
 * and 1006 where it was dropped. A reason has at most 123 bytes, as a close frame has room for.
 */
export type SocketClose = { readonly code: number; readonly reason: string };

/** `disconnectedAt` is null while the socket is open; `close` also where nobody saw how it ended. */
export type LinkSocket = {
  readonly connectedAt: number;
  readonly disconnectedAt: number | null;
  readonly close: SocketClose | null;
  readonly app: AppInfo;
};

/** A hello with another manifest than the one before: the names of tools that are not as they were. */
export type ManifestChange = {
  readonly hash: string;
  readonly at: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
};

export type LinkHistory = {
  readonly sockets: readonly LinkSocket[];
  readonly manifests: readonly ManifestChange[];
};

export type LinkRotation = {
  readonly linkId: LinkId;
  readonly urlTokenHash: Uint8Array;
  readonly sealedUrl: Uint8Array | null;
};

export type CallRow = {
  readonly callId: CallId;
  readonly projectId: ProjectId;
  readonly linkId: LinkId;
  readonly tool: string;
  /** Whether the manifest has this tool; if not, the roll-up names it `-`. */
  readonly toolKnown: boolean;
  readonly client: Client | null;
  readonly outcome: Outcome;
  readonly counted: boolean;
  readonly startedAt: number;
  readonly durationMs: number;
  /** UTF-8 bytes of `arguments`. */
  readonly requestBytes: number;
  /** UTF-8 bytes of `content` and `structuredContent`. */
  readonly resultBytes: number;
  readonly requestId: RequestId;
};

/** `to` is exclusive; `tool` and `client` are whole names, as the rows have them. */
export type CallFilter = {
  readonly outcome?: Outcome;
  readonly counted?: boolean;
  readonly linkId?: LinkId;
  readonly tool?: string;
  readonly client?: string;
  readonly from?: number;
  readonly to?: number;
};

/** How many of the calls that were looked at a client made, by its name. */
export type ClientCalls = { readonly name: string; readonly calls: number };

/**
 * `limit` 1 to 200; `cursor` is what `nextCursor` of the page before said: any other text is
 * answered with `bad_cursor`. A page may be short, even empty, and still have a next one (SPEC 9).
 */
export type Page = { readonly limit: number; readonly cursor: string | null };
export type Paged<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null };

export type Usage = {
  readonly month: string;
  readonly counted: number;
  readonly total: number;
  readonly byOutcome: Readonly<Partial<Record<Outcome, number>>>;
  /** Days of the month that have calls, as `YYYY-MM-DD`, ascending. */
  readonly days: readonly {
    readonly day: string;
    readonly counted: number;
    readonly total: number;
  }[];
};

/** Times in ms; `from` counts from the hour it lies in, `to` is exclusive. */
export type ChartSpan = { readonly from: number; readonly to: number };

/** `hour` is the ms at which it begins. */
export type HourOfCalls = {
  readonly hour: number;
  readonly byOutcome: Readonly<Partial<Record<Outcome, number>>>;
};

/** A histogram of calls that ended `ok` or `tool_error`; the last bucket has no upper bound. */
export type ToolLatency = {
  readonly tool: string;
  readonly calls: number;
  readonly buckets: readonly { readonly upToMs: number | null; readonly calls: number }[];
};

export type ProjectStart = {
  readonly linkCreated: boolean;
  readonly socketReady: boolean;
  /** The `tools` array of the link that was seen last, as it was written; null before any was. */
  readonly toolsText: string | null;
  /** A host that was there, by what it said of itself. */
  readonly firstHost: Client | null;
  /** The first call that ended `ok`; where none has, the newest call. */
  readonly firstCall: { readonly outcome: Outcome; readonly at: number } | null;
};

export type Stats = {
  readonly accounts: number;
  readonly projects: number;
  /** Links that are not revoked, and how many of them have a connected app. */
  readonly links: number;
  readonly connected: number;
  readonly month: string;
  readonly counted: number;
  readonly total: number;
  readonly byOutcome: Readonly<Partial<Record<Outcome, number>>>;
};

export type SweepRules = {
  readonly now: number;
  readonly callRetentionDays: number;
  readonly unusedLinkDays: number;
  readonly revokedLinkDays: number;
  readonly rollUpMonths: number;
};
