import type { LinkId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import { text } from "./rows.ts";
import type { Link, LinkClaim, SocketClose } from "./store.ts";
import type { WriteContext } from "./write-context.ts";

/** How many of its sockets and of its manifests' changes a link keeps (SPEC 11). */
const KEPT = 20;

/** Writes down that the claim's socket is the link's: `link` is how it stands after the claim. */
export function noteConnected(db: Connection, link: Link, claim: LinkClaim): void {
  const { linkId, ownerEpoch } = link;
  db.run(
    `INSERT INTO link_sockets (link_id, epoch, node, connected_at, app_name, app_version)
     VALUES (?, ?, ?, ?, ?, ?)`,
    linkId,
    ownerEpoch,
    claim.node,
    claim.at,
    claim.manifest.app.name,
    claim.manifest.app.version,
  );
  // Every claim takes the next epoch and has a row, so the oldest epochs are the oldest rows.
  if (ownerEpoch <= KEPT) return;
  const sql = "DELETE FROM link_sockets WHERE link_id = ? AND epoch <= ?";
  db.run(sql, linkId, ownerEpoch - KEPT);
}

/**
 * Writes down how the socket of exactly this epoch ended, whoever owns the link by then; null where
 * nobody saw it. Only the first end counts.
 */
export function noteDisconnected(
  db: Connection,
  linkId: LinkId,
  epoch: number,
  end: { readonly at: number; readonly close: SocketClose | null },
): void {
  db.run(
    `UPDATE link_sockets SET disconnected_at = max(connected_at, ?), close_code = ?,
       close_reason = ? WHERE link_id = ? AND epoch = ? AND disconnected_at IS NULL`,
    end.at,
    end.close?.code ?? null,
    end.close?.reason ?? null,
    linkId,
    epoch,
  );
}

/** Marks the open socket of this epoch as taken over: from now on its end is not its link's. */
export function noteTakenOver(db: Connection, linkId: LinkId, epoch: number): void {
  const sql = "UPDATE link_sockets SET taken_over = 1 WHERE link_id = ? AND epoch = ?";
  db.run(sql, linkId, epoch);
}

/**
 * Ends up to `max` sockets of a node that were taken over and that nobody saw close, and returns how
 * many.
 */
export function noteTakenOverLost(db: Connection, node: string, at: number, max: number): number {
  return db.run(
    `UPDATE link_sockets SET disconnected_at = max(connected_at, ?1)
     WHERE (link_id, epoch) IN (SELECT link_id, epoch FROM link_sockets
       WHERE node = ?2 AND taken_over = 1 AND disconnected_at IS NULL LIMIT ?3)`,
    at,
    node,
    max,
  );
}

/** Writes down that a link's manifest is another one now; the one before is still stored. */
export function noteManifest(
  { db, manifestChanges }: WriteContext,
  { linkId, ownerEpoch }: Link,
  hashBefore: string | null,
  { manifest, at }: LinkClaim,
): void {
  const changes = manifestChanges.between(
    hashBefore === null ? null : { hash: hashBefore, toolsText: () => toolsOf(db, hashBefore) },
    { hash: manifest.hash, toolsText: () => manifest.toolsText },
  );
  db.run(
    `INSERT INTO link_manifests (link_id, epoch, hash, at, added, removed, changed)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    linkId,
    ownerEpoch,
    manifest.hash,
    at,
    changes.added,
    changes.removed,
    changes.changed,
  );
  db.run(
    `DELETE FROM link_manifests WHERE link_id = ?1 AND epoch <=
       (SELECT epoch FROM link_manifests WHERE link_id = ?1 ORDER BY epoch DESC
        LIMIT 1 OFFSET ${KEPT})`,
    linkId,
  );
}

function toolsOf(db: Connection, hash: string): string {
  const row = db.get("SELECT tools_text FROM manifests WHERE hash = ?", hash);
  // A link points to it, so it is there.
  return text(row ?? {}, "tools_text");
}
