import type { LinkId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import {
  noteConnected,
  noteDisconnected,
  noteManifest,
  noteTakenOver,
  noteTakenOverLost,
} from "./link-history-writes.ts";
import { getLink } from "./reads.ts";
import { bytes, integer, text, textOrNull } from "./rows.ts";
import type {
  ClaimedLink,
  Client,
  CreatedLink,
  LinkClaim,
  LinkRotation,
  Manifest,
  NewLink,
  SocketClose,
} from "./store.ts";
import type { WriteContext } from "./write-context.ts";

/** A link that never connected gives way once it is so old (SPEC 4). */
const GIVES_WAY_AFTER_MS = 3_600_000;

export function createLink({ db }: WriteContext, link: NewLink, linksMax: number): CreatedLink {
  const { projectId } = link;
  const project = db.get(
    "SELECT live_links FROM projects WHERE project_id = ? AND deleted_at IS NULL",
    projectId,
  );
  if (project === undefined) return { created: false, reason: "no_project" };
  let gaveWay: LinkId | null = null;
  if (integer(project, "live_links") >= linksMax) {
    gaveWay = dropOldestUnused(db, projectId, link.createdAt - GIVES_WAY_AFTER_MS);
    if (gaveWay === null) return { created: false, reason: "limit_reached" };
  }
  db.run(
    `INSERT INTO links (link_id, project_id, label, label_order, created_at, link_token_hash,
       url_token_hash, made_with_secret_key, trial) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    link.linkId,
    projectId,
    link.label,
    labelOrder(link.label),
    link.createdAt,
    link.linkTokenHash,
    link.urlTokenHash,
    Number(link.madeWithSecretKey),
    Number(link.trial === true),
  );
  return { created: true, gaveWay };
}

function dropOldestUnused(db: Connection, projectId: string, createdBy: number): LinkId | null {
  const row = db.get(
    `DELETE FROM links WHERE link_id =
       (SELECT link_id FROM links WHERE project_id = ? AND created_at < ? AND last_seen_at IS NULL
          AND revoked_at IS NULL ORDER BY created_at LIMIT 1) RETURNING link_id`,
    projectId,
    createdBy,
  );
  return row === undefined ? null : (text(row, "link_id") as LinkId);
}

export function claimLink(context: WriteContext, claim: LinkClaim): ClaimedLink | "gone" {
  const { db } = context;
  const before = db.get(
    `SELECT manifest_hash, owner_node, owner_epoch FROM links
     WHERE link_id = ? AND revoked_at IS NULL`,
    claim.linkId,
  );
  if (before === undefined) return "gone";
  const hashBefore = textOrNull(before, "manifest_hash");
  const hasChanged = hashBefore !== claim.manifest.hash;
  if (hasChanged) insertManifest(db, claim.manifest);
  db.run(
    `UPDATE links SET owner_node = ?, owner_epoch = owner_epoch + 1, manifest_hash = ?,
       last_seen_at = max(ifnull(last_seen_at, 0), ?) WHERE link_id = ?`,
    claim.node,
    claim.manifest.hash,
    claim.at,
    claim.linkId,
  );
  const claimed = getLink(db, claim.linkId);
  if (claimed === null) return "gone";
  if (before["owner_node"] !== null) {
    noteTakenOver(db, claim.linkId, integer(before, "owner_epoch"));
  }
  noteConnected(db, claimed.link, claim);
  if (hasChanged) noteManifest(context, claimed.link, hashBefore, claim);
  if (hasChanged && hashBefore !== null) dropOrphan(db, hashBefore);
  return claimed;
}

function insertManifest(db: Connection, manifest: Manifest): void {
  // Most apps of a project send the same one: its text is not even handed to SQLite again.
  if (db.get("SELECT 1 FROM manifests WHERE hash = ?", manifest.hash) !== undefined) return;
  db.run(
    `INSERT INTO manifests (hash, app_name, app_version, tool_count, warnings, instructions,
       tools_text) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    manifest.hash,
    manifest.app.name,
    manifest.app.version,
    manifest.toolCount,
    JSON.stringify(manifest.warnings),
    manifest.instructions,
    manifest.toolsText,
  );
}

/** Deletes a manifest that no link points to any more (SPEC 11). */
export function dropOrphan(db: Connection, hash: string): void {
  db.run(
    `DELETE FROM manifests WHERE hash = ?1
       AND NOT EXISTS (SELECT 1 FROM links WHERE manifest_hash = ?1)`,
    hash,
  );
}

export function releaseLink(
  { db }: WriteContext,
  linkId: LinkId,
  epoch: number,
  at: number,
  close: SocketClose | null,
): void {
  db.run(
    `UPDATE links SET owner_node = NULL, last_seen_at = max(ifnull(last_seen_at, 0), ?)
     WHERE link_id = ? AND owner_epoch = ? AND owner_node IS NOT NULL`,
    at,
    linkId,
    epoch,
  );
  // A newer socket may own the link: this one's end is a part of its history all the same.
  noteDisconnected(db, linkId, epoch, { at, close });
}

/** Links released in one write: about 10 ms. */
const RELEASE_MAX = 500;

/** How many ownerships one write ended, and whether there may be more. */
export type Released = { readonly links: number; readonly isDone: boolean };

/** Ends up to `RELEASE_MAX` ownerships of a node, and as many of its sockets that were taken over. */
export function releaseSome(context: WriteContext, node: string, at: number): Released {
  const { db } = context;
  const owned = db.all(
    `SELECT link_id, owner_epoch FROM links WHERE owner_node = ? LIMIT ${RELEASE_MAX}`,
    node,
  );
  for (const link of owned) {
    const linkId = text(link, "link_id") as LinkId;
    releaseLink(context, linkId, integer(link, "owner_epoch"), at, null);
  }
  const sockets = noteTakenOverLost(db, node, at, RELEASE_MAX);
  return { links: owned.length, isDone: owned.length < RELEASE_MAX && sockets < RELEASE_MAX };
}

export function rotateLink(
  { db }: WriteContext,
  rotation: LinkRotation,
): { readonly before: Uint8Array } | "gone" {
  const row = db.get(
    "SELECT url_token_hash FROM links WHERE link_id = ? AND revoked_at IS NULL",
    rotation.linkId,
  );
  if (row === undefined) return "gone";
  db.run(
    "UPDATE links SET url_token_hash = ?, sealed_url = ? WHERE link_id = ?",
    rotation.urlTokenHash,
    rotation.sealedUrl,
    rotation.linkId,
  );
  return { before: bytes(row, "url_token_hash") };
}

export function forgetSealedUrl(
  { db }: WriteContext,
  linkId: LinkId,
  urlTokenHash: Uint8Array,
): void {
  db.run(
    "UPDATE links SET sealed_url = NULL WHERE link_id = ? AND url_token_hash = ?",
    linkId,
    urlTokenHash,
  );
}

export function setLinkPaused({ db }: WriteContext, linkId: LinkId, paused: boolean): boolean {
  const sql = "UPDATE links SET paused = ? WHERE link_id = ? AND revoked_at IS NULL";
  return db.run(sql, Number(paused), linkId) > 0;
}

export function setLinkLabel({ db }: WriteContext, linkId: LinkId, label: string | null): boolean {
  const sql =
    "UPDATE links SET label = ?, label_order = ? WHERE link_id = ? AND revoked_at IS NULL";
  return db.run(sql, label, labelOrder(label), linkId) > 0;
}

/** The form of a label that is sorted by and searched in, so that case makes no difference. */
export function labelOrder(label: string | null): string {
  return label === null ? "\u{10ffff}" : label.normalize("NFC").toLowerCase();
}

export function revokeLink({ db }: WriteContext, linkId: LinkId, at: number): boolean {
  // A revoked link has no URL to tell any more.
  const sql =
    "UPDATE links SET revoked_at = ifnull(revoked_at, ?), sealed_url = NULL WHERE link_id = ?";
  return db.run(sql, at, linkId) > 0;
}

/** One link's latest MCP client. */
export type ClientSeen = { readonly linkId: LinkId; readonly client: Client };

export function writeClients({ db }: WriteContext, seen: readonly ClientSeen[]): void {
  for (const { linkId, client } of seen) {
    db.run(
      "UPDATE links SET client_name = ?, client_version = ? WHERE link_id = ?",
      client.name,
      client.version,
      linkId,
    );
  }
}
