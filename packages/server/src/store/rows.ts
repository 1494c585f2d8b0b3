import type { AccountId, CallId, KeyId, LinkId, ProjectId, RequestId } from "@relay/protocol";
import type { LintWarning, Outcome } from "@relay/protocol";
import type { Row } from "./connection.ts";
import { StoreError } from "./store.ts";
import type {
  CallRow,
  Client,
  KeyKind,
  Link,
  LinkAndProject,
  LinkSocket,
  ListedLink,
  Manifest,
  ManifestChange,
  Project,
  ProjectKey,
} from "./store.ts";

/*
 * Rows become records here. The types of ids, outcomes and lists end at the database and begin
 * again with the `as` of this file: nothing but this folder's own writes, which take the same
 * types, has ever put a value there.
 */

/** The columns of a project; its table goes by `p`. */
export const PROJECT_COLUMNS = `p.project_id, p.account_id, p.name, p.calls_per_minute,
  p.allowed_origins, p.suspended, p.stopped, p.free_calls_per_month, p.price_micros_per_call,
  p.spend_cap_micros, p.created_at AS project_created_at`;

/** The columns of a link; its table goes by `l`, that of its manifest, if any, by `m`. */
export const LINK_COLUMNS = `l.link_id, l.project_id, l.label, l.paused,
  l.created_at AS link_created_at, l.revoked_at, l.last_seen_at, l.last_call_at, l.url_token_hash,
  l.made_with_secret_key, l.trial, l.sealed_url, l.owner_node, l.owner_epoch, l.manifest_hash, l.client_name,
  l.client_version, m.app_name, m.app_version, m.tool_count`;

/** A link with its project, to be ended by a WHERE. */
export const SELECT_LINK = `SELECT ${LINK_COLUMNS}, ${PROJECT_COLUMNS} FROM links l
  JOIN projects p ON p.project_id = l.project_id AND p.deleted_at IS NULL
  LEFT JOIN manifests m ON m.hash = l.manifest_hash`;

export function readLinkAndProject(row: Row | undefined): LinkAndProject | null {
  return row === undefined ? null : { link: readLink(row), project: readProject(row) };
}

export function readProject(row: Row): Project {
  return {
    projectId: text(row, "project_id") as ProjectId,
    accountId: text(row, "account_id") as AccountId,
    name: text(row, "name"),
    callsPerMinute: integer(row, "calls_per_minute"),
    allowedOrigins: list(row, "allowed_origins") as readonly string[],
    suspended: flag(row, "suspended"),
    stopped: flag(row, "stopped"),
    freeCallsPerMonth: integerOrNull(row, "free_calls_per_month"),
    priceMicrosPerCall: integer(row, "price_micros_per_call"),
    spendCapMicros: integerOrNull(row, "spend_cap_micros"),
    createdAt: integer(row, "project_created_at"),
  };
}

export function readLink(row: Row): Link {
  const appName = textOrNull(row, "app_name");
  return {
    linkId: text(row, "link_id") as LinkId,
    projectId: text(row, "project_id") as ProjectId,
    label: textOrNull(row, "label"),
    paused: flag(row, "paused"),
    createdAt: integer(row, "link_created_at"),
    revokedAt: integerOrNull(row, "revoked_at"),
    lastSeenAt: integerOrNull(row, "last_seen_at"),
    lastCallAt: integerOrNull(row, "last_call_at"),
    urlTokenHash: bytes(row, "url_token_hash"),
    madeWithSecretKey: flag(row, "made_with_secret_key"),
    trial: flag(row, "trial"),
    sealedUrl: row["sealed_url"] === null ? null : bytes(row, "sealed_url"),
    ownerNode: textOrNull(row, "owner_node"),
    ownerEpoch: integer(row, "owner_epoch"),
    manifestHash: textOrNull(row, "manifest_hash"),
    app: appName === null ? null : { name: appName, version: text(row, "app_version") },
    toolCount: appName === null ? 0 : integer(row, "tool_count"),
    client: readClient(row),
  };
}

