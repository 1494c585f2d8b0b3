import type { KeyId, LinkId, ProjectId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import {
  KEY_COLUMNS,
  PROJECT_COLUMNS,
  readKey,
  readKeyKind,
  readLinkAndProject,
  readManifest,
  readProject,
  SELECT_LINK,
  text,
} from "./rows.ts";
import type { FoundKey, LinkAndProject, Manifest, Project, ProjectKey } from "./store.ts";

/*
 * Reads by key: each is a look into an index or two, some 20 us, and so short that it runs where
 * it is asked for. What lists or adds up belongs on the reader thread.
 */

const PROJECT_BY_ID = `SELECT ${PROJECT_COLUMNS} FROM projects p
  WHERE p.project_id = ? AND p.deleted_at IS NULL`;
const KEYS_OF_PROJECT = `SELECT ${KEY_COLUMNS} FROM keys WHERE project_id = ?
  ORDER BY created_at, key_id`;
const LIVE_KEY_BY_HASH = `SELECT k.key_id, k.kind, ${PROJECT_COLUMNS} FROM keys k
  JOIN projects p ON p.project_id = k.project_id AND p.deleted_at IS NULL
  WHERE k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`;
const LINK_BY_ID = `${SELECT_LINK} WHERE l.link_id = ?`;
const LINK_BY_LINK_TOKEN = `${SELECT_LINK} WHERE l.link_token_hash = ? AND l.revoked_at IS NULL`;
const LINK_BY_URL_TOKEN = `${SELECT_LINK} WHERE l.url_token_hash = ? AND l.revoked_at IS NULL`;
const MANIFEST_BY_HASH = `SELECT hash, app_name, app_version, tool_count, warnings, instructions,
  tools_text FROM manifests WHERE hash = ?`;

/** Every text this file reads with; a test looks at how SQLite would go about each. */
export const READ_SQL: readonly string[] = [
  PROJECT_BY_ID,
  KEYS_OF_PROJECT,
  LIVE_KEY_BY_HASH,
  LINK_BY_ID,
  LINK_BY_LINK_TOKEN,
  LINK_BY_URL_TOKEN,
  MANIFEST_BY_HASH,
];

export function getProject(db: Connection, projectId: ProjectId): Project | null {
  const row = db.get(PROJECT_BY_ID, projectId);
  return row === undefined ? null : readProject(row);
}

export function listKeys(db: Connection, projectId: ProjectId): readonly ProjectKey[] {
  return db.all(KEYS_OF_PROJECT, projectId).map(readKey);
}

export function findKey(db: Connection, hash: Uint8Array, at: number): FoundKey | null {
  const row = db.get(LIVE_KEY_BY_HASH, hash, at);
  if (row === undefined) return null;
  return { keyId: text(row, "key_id") as KeyId, kind: readKeyKind(row), project: readProject(row) };
}

export function getLink(db: Connection, linkId: LinkId): LinkAndProject | null {
  return readLinkAndProject(db.get(LINK_BY_ID, linkId));
}

export function findLinkByLinkToken(db: Connection, hash: Uint8Array): LinkAndProject | null {
  return readLinkAndProject(db.get(LINK_BY_LINK_TOKEN, hash));
}

export function findLinkByUrlToken(db: Connection, hash: Uint8Array): LinkAndProject | null {
  return readLinkAndProject(db.get(LINK_BY_URL_TOKEN, hash));
}

export function getManifest(db: Connection, hash: string): Manifest | null {
  const row = db.get(MANIFEST_BY_HASH, hash);
  return row === undefined ? null : readManifest(row);
}
