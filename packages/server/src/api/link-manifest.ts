import { z } from "@hono/zod-openapi";
import type { Auth } from "./auth.ts";
import { ownLink } from "./links.ts";
import { route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

const LinkManifest = z
  .object({
    hash: z.string().nullable(),
    app: z.object({ name: z.string(), version: z.string() }).nullable(),
    instructions: z.string().nullable(),
    tools: z.array(z.looseObject({ name: z.string() })).openapi({
      description: "The tools as the app sent them.",
    }),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .openapi("LinkManifest");

const NOT_YET = { hash: null, app: null, instructions: null, warnings: [] } as const;

/** What an app said of itself in the link's last hello. */
export function addLinkManifest(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/links/{linkId}/manifest",
      summary: "Shows the manifest of the link's last hello; before the first it is empty",
      by: "developer",
      answer: LinkManifest,
    },
    async (context) => {
      const { link } = await ownLink(context, deps, auth);
      const hash = link.manifestHash;
      const manifest = hash === null ? null : await deps.store.getManifest(hash);
      const {
        toolsText,
        toolCount: _count,
        ...facts
      } = manifest ?? { ...NOT_YET, toolsText: "[]", toolCount: 0 };
      const head = JSON.stringify(facts).slice(0, -1);
      // As raw text, so that every number of a schema is shown as it was written.
      return context.body(`${head},"tools":${toolsText}}`, 200, {
        "Content-Type": "application/json",
      });
    },
  );
}
