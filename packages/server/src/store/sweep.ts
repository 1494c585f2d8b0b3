import type { ProjectId } from "@relay/protocol";
import { dropOldAudit } from "./audit-log.ts";
import { DAY_MS, dropExpired, expireOldestDay } from "./call-days.ts";
import type { Connection } from "./connection.ts";
import { dropOrphan } from "./link-writes.ts";
import { purgeOldest } from "./project-removal.ts";
import { text, textOrNull } from "./rows.ts";
import type { SweepRules } from "./store.ts";
import type { WriteContext } from "./write-context.ts";

/**
 * What the next step of a sweep does. A sweep is many small writes, so that calls which wait to be
 * recorded go in between.
 */
export type SweepStep =
  | {
      readonly drop:
        | "deleted_projects"
        | "unused_links"
        | "revoked_links"
        | "days"
        | "expired_days"
        | "audit"
        | "space";
    }
  | { readonly drop: "roll_ups"; readonly after: ProjectId | "" };

export const FIRST_SWEEP_STEP: SweepStep = { drop: "deleted_projects" };

/** Rows of unused links or roll-ups deleted in one step, give or take one hour of one project. */
const STEP_ROWS = 200;
/** Links deleted in one step with their histories, up to 40 rows each. */
const STEP_LINKS = 50;
/** Projects whose roll-ups are looked at in one step. */
const STEP_PROJECTS = 100;
/** Pages given back to the file system in one step. */
const STEP_PAGES = 100;
/** Empty pages stay for tomorrow's rows, unless they are a fifth of the file and over 16 MiB. */
const SPARE_PAGES = 4_096;

/** Does one step by the rules and says what comes next; null when the sweep is over. */
export function sweepStep(
  context: WriteContext,
  rules: SweepRules,
  step: SweepStep,
): SweepStep | null {
  switch (step.drop) {
    case "deleted_projects":
      return purgeOldest(context, rules.now) ? step : { drop: "unused_links" };
    case "unused_links":
      return dropUnusedLinks(context, rules) ? step : { drop: "revoked_links" };
    case "revoked_links":
      return dropRevokedLinks(context, rules) ? step : { drop: "expired_days" };
    case "days": {
      const cutoff = rules.now - rules.callRetentionDays * DAY_MS;
      context.dayInserts.clear();
      return expireOldestDay(context.db, cutoff)
        ? { drop: "expired_days" }
        : { drop: "roll_ups", after: "" };
    }
    case "expired_days":
      return dropExpired(context.db) ? step : { drop: "days" };
    case "roll_ups":
      return dropRollUps(context, rules, step.after);
    case "audit":
      return dropOldAudit(context, rules.now) ? step : { drop: "space" };
    case "space":
      return giveBackSpace(context) ? step : null;
  }
}

function dropUnusedLinks({ db }: WriteContext, rules: SweepRules): boolean {
  const dropped = db.run(
    `DELETE FROM links WHERE link_id IN
       (SELECT link_id FROM links WHERE last_seen_at IS NULL AND revoked_at IS NULL
          AND created_at < ? LIMIT ${STEP_ROWS})`,
    rules.now - rules.unusedLinkDays * DAY_MS,
  );
  return dropped > 0;
}

function dropRevokedLinks({ db }: WriteContext, rules: SweepRules): boolean {
  const links = db.all(
    `SELECT link_id, manifest_hash FROM links WHERE revoked_at < ? LIMIT ${STEP_LINKS}`,
    rules.now - rules.revokedLinkDays * DAY_MS,
  );
  for (const link of links) {
    db.run("DELETE FROM links WHERE link_id = ?", text(link, "link_id"));
    const hash = textOrNull(link, "manifest_hash");
    if (hash !== null) dropOrphan(db, hash);
  }
  return links.length > 0;
}

/** Goes through the projects, since the roll-ups of one project lie together. */
function dropRollUps({ db }: WriteContext, rules: SweepRules, after: ProjectId | ""): SweepStep {
  const now = new Date(rules.now);
  const cutoff = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - rules.rollUpMonths);
  const projects = db.all(
    `SELECT project_id FROM projects WHERE project_id > ? ORDER BY project_id LIMIT ${STEP_PROJECTS}`,
    after,
  );
  let done = after;
  for (const project of projects) {
    const projectId = text(project, "project_id") as ProjectId;
    const dropped = db.run(
      `DELETE FROM call_hours WHERE project_id = ?1 AND hour < ?2 AND hour <= ifnull(
         (SELECT hour FROM call_hours WHERE project_id = ?1 ORDER BY hour
          LIMIT 1 OFFSET ${STEP_ROWS}), ?2)`,
      projectId,
      cutoff,
    );
    if (dropped >= STEP_ROWS) return { drop: "roll_ups", after: done };
    done = projectId;
  }
  return projects.length < STEP_PROJECTS ? { drop: "audit" } : { drop: "roll_ups", after: done };
}

/** Gives empty pages back to the file system; false when there are few enough, or none will go. */
function giveBackSpace({ db }: WriteContext): boolean {
  const free = countIn(db, "freelist_count");
  if (free <= SPARE_PAGES || free <= countIn(db, "page_count") / 5) return false;
  db.exec(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
  return countIn(db, "freelist_count") < free;
}

function countIn(db: Connection, pragma: "freelist_count" | "page_count"): number {
  return Number(db.get(`PRAGMA ${pragma}`)?.[pragma] ?? 0);
}
