import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { LinkId } from "@relay/protocol";
import { MinuteWindows } from "../core/rate.ts";
import { hashToken, mintLinkId, mintToken } from "../ids.ts";
import { allowsOrigin } from "../relay/project-state.ts";
import type { LinkAndProject, NewLink } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound, rateLimited } from "./errors.ts";
import { json, readInput, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import { isoTime, textOf } from "./shapes.ts";

const ADDRESSES_MAX = 100_000;

const NewLinkInput = z
  .object({ label: textOf(64).optional() }, { error: "must be a JSON object" })
  .openapi("NewLink");

const CreatedLink = z
  .object({
    linkId: z.string(),
    linkToken: z.string(),
    mcpUrl: z.string(),
    socketUrl: z.string(),
    label: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi("CreatedLink");

const LinkView = z
  .object({
    linkId: z.string(),
    label: z.string().nullable(),
    connected: z.boolean(),
    paused: z.boolean(),
    revoked: z.boolean(),
    createdAt: z.string(),
    lastSeenAt: z.string().nullable(),
    lastCallAt: z.string().nullable(),
    app: z.object({ name: z.string(), version: z.string() }).nullable(),
    client: z.object({ name: z.string(), version: z.string() }).nullable(),
    tools: z.number(),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })),
  })
  .openapi("Link");

const LinkPath = z.object({ linkId: z.string() });
const described = (schema: z.ZodType, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** Links: created with a publishable key, looked after with a secret one (SPEC 4 and 9). */
export function addLinkRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  addCreation(api, deps, auth);
  route(
    api,
    {
      method: "get",
      path: "/v1/links/{linkId}",
      request: { params: LinkPath },
      responses: { 200: described(LinkView, "The link.") },
    },
    async (context) => {
      const record = await ownLink(context, deps, auth);
      const hash = record.link.manifestHash;
      const manifest = hash === null ? null : await deps.store.getManifest(hash);
      return json(context, 200, linkView(record, manifest?.warnings ?? []));
    },
  );
  addActions(api, deps, auth);
}

function addCreation(api: Api, deps: ApiDeps, auth: Auth): void {
  const created = new MinuteWindows(ADDRESSES_MAX);
  api.options("/v1/links", (context) => preflight(context));
  route(
    api,
    {
      method: "post",
      path: "/v1/links",
      request: { body: { content: { "application/json": { schema: NewLinkInput } } } },
      responses: { 201: described(CreatedLink, "The link, with its tokens, shown this once.") },
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
        throw new ApiError("ORIGIN_NOT_ALLOWED", "The project does not allow this Origin");
      }
      const input = await readInput(context, NewLinkInput);
      // Asked again: other requests of the address may have come while the body was read.
      const late = created.take(ip, now, deps.limits.linksPerIpPerMinute);
      if (late > 0) throw rateLimited(late);
      return createLink(context, deps, {
        projectId: key.project.projectId,
        label: input.label ?? null,
        madeWithSecretKey: key.kind === "sk",
      });
    },
  );
}

async function createLink(
  context: ApiContext,
  deps: ApiDeps,
  wanted: Pick<NewLink, "projectId" | "label" | "madeWithSecretKey">,
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
    throw new ApiError("LIMIT_REACHED", `The project has ${limits.linksPerProject} links`);
  }
  return json(context, 201, {
    linkId,
    linkToken,
    mcpUrl: node.mcpUrlOf(urlToken),
    socketUrl: `${urls.public.replace(/^http/, "ws")}/v1/socket`,
    label: wanted.label,
    createdAt: isoTime(createdAt),
  });
}

function addActions(api: Api, deps: ApiDeps, auth: Auth): void {
  const { actions } = deps.node;
  const act = (
    name: string,
    answer: z.ZodType,
    run: (record: LinkAndProject) => Promise<Record<string, unknown>>,
  ): void =>
    route(
      api,
      {
        method: "post",
        path: `/v1/links/{linkId}/${name}`,
        request: { params: LinkPath },
        responses: { 200: described(answer, "Done.") },
      },
      async (context) => {
        const record = await ownLink(context, deps, auth);
        if (record.link.revokedAt !== null && name !== "revoke") throw revoked();
        return json(context, 200, { linkId: record.link.linkId, ...(await run(record)) });
      },
    );
  const linkId = z.string();
  act("rotate", z.object({ linkId, mcpUrl: z.string().optional() }), async ({ link }) => {
    const rotated = await actions.rotate(link.linkId, null);
    if (rotated === "gone") throw revoked();
    // The URL is a person's credential: it goes to the app alone, unless the developer made it.
    return link.madeWithSecretKey ? { mcpUrl: rotated.mcpUrl } : {};
  });
  for (const paused of [true, false]) {
    const name = paused ? "pause" : "resume";
    act(name, z.object({ linkId, paused: z.boolean() }), async ({ link }) => {
      if (!(await actions.setPaused(link.linkId, paused, null))) throw revoked();
      return { paused };
    });
  }
  act("revoke", z.object({ linkId, revoked: z.literal(true) }), async ({ link }) => {
    await actions.revoke(link.linkId, null);
    return { revoked: true };
  });
}

/** The link of the path, if it is of the key's project: another's is as unknown as none. */
async function ownLink(context: ApiContext, deps: ApiDeps, auth: Auth): Promise<LinkAndProject> {
  const project = await auth.secretKey(context);
  const linkId = context.req.param("linkId") ?? "";
  // Checked: the shape of an id.
  const record = isUuid(linkId) ? await deps.store.getLink(linkId as LinkId) : null;
  if (record === null || record.link.projectId !== project.projectId) throw notFound("link");
  return record;
}

function linkView({ link }: LinkAndProject, warnings: readonly unknown[]) {
  return {
    linkId: link.linkId,
    label: link.label,
    connected: link.ownerNode !== null,
    paused: link.paused,
    revoked: link.revokedAt !== null,
    createdAt: isoTime(link.createdAt),
    lastSeenAt: isoTime(link.lastSeenAt),
    lastCallAt: isoTime(link.lastCallAt),
    app: link.app,
    client: link.client,
    tools: link.toolCount,
    warnings,
  };
}

function preflight(context: ApiContext): Response {
  return context.body(null, 204, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "86400",
  });
}

function revoked(): ApiError {
  return new ApiError("LINK_REVOKED", "The link was revoked");
}
