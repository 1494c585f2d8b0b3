import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES, isUuid } from "@relay/protocol";
import type { LinkId, Outcome } from "@relay/protocol";
import type { CallRow, Usage } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import {
  PageQuery,
  ProjectSettings,
  ProjectShape,
  givenSettings,
  isoTime,
  pageShape,
  projectView,
} from "./shapes.ts";

/** A moment with its offset, or a day, which begins at midnight UTC. */
const Time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: "must be an ISO 8601 time" })
  .transform((text) => Date.parse(text));

const CallsQuery = PageQuery.extend({
  outcome: z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]).optional(),
  counted: z
    .enum(["true", "false"], { error: "must be true or false" })
    .transform((text) => text === "true")
    .optional(),
  linkId: z.string().refine(isUuid, "must be a link id").optional(),
  tool: z.string().max(64, "must be at most 64 characters").optional(),
  from: Time.optional(),
  to: Time.optional(),
});

const UsageQuery = z.object({
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month such as 2026-07")
    .optional(),
});

/** `stopped` is the developer's own switch; `suspended` is the operator's. */
const ProjectPatch = ProjectSettings.extend({
  stopped: z.boolean({ error: "must be true or false" }),
})
  .partial()
  .openapi("OwnProjectPatch");

const CallShape = z
  .object({
    id: z.string(),
    linkId: z.string(),
    tool: z.string(),
    client: z.object({ name: z.string(), version: z.string() }).nullable(),
    outcome: z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]),
    counted: z.boolean(),
    startedAt: z.string(),
    durationMs: z.int(),
    requestBytes: z.int(),
    resultBytes: z.int(),
    requestId: z.string(),
  })
  .openapi("Call");

const UsageShape = z
  .object({
    month: z.string(),
    counted: z.int(),
    total: z.int(),
    byOutcome: z.partialRecord(z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]), z.int()),
    days: z.array(z.object({ day: z.string(), counted: z.int(), total: z.int() })),
    allowance: z.int().nullable(),
    allowanceLeft: z.int().nullable(),
    spentMicros: z.int(),
    spendCapMicros: z.int().nullable(),
    balanceMicros: z.int(),
    callsLeft: z.int().nullable(),
  })
  .openapi("Usage");

/** What a project's own secret key reads: the project, its calls, its usage (SPEC 9). */
export function addProjectRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/project",
      summary: "Shows the key's project",
      by: "developer",
      answer: ProjectShape,
    },
    async (context) => json(context, 200, projectView(await auth.secretKey(context))),
  );
  route(
    api,
    {
      method: "patch",
      path: "/v1/project",
      summary: "Changes the key's project",
      by: "developer",
      body: ProjectPatch,
      answer: ProjectShape,
    },
    async (context) => {
      const { projectId } = await auth.secretKey(context);
      const { stopped, ...settings } = await readInput(context, ProjectPatch);
      const changes = {
        ...givenSettings(settings),
        ...(stopped === undefined ? {} : { stopped }),
      };
      const project = await deps.node.changeProject(projectId, changes);
      if (project === null) throw notFound("project");
      return json(context, 200, projectView(project));
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/calls",
      summary: "Lists the project's calls, the newest first",
      by: "developer",
      query: CallsQuery,
      answer: pageShape(CallShape),
    },
    async (context) => {
      const project = await auth.secretKey(context);
      const query = readQuery(context, CallsQuery);
      const wanted = { limit: query.limit, cursor: query.cursor ?? null };
      const page = pageOf(await deps.store.listCalls(project.projectId, filterOf(query), wanted));
      return json(context, 200, { items: page.items.map(callView), nextCursor: page.nextCursor });
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/usage",
      summary: "Shows what the project used in a month, UTC",
      by: "developer",
      query: UsageQuery,
      answer: UsageShape,
    },
    async (context) => {
      const project = await auth.secretKey(context);
      const thisMonth = new Date(deps.clock.wall()).toISOString().slice(0, 7);
      const month = readQuery(context, UsageQuery).month ?? thisMonth;
      return json(context, 200, usageView(await deps.store.usage(project.projectId, month)));
    },
  );
}

function filterOf(query: z.output<typeof CallsQuery>) {
  const { outcome, counted, linkId, tool, from, to } = query;
  if (from !== undefined && to !== undefined && from >= to) {
    throw new ApiError("VALIDATION_ERROR", "from: must be before to");
  }
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(counted === undefined ? {} : { counted }),
    // Checked by the query's shape.
    ...(linkId === undefined ? {} : { linkId: linkId as LinkId }),
    ...(tool === undefined ? {} : { tool }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function callView(call: CallRow): z.output<typeof CallShape> {
  return {
    id: call.callId,
    linkId: call.linkId,
    tool: call.tool,
    client: call.client,
    outcome: call.outcome,
    counted: call.counted,
    startedAt: isoTime(call.startedAt),
    durationMs: call.durationMs,
    requestBytes: call.requestBytes,
    resultBytes: call.resultBytes,
    requestId: call.requestId,
  };
}

/** In billing mode `off` there is no allowance and no money: null is unlimited. */
function usageView(usage: Usage): z.output<typeof UsageShape> {
  return {
    ...usage,
    days: [...usage.days],
    allowance: null,
    allowanceLeft: null,
    spentMicros: 0,
    spendCapMicros: null,
    balanceMicros: 0,
    callsLeft: null,
  };
}
