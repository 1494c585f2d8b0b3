import type { ProjectId } from "@relay/protocol";
import { HOUR_MS, dayOf, listDays, tableOf } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { integer, readOutcome, text } from "./rows.ts";
import type { ProjectStart } from "./store.ts";
import { LOOK_MAX } from "./walk.ts";

/** Looks at how far a project has come: a link, a socket, tools, a host, a call. */
export function projectStart(db: Connection, projectId: ProjectId): ProjectStart {
  const newest = newestSocket(db, projectId);
  const client = db.get(
    `SELECT client_name, client_version FROM links
     WHERE project_id = ? AND client_name IS NOT NULL LIMIT 1`,
    projectId,
  );
  return {
    linkCreated:
      db.get("SELECT 1 FROM links WHERE project_id = ? LIMIT 1", projectId) !== undefined,
    socketReady: newest !== null,
    toolsText: newest,
    firstHost:
      client === undefined
        ? null
        : { name: text(client, "client_name"), version: text(client, "client_version") },
    firstCall: firstGoodCall(db, projectId) ?? newestCall(db, projectId),
  };
}

/** The tools of the link that was seen last, live ones before revoked ones; null before any was. */
function newestSocket(db: Connection, projectId: ProjectId): string | null {
  for (const isLive of [1, 0]) {
    const row = db.get(
      `SELECT l.manifest_hash FROM links l WHERE l.project_id = ? AND l.is_live = ?
       ORDER BY l.seen_order DESC, l.link_id DESC LIMIT 1`,
      projectId,
      isLive,
    );
    const hash = row?.["manifest_hash"];
    if (typeof hash !== "string") continue;
    const manifest = db.get("SELECT tools_text FROM manifests WHERE hash = ?", hash);
    if (manifest !== undefined) return text(manifest, "tools_text");
  }
  return null;
}

/** When a call first went well: to the ms while its row is kept, then to the hour. */
function firstGoodCall(db: Connection, projectId: ProjectId): ProjectStart["firstCall"] {
  const row = db.get(
    "SELECT hour FROM call_hours WHERE project_id = ? AND outcome = 'ok' ORDER BY hour LIMIT 1",
    projectId,
  );
  if (row === undefined) return null;
  const hour = integer(row, "hour");
  const day = dayOf(hour);
  if (!listDays(db).includes(day)) return { outcome: "ok", at: hour };
  const first = db.get(
    `SELECT started_at FROM (SELECT started_at, outcome FROM ${tableOf(day)}
       WHERE project_id = ? AND started_at >= ? AND started_at < ?
       ORDER BY started_at LIMIT ${LOOK_MAX}) WHERE outcome = 'ok' LIMIT 1`,
    projectId,
    hour,
    hour + HOUR_MS,
  );
  return { outcome: "ok", at: first === undefined ? hour : integer(first, "started_at") };
}

function newestCall(db: Connection, projectId: ProjectId): ProjectStart["firstCall"] {
  for (const day of listDays(db)) {
    const row = db.get(
      `SELECT started_at, outcome FROM ${tableOf(day)} WHERE project_id = ?
       ORDER BY started_at DESC LIMIT 1`,
      projectId,
    );
    if (row !== undefined) return { outcome: readOutcome(row), at: integer(row, "started_at") };
  }
  return null;
}