/** Reads a link whose row also has the manifest's `warnings`. */
export function readListedLink(row: Row): ListedLink {
  return { ...readLink(row), warnings: row["warnings"] === null ? NOTHING : readWarnings(row) };
}

/** The columns of a key, without its hash. */
export const KEY_COLUMNS =
  "key_id, project_id, kind, plain, last4, created_at, expires_at, last_used_at, revoked_at";

export function readKey(row: Row): ProjectKey {
  return {
    keyId: text(row, "key_id") as KeyId,
    projectId: text(row, "project_id") as ProjectId,
    kind: readKeyKind(row),
    plain: textOrNull(row, "plain"),
    last4: text(row, "last4"),
    createdAt: integer(row, "created_at"),
    expiresAt: integerOrNull(row, "expires_at"),
    lastUsedAt: integerOrNull(row, "last_used_at"),
    revokedAt: integerOrNull(row, "revoked_at"),
  };
}

export function readKeyKind(row: Row): KeyKind {
  return text(row, "kind") === "sk" ? "sk" : "pk";
}

export function readManifest(row: Row): Manifest {
  return {
    hash: text(row, "hash"),
    app: { name: text(row, "app_name"), version: text(row, "app_version") },
    instructions: textOrNull(row, "instructions"),
    toolsText: text(row, "tools_text"),
    toolCount: integer(row, "tool_count"),
    warnings: readWarnings(row),
  };
}

/** Reads one socket of a link's history. */
export function readLinkSocket(row: Row): LinkSocket {
  const code = integerOrNull(row, "close_code");
  return {
    connectedAt: integer(row, "connected_at"),
    disconnectedAt: integerOrNull(row, "disconnected_at"),
    close: code === null ? null : { code, reason: text(row, "close_reason") },
    app: { name: text(row, "app_name"), version: text(row, "app_version") },
  };
}

/** Reads one change of a link's manifest. */
export function readManifestChange(row: Row): ManifestChange {
  return {
    hash: text(row, "hash"),
    at: integer(row, "at"),
    added: list(row, "added") as readonly string[],
    removed: list(row, "removed") as readonly string[],
    changed: list(row, "changed") as readonly string[],
  };
}

export function readCall(row: Row): CallRow {
  return {
    callId: text(row, "call_id") as CallId,
    projectId: text(row, "project_id") as ProjectId,
    linkId: text(row, "link_id") as LinkId,
    tool: text(row, "tool"),
    toolKnown: flag(row, "tool_known"),
    client: readClient(row),
    outcome: readOutcome(row),
    counted: flag(row, "counted"),
    startedAt: integer(row, "started_at"),
    durationMs: integer(row, "duration_ms"),
    requestBytes: integer(row, "request_bytes"),
    resultBytes: integer(row, "result_bytes"),
    requestId: text(row, "request_id") as RequestId,
  };
}

export function readOutcome(row: Row): Outcome {
  return text(row, "outcome") as Outcome;
}

function readClient(row: Row): Client | null {
  const name = textOrNull(row, "client_name");
  return name === null ? null : { name, version: text(row, "client_version") };
}

export function text(row: Row, column: string): string {
  return textOrNull(row, column) ?? broken(column);
}

export function integer(row: Row, column: string): number {
  return integerOrNull(row, column) ?? broken(column);
}

export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null || typeof value === "string" ? value : broken(column);
}

function integerOrNull(row: Row, column: string): number | null {
  const value = row[column];
  return value === null || typeof value === "number" ? value : broken(column);
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : broken(column);
}

function flag(row: Row, column: string): boolean {
  return row[column] === 1;
}

/** Most lists are empty, and a link is read for every request: those share one. */
const NOTHING: readonly never[] = Object.freeze([]);

function readWarnings(row: Row): readonly LintWarning[] {
  return list(row, "warnings") as readonly LintWarning[];
}

function list(row: Row, column: string): readonly unknown[] {
  const json = text(row, column);
  if (json === "[]") return NOTHING;
  const value: unknown = JSON.parse(json);
  return Array.isArray(value) ? value : broken(column);
}

function broken(column: string): never {
  throw new StoreError("corrupt", `The database is damaged: column ${column} holds a wrong value.`);
}
