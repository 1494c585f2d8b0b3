import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES, countCodePoints, isUuid } from "@relay/protocol";
import type { LinkId, Outcome } from "@relay/protocol";
import type { CallRow } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import {
  Moment,
  PageQuery,
  ProjectSettings,
  ProjectShape,
  TrueOrFalse,
  givenSettings,
  isoTime,
  pageShape,
  projectView,
} from "./shapes.ts";

const CallsQuery = PageQuery.extend({
  outcome: z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]).optional(),
  counted: TrueOrFalse.optional(),
  linkId: z.string().refine(isUuid, "must be a link id").optional(),
  tool: z.string().max(64, "must be at most 64 characters").optional(),
  client: z
    .string()
    .refine((name) => countCodePoints(name, 64) <= 64, "must be at most 64 characters")
    .optional()
    .openapi({ description: "The host that called: `client.name` of the calls, the whole of it." }),
  from: Moment.optional(),
  to: Moment.optional(),
});

const ClientsQuery = CallsQuery.pick({ from: true, to: true });

const ClientsShape = z
  .object({ items: z.array(z.object({ name: z.string(), calls: z.int() })) })
  .openapi("Clients");

/** `stopped` is the developer's own switch; `suspended` is the operator's. */
const ProjectPatch = ProjectSettings.extend({
  stopped: z.boolean({ error: "must be true or false" }),
})
  .partial()
  .openapi("OwnProjectPatch");

export const CallShape = z
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

/** What a project's own secret key reads: the project and its calls (SPEC 9). */
export function addProjectRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  addProject(api, deps, auth);
  addCalls(api, deps, auth);
}

function addProject(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/project",
      summary: "Shows the key's project",
      by: "developer",
      answer: ProjectShape,
    },
    async (context) => json(context, 200, projectView(await auth.developer(context))),
  );
  route(
    api,
    {
      method: "patch",
      path: "/v1/project",
      summary: "Changes the key's project",
      by: "developer",
      // What is changed says what is needed.
      need: "read",
      body: ProjectPatch,
      answer: ProjectShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const { stopped, ...settings } = await readInput(context, ProjectPatch);
      const { spendCapMicros, ...others } = settings;
      if (spendCapMicros !== undefined) await auth.also(context, "money");
      if (stopped !== undefined || Object.keys(others).length > 0) {
        await auth.also(context, "change");
      }
      const changes = {
        ...givenSettings(settings),
        ...(stopped === undefined ? {} : { stopped }),
      };
      const project = await deps.node.changeProject(projectId, changes);
      if (project === null) throw notFound("project");
      return json(context, 200, projectView(project));
    },
  );
}

function addCalls(api: Api, deps: ApiDeps, auth: Auth): void {
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
      const project = await auth.developer(context);
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
      path: "/v1/clients",
      summary: "Names the hosts of the newest 20,000 calls of a span, the busiest 50 first",
      by: "developer",
      query: ClientsQuery,
      answer: ClientsShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const span = spanOf(readQuery(context, ClientsQuery));
      const items = [...(await deps.store.listClients(projectId, span))];
      return json(context, 200, { items } satisfies z.output<typeof ClientsShape>);
    },
  );
}

function filterOf(query: z.output<typeof CallsQuery>) {
  const { outcome, counted, linkId, tool, client } = query;
  return {
    ...spanOf(query),
    ...(outcome === undefined ? {} : { outcome }),
    ...(counted === undefined ? {} : { counted }),
    // Checked by the query's shape.
    ...(linkId === undefined ? {} : { linkId: linkId as LinkId }),
    ...(tool === undefined ? {} : { tool }),
    ...(client === undefined ? {} : { client }),
  };
}

function spanOf({ from, to }: z.output<typeof ClientsQuery>) {
  if (from !== undefined && to !== undefined && from >= to) {
    throw new ApiError("VALIDATION_ERROR", "from: must be before to");
  }
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** A call as the API shows it. */
export function callView(call: CallRow): z.output<typeof CallShape> {
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
