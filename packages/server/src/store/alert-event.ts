import type { ProjectId } from "@relay/protocol";
import type { Alert, AlertFacts } from "../core/ledger-alerts.ts";
import { mintEventId } from "../ids.ts";
import type { NewEvent } from "./webhooks.ts";

/** Writes an alert down as the event that a project's webhook gets. */
export function alertEvent(
  alert: Alert,
  facts: AlertFacts,
  project: { readonly projectId: ProjectId; readonly name: string; readonly month: string },
  at: number,
): NewEvent {
  const { projectId, name, month } = project;
  const data = { projectId, projectName: name, month, ...factsOf(alert, facts) };
  return {
    eventId: mintEventId(at),
    projectId,
    type: alert.type,
    body: JSON.stringify({ type: alert.type, timestamp: new Date(at).toISOString(), data }),
    createdAt: at,
  };
}

/** What an alert is about, in numbers. */
function factsOf(alert: Alert, facts: AlertFacts): Readonly<Record<string, number | null>> {
  const { percent } = alert;
  switch (alert.type) {
    case "allowance.reached":
      return { percent, counted: facts.counted, allowance: facts.segment.allowance };
    case "spend_cap.reached":
      return { percent, spentMicros: facts.spentMicros, spendCapMicros: facts.capMicros };
    case "balance.low":
      return { balanceMicros: facts.balanceMicros, lowBalanceMicros: facts.lowBalanceMicros };
  }
}
