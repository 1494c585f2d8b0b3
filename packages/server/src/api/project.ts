import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES, isUuid } from "@relay/protocol";
import type { LinkId, Outcome } from "@relay/protocol";
import type { CallRow, Usage } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { PageQuery, ProjectSettings, givenSettings, isoTime, projectView } from "./shapes.ts";

const Time = z
  .string()
  .refine((text) => Number.isFinite(Date.parse(text)), "must be an ISO 8601 time")
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

const Answer = (description: string) => ({ 200: { description } });

/** What a project's own secret key reads: the project, its calls, its usage (SPEC 9). */
export function addProjectRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    { method: "get", path: "/v1/project", responses: Answer("The key's project.") },
    async (context) => json(context, 200, projectView(await auth.secretKey(context))),
  );
  route(
    api,
    {
      method: "patch",
      path: "/v1/project",
      request: { body: { content: { "application/json": { schema: ProjectPatch } } } },
      responses: Answer("The project as it is now."),
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
      request: { query: CallsQuery },
      responses: Answer("Calls of the project, the newest first."),
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
      request: { query: UsageQuery },
      responses: Answer("What the project used in a month, UTC."),
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

function callView(call: CallRow) {
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
function usageView(usage: Usage) {
  return {
    ...usage,
    allowance: null,
    allowanceLeft: null,
    spentMicros: 0,
    spendCapMicros: null,
    balanceMicros: 0,
    callsLeft: null,
  };
}
