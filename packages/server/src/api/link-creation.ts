import { z } from "@hono/zod-openapi";
import { MinuteWindows } from "../core/rate.ts";
import { hashToken, mintLinkId, mintToken } from "../ids.ts";
import { allowsOrigin } from "../relay/project-state.ts";
import type { NewLink } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, rateLimited } from "./errors.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import { isoTime, textOf } from "./shapes.ts";

const ADDRESSES_MAX = 100_000;

export const NewLinkInput = z
  .object({ label: textOf(64).optional() }, { error: "must be a JSON object" })
  .openapi("NewLink");

/** A new link as its maker is shown it: with its tokens, this once. */
export const CreatedLink = z
  .object({
    linkId: z.string(),
    linkToken: z.string(),
    mcpUrl: z.string(),
    socketUrl: z.string(),
    label: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi("CreatedLink");

/** `POST /v1/links`: an app makes a link for its person, from anywhere, browsers too (SPEC 4). */
export function addLinkCreation(api: Api, deps: ApiDeps, auth: Auth): void {
  const created = new MinuteWindows(ADDRESSES_MAX);
  api.options("/v1/links", (context) => preflight(context));
  route(
    api,
    {
      method: "post",
      path: "/v1/links",
      summary: "Creates a link; its tokens are shown this once",
      by: "app",
      body: NewLinkInput,
      status: 201,
      answer: CreatedLink,
      errors: ["PROJECT_SUSPENDED", "ORIGIN_NOT_ALLOWED", "LIMIT_REACHED"],
    },
    async (context) => {
      context.header("Access-Control-Allow-Origin", "*");
      context.header("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
      const { ip } = context.var.exchange;
      const now = deps.clock.monotonic();
      const key = await auth.anyKey(context);
      const wait = created.wait(ip, now, deps.limits.linksPerIpPerMinute);
      if (wait > 0) throw rateLimited(wait);
      if (key.project.suspended || key.project.stopped) {
        throw new ApiError("PROJECT_SUSPENDED", "The project is suspended");
      }
      if (!allowsOrigin(key.project, context.req.header("origin") ?? null)) {
        const origin = context.req.header("origin") ?? "";
        deps.node.refusals.originRefused(key.project.projectId, origin);
        throw new ApiError("ORIGIN_NOT_ALLOWED", "The project does not allow this Origin");
      }
      const input = await readInput(context, NewLinkInput);
      // Asked again: other requests of the address may have come while the body was read.
      const late = created.take(ip, now, deps.limits.linksPerIpPerMinute);
      if (late > 0) throw rateLimited(late);
      try {
        return await createLink(context, deps, {
          projectId: key.project.projectId,
          label: input.label ?? null,
          madeWithSecretKey: key.kind === "sk",
        });
      } catch (error) {
        // Only links that were created use up the minute.
        created.giveBack(ip);
        throw error;
      }
    },
  );
}

/** Makes a link and answers with its tokens, which are shown this once. */
export async function createLink(
  context: ApiContext,
  deps: ApiDeps,
  wanted: Pick<NewLink, "projectId" | "label" | "madeWithSecretKey" | "trial">,
): Promise<Response> {
  const { store, node, clock, limits, urls } = deps;
  const createdAt = clock.wall();
  const linkId = mintLinkId(createdAt);
  const linkToken = mintToken("linkToken");
  const urlToken = mintToken("urlToken");
  const outcome = await store.createLink(
    {
      ...wanted,
      linkId,
      createdAt,
      linkTokenHash: hashToken(linkToken),
      urlTokenHash: hashToken(urlToken),
    },
    limits.linksPerProject,
  );
  if (!outcome.created) {
    // Without the project, whatever opened it opens nothing any more.
    if (outcome.reason === "no_project") throw new ApiError("UNAUTHORIZED", "The project is gone");
    throw new ApiError("LIMIT_REACHED", `The project has ${limits.linksPerProject} links`);
  }
  node.live.linkChanged({ ...wanted, linkId, ownerNode: null, paused: false, revokedAt: null });
  return json(context, 201, {
    linkId,
    linkToken,
    mcpUrl: node.mcpUrlOf(urlToken),
    socketUrl: `${urls.public.replace(/^http/, "ws")}/v1/socket`,
    label: wanted.label,
    createdAt: isoTime(createdAt),
  });
}

function preflight(context: ApiContext): Response {
  return context.body(null, 204, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "86400",
  });
}
