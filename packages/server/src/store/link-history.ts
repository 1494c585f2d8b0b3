import type { LinkId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import { readLinkSocket, readManifestChange } from "./rows.ts";
import type { LinkHistory } from "./store.ts";

/** Reads what a link's sockets and manifests have been, the newest first; the writer keeps it short. */
export function linkHistory(db: Connection, linkId: LinkId): LinkHistory {
  const sockets = db.all(
    `SELECT connected_at, disconnected_at, close_code, close_reason, app_name, app_version
     FROM link_sockets WHERE link_id = ? ORDER BY epoch DESC`,
    linkId,
  );
  const manifests = db.all(
    `SELECT hash, at, added, removed, changed FROM link_manifests WHERE link_id = ?
     ORDER BY epoch DESC`,
    linkId,
  );
  return { sockets: sockets.map(readLinkSocket), manifests: manifests.map(readManifestChange) };
}
