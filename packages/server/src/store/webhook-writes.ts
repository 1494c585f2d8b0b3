import type { ProjectId } from "@relay/protocol";
import type { Attempt, NewEvent, Webhook } from "./webhooks.ts";
import type { WriteContext } from "./write-context.ts";

/** Events kept of each project. */
const EVENTS_KEPT = 100;

export function setWebhook(
  { db }: WriteContext,
  projectId: ProjectId,
  webhook: Webhook | null,
  at: number,
): boolean {
  if (db.get("SELECT 1 FROM projects WHERE project_id = ?", projectId) === undefined) return false;
  if (webhook === null) {
    db.run("DELETE FROM webhooks WHERE project_id = ?", projectId);
    db.run(
      `UPDATE webhook_events SET state = 'unsent', next_at = NULL
       WHERE project_id = ? AND state = 'waiting'`,
      projectId,
    );
    return true;
  }
  db.run(
    `INSERT INTO webhooks (project_id, url, sealed_secret, changed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET url = excluded.url, sealed_secret = excluded.sealed_secret,
       changed_at = excluded.changed_at`,
    projectId,
    webhook.url,
    webhook.sealedSecret,
    at,
  );
  return true;
}

/** Adds an event; without an address it is kept as `unsent` where `keepsUnsent` says so. */
export function addEvent(
  { db }: WriteContext,
  event: NewEvent,
  keepsUnsent = false,
): "added" | "no_webhook" {
  const { projectId, createdAt } = event;
  const goes = db.get("SELECT 1 FROM webhooks WHERE project_id = ?", projectId) !== undefined;
  if (!goes && !keepsUnsent) return "no_webhook";
  db.run(
    `INSERT INTO webhook_events (event_id, project_id, type, body, created_at, state, next_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    event.eventId,
    projectId,
    event.type,
    event.body,
    createdAt,
    goes ? "waiting" : "unsent",
    goes ? createdAt : null,
  );
  db.run(
    `DELETE FROM webhook_events WHERE event_id IN
       (SELECT event_id FROM webhook_events WHERE project_id = ?
        ORDER BY created_at DESC, event_id DESC LIMIT -1 OFFSET ${EVENTS_KEPT})`,
    projectId,
  );
  return goes ? "added" : "no_webhook";
}

/** An event that lost its address meanwhile stays as it is. */
export function noteAttempt({ db }: WriteContext, eventId: string, attempt: Attempt): void {
  db.run(
    `UPDATE webhook_events SET state = ?, next_at = ?, attempts = attempts + 1,
       last_attempt_at = ?, last_status = ?, last_error = ?
     WHERE event_id = ? AND state = 'waiting'`,
    attempt.state,
    attempt.nextAt,
    attempt.at,
    attempt.status,
    attempt.error,
    eventId,
  );
}
