import { createHash } from "node:crypto";
import type { AppInfo, LinkId, ProjectId } from "@relay/protocol";
import {
  hashToken,
  mintKeyId,
  mintLinkId,
  mintProjectId,
  mintRequestId,
  mintToken,
} from "../../ids.ts";
import type { CallRow, Manifest, NewKey, NewLink, NewProject, Store } from "../store.ts";

/** A Tuesday, not near the end of an hour, a day or a month: 2026-10-13 10:20:00 UTC. */
export const NOON = Date.UTC(2026, 9, 13, 10, 20);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function newProject(changes: Partial<NewProject> = {}): NewProject {
  return {
    projectId: mintProjectId(NOON),
    accountId: null,
    name: "Notes",
    callsPerMinute: 60,
    allowedOrigins: [],
    suspended: false,
    stopped: false,
    freeCallsPerMonth: 1_000,
    priceMicrosPerCall: 1_000,
    spendCapMicros: 10_000_000,
    createdAt: NOON,
    projectsMax: 10,
    ...changes,
  };
}

export function newKey(projectId: ProjectId, changes: Partial<NewKey> = {}): NewKey {
  const plain = mintToken("publishableKey");
  return {
    keyId: mintKeyId(NOON),
    projectId,
    kind: "pk",
    hash: hashToken(plain),
    plain,
    last4: plain.slice(-4),
    createdAt: NOON,
    expiresAt: null,
    ...changes,
  };
}

export function newLink(projectId: ProjectId, changes: Partial<NewLink> = {}): NewLink {
  return {
    linkId: mintLinkId(NOON),
    projectId,
    label: null,
    linkTokenHash: hashToken(mintToken("linkToken")),
    urlTokenHash: hashToken(mintToken("urlToken")),
    madeWithSecretKey: false,
    createdAt: NOON,
    ...changes,
  };
}

/** A manifest whose hash follows from its version, as it would from its text. */
export function manifestOf(version: string, changes: Partial<Manifest> = {}): Manifest {
  const app: AppInfo = { name: "Notes", version };
  const toolsText = `[{"name":"search","inputSchema":{"type":"object"}},{"name":"add","inputSchema":{"type":"object"}}]`;
  return {
    hash: createHash("sha256").update(JSON.stringify(app)).update(toolsText).digest("hex"),
    app,
    instructions: "Search before answering.",
    toolsText,
    toolCount: 2,
    warnings: [],
    ...changes,
  };
}

export function newCall(
  projectId: ProjectId,
  linkId: LinkId,
  changes: Partial<CallRow> = {},
): CallRow {
  return {
    callId: mintToken("callId"),
    projectId,
    linkId,
    tool: "search",
    toolKnown: true,
    client: { name: "claude", version: "1.0" },
    outcome: "ok",
    counted: true,
    startedAt: NOON,
    durationMs: 120,
    requestBytes: 300,
    resultBytes: 2_000,
    requestId: mintRequestId(NOON),
    ...changes,
  };
}

/** Creates a project and returns its id. */
export async function addProject(store: Store, changes: Partial<NewProject> = {}) {
  const project = newProject(changes);
  await store.createProject(project, []);
  return project.projectId;
}

/** Creates a link and returns what it was created from. */
export async function addLink(store: Store, projectId: ProjectId, changes: Partial<NewLink> = {}) {
  const link = newLink(projectId, changes);
  await store.createLink(link, 10_000);
  return link;
}

/** Creates a project with one link in it. */
export async function addLinkedProject(store: Store) {
  const projectId = await addProject(store);
  const link = await addLink(store, projectId);
  return { projectId, link, linkId: link.linkId };
}
