import type { ProjectId } from "@relay/protocol";
import { listDays, tableOf } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { dropOrphan } from "./link-writes.ts";
import { text, textOrNull } from "./rows.ts";
import type { WriteContext } from "./write-context.ts";

/** Rows of calls or roll-ups deleted in one step: about 5 ms. */
const STEP_ROWS = 2_000;
/** Links deleted in one step with their histories, up to 40 rows each. */
const STEP_LINKS = 50;
/** A call that ran when its project was deleted has ended, and its row is written, by then. */
const LAST_ROWS_MS = 3_600_000;

/**
 * Makes a project one that nobody sees any more, and its keys dead; false when there is none. What
 * it had stays until `purgeStep` drops it.
 */
export function deleteProject({ db }: WriteContext, projectId: ProjectId, at: number): boolean {
  const deleted = db.run(
    "UPDATE projects SET deleted_at = ? WHERE project_id = ? AND deleted_at IS NULL",
    at,
    projectId,
  );
  if (deleted === 0) return false;
  db.run("DELETE FROM keys WHERE project_id = ?", projectId);
  // Nobody is told anything any more either.
  db.run("DELETE FROM webhooks WHERE project_id = ?", projectId);
  return true;
}

/**
 * Drops a small part of what a deleted project had: its calls, their roll-ups, its links. False
 * when nothing is left. In steps, so that calls of others which wait to be recorded go in between.
 */
export function purgeStep({ db }: WriteContext, projectId: ProjectId): boolean {
  if (
    db.get("SELECT 1 FROM projects WHERE project_id = ? AND deleted_at IS NOT NULL", projectId) ===
    undefined
  ) {
    return false;
  }
  for (const day of listDays(db)) {
    if (dropRows(db, tableOf(day), "started_at", projectId) > 0) return true;
  }
  return dropRows(db, "call_hours", "hour", projectId) > 0 || dropLinks(db, projectId) > 0;
}

/**
 * Goes on with a project that was deleted over an hour ago, and forgets it once nothing is left;
 * false when there is no such project.
 */
export function purgeOldest(context: WriteContext, now: number): boolean {
  const { db } = context;
  const row = db.get(
    "SELECT project_id FROM projects WHERE deleted_at < ? ORDER BY deleted_at LIMIT 1",
    now - LAST_ROWS_MS,
  );
  if (row === undefined) return false;
  // Written by this store, as a project's id.
  const projectId = text(row, "project_id") as ProjectId;
  if (purgeStep(context, projectId)) return true;
  db.run("DELETE FROM projects WHERE project_id = ?", projectId);
  return true;
}

function dropRows(
  db: Connection,
  table: string,
  time: "started_at" | "hour",
  projectId: ProjectId,
): number {
  return db.run(
    `DELETE FROM ${table} WHERE project_id = ?1 AND ${time} <= ifnull(
       (SELECT ${time} FROM ${table} WHERE project_id = ?1 ORDER BY ${time}
        LIMIT 1 OFFSET ${STEP_ROWS}), ${Number.MAX_SAFE_INTEGER})`,
    projectId,
  );
}

function dropLinks(db: Connection, projectId: ProjectId): number {
  const links = db.all(
    `SELECT link_id, manifest_hash FROM links WHERE project_id = ? LIMIT ${STEP_LINKS}`,
    projectId,
  );
  for (const link of links) {
    db.run("DELETE FROM links WHERE link_id = ?", text(link, "link_id"));
    const hash = textOrNull(link, "manifest_hash");
    if (hash !== null) dropOrphan(db, hash);
  }
  return links.length;
}
