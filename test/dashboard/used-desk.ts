/** A desk whose Relay is in use, with a trial link whose app is connected: for tests that go everywhere. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ECHO, connectApp } from "../e2e/harness.ts";
import type { TestApp, TestLink } from "../e2e/harness.ts";
import { Desk } from "./desk.ts";
import type { Facts } from "./places.ts";
import { SAMPLE_TOOLS, fillSample } from "./sample.ts";

export type UsedDesk = { readonly desk: Desk; readonly facts: Facts; readonly app: TestApp };

export async function openUsedDesk(env: Readonly<Record<string, string>> = {}): Promise<UsedDesk> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-everywhere-"));
  const sample = await fillSample(dataDir, { links: 12, calls: 300 });
  const desk = await Desk.open({ RELAY_BILLING: "prepaid", ...env }, dataDir);
  const { projectId } = sample;
  const made = await desk.ask("POST", `/api/projects/${projectId}/trial-links`, {});
  assert.equal(made.status, 201);
  // What a trial link's making answers.
  const trial = made.body as TestLink;
  const app = await connectApp(trial, { ...ECHO, tools: SAMPLE_TOOLS });
  const linkId = sample.links[0]?.linkId ?? "";
  return { desk, facts: { projectId, linkId, trialLinkId: trial.linkId }, app };
}
