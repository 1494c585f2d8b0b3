import { z } from "@hono/zod-openapi";
import type { Auth } from "./auth.ts";
import { Checklist, checklistView } from "./checklist.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { Time, isoTime } from "./shapes.ts";

const RefusedOrigins = z.object({
  items: z.array(z.object({ origin: z.string(), at: Time, count: z.int() })),
});

/** How far a project has come to its first call, and what stood in its way in the last hour. */
export function addStart(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/api/projects/{projectId}/checklist",
      summary: "Shows how far the project has come to its first call",
      by: "visitor",
      answer: Checklist,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const start = await deps.store.projectStart(projectId);
      return json(context, 200, checklistView(start, deps.node.refusals.lastFault(projectId)));
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/api/projects/{projectId}/refused-origins",
      summary: "Lists the origins that were refused in the last hour, the newest first",
      by: "visitor",
      answer: RefusedOrigins,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const items = deps.node.refusals
        .originsOf(projectId)
        .map((refused) => ({ ...refused, at: isoTime(refused.at) }));
      return json(context, 200, { items } satisfies z.output<typeof RefusedOrigins>);
    },
  );
}
