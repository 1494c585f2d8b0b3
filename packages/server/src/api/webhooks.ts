import { z } from "@hono/zod-openapi";
import type { WebhookEvent } from "../store/webhooks.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { PageQuery, Time, isoTime, pageShape } from "./shapes.ts";

const WEBHOOK = "/v1/webhook";

const WebhookShape = z
  .object({
    url: z.string().nullable(),
    secret: z.string().optional().openapi({
      description: "The signing secret (`whsec_…`), only in the answer to the change that made it.",
    }),
  })
  .openapi("Webhook");

const WebhookPatch = z
  .object({
    url: z.string({ error: "must be a URL or null" }).nullable().optional(),
    newSecret: z.boolean({ error: "must be true or false" }).optional().openapi({
      description: "Whether to make a new signing secret; a new address always gets one.",
    }),
  })
  .openapi("WebhookPatch");

const DeliveryShape = z
  .object({
    id: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()).openapi({
      description: "What the event says, as it is sent.",
    }),
    createdAt: Time,
    state: z.enum(["waiting", "delivered", "failed", "unsent"]),
    attempts: z.int(),
    nextAttemptAt: Time.nullable(),
    lastAttemptAt: Time.nullable(),
    lastStatus: z.int().nullable(),
    lastError: z.string().nullable(),
  })
  .openapi("WebhookDelivery");

/** Where a project's events go, and how they got there. */
export function addWebhookRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  const { webhooks } = deps.billing;
  route(
    api,
    {
      method: "get",
      path: WEBHOOK,
      summary: "Shows where the project's events are sent",
      by: "developer",
      answer: WebhookShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      return json(context, 200, await webhooks.get(projectId));
    },
  );
  route(
    api,
    {
      method: "patch",
      path: WEBHOOK,
      summary: "Sets where the project's events are sent; a new signing secret is shown this once",
      by: "developer",
      body: WebhookPatch,
      answer: WebhookShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const change = await readInput(context, WebhookPatch);
      const settings = await webhooks.change(projectId, change);
      if (settings === "no_project") throw notFound("project");
      if ("fault" in settings) throw new ApiError("VALIDATION_ERROR", `url: ${settings.fault}`);
      return json(context, 200, settings);
    },
  );
  addDeliveries(api, deps, auth);
}

function addDeliveries(api: Api, deps: ApiDeps, auth: Auth): void {
  const { webhooks } = deps.billing;
  route(
    api,
    {
      method: "get",
      path: `${WEBHOOK}/deliveries`,
      summary: "Lists the project's last 100 events and how their delivery went, the newest first",
      by: "developer",
      query: PageQuery,
      answer: pageShape(DeliveryShape),
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const { limit, cursor } = readQuery(context, PageQuery);
      const page = pageOf(await webhooks.deliveries(projectId, { limit, cursor: cursor ?? null }));
      return json(context, 200, {
        items: page.items.map(deliveryView),
        nextCursor: page.nextCursor,
      });
    },
  );
  route(
    api,
    {
      method: "post",
      path: `${WEBHOOK}/test`,
      summary: "Sends an event that says nothing but that it arrives",
      by: "developer",
      status: 201,
      answer: z.object({ id: z.string() }),
      errors: ["CONFLICT"],
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const sent = await webhooks.test(projectId);
      if (sent === null) {
        throw new ApiError("CONFLICT", "The project has no webhook; set its url first");
      }
      return json(context, 201, { id: sent.eventId });
    },
  );
}

/** The data of an event, which was written as one of ours. */
function dataOf({ body }: WebhookEvent): Record<string, unknown> {
  const { data } = JSON.parse(body) as { readonly data: Record<string, unknown> };
  return data;
}

function deliveryView(event: WebhookEvent): z.output<typeof DeliveryShape> {
  return {
    id: event.eventId,
    type: event.type,
    data: dataOf(event),
    createdAt: isoTime(event.createdAt),
    state: event.state,
    attempts: event.attempts,
    nextAttemptAt: isoTime(event.nextAt),
    lastAttemptAt: isoTime(event.lastAttemptAt),
    lastStatus: event.lastStatus,
    lastError: event.lastError,
  };
}
