import { z } from "@hono/zod-openapi";
import { isUuid } from "@relay/protocol";
import type { LinkId } from "@relay/protocol";
import type { Link, LinkAndProject } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError, notFound } from "./errors.ts";
import { json, pageOf, readInput, readQuery, route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import { PageQuery, TrueOrFalse, isoTime, pageShape, textOf } from "./shapes.ts";

const LinkShape = z
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
    trial: z.boolean().openapi({
      description: "Whether it was made in the dashboard to try the app: no person's link.",
    }),
  })
  .openapi("Link");

const LinksQuery = PageQuery.extend({
  state: z
    .enum(["online", "offline", "paused", "never", "revoked"], {
      error: "must be online, offline, paused, never or revoked",
    })
    .optional(),
  label: textOf(64).optional(),
  trial: TrueOrFalse.optional().openapi({
    description: "Whether links made in the dashboard to try the app, or those of persons.",
  }),
  sort: z
    .enum(["-lastSeenAt", "lastSeenAt", "-createdAt", "createdAt", "label"], {
      error: "must be -lastSeenAt, lastSeenAt, -createdAt, createdAt or label",
    })
    .default("-createdAt"),
});

const LinkPatch = z
  .object({ label: textOf(64).nullable().optional() }, { error: "must be a JSON object" })
  .openapi("LinkPatch");

/** A project's links, looked after with its secret key (SPEC 9). */
export function addLinkRoutes(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/links/{linkId}",
      summary: "Shows a link",
      by: "developer",
      answer: LinkShape,
    },
    async (context) => {
      const { link } = await ownLink(context, deps, auth);
      return json(context, 200, await linkWithWarnings(link, deps));
    },
  );
  addList(api, deps, auth);
  addPatch(api, deps, auth);
  addActions(api, deps, auth);
}

function addList(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/links",
      summary: "Lists the project's links",
      by: "developer",
      query: LinksQuery,
      answer: pageShape(LinkShape),
    },
    async (context) => {
      const project = await auth.developer(context);
      const { limit, cursor, sort, state, label, trial } = readQuery(context, LinksQuery);
      const filter = {
        sort,
        ...(state === undefined ? {} : { state }),
        ...(label === undefined ? {} : { label }),
        ...(trial === undefined ? {} : { trial }),
      };
      const wanted = { limit, cursor: cursor ?? null };
      const page = pageOf(await deps.store.listLinks(project.projectId, filter, wanted));
      const items = page.items.map((link) => linkView(link, link.warnings));
      return json(context, 200, { items, nextCursor: page.nextCursor });
    },
  );
}

function addPatch(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "patch",
      path: "/v1/links/{linkId}",
      summary: "Changes a link's label",
      by: "developer",
      body: LinkPatch,
      answer: LinkShape,
      errors: ["LINK_REVOKED"],
    },
    async (context) => {
      const { link } = await ownLink(context, deps, auth);
      if (link.revokedAt !== null) throw revoked();
      const { label } = await readInput(context, LinkPatch);
      if (label !== undefined && !(await deps.store.setLinkLabel(link.linkId, label))) {
        throw revoked();
      }
      const changed = label === undefined ? link : { ...link, label };
      return json(context, 200, await linkWithWarnings(changed, deps));
    },
  );
}

function addActions(api: Api, deps: ApiDeps, auth: Auth): void {
  const { actions } = deps.node;
  const act = (
    name: string,
    summary: string,
    answer: z.ZodType,
    run: (record: LinkAndProject) => Promise<Record<string, unknown>>,
  ): void =>
    route(
      api,
      {
        method: "post",
        path: `/v1/links/{linkId}/${name}`,
        summary,
        by: "developer",
        answer,
        errors: name === "revoke" ? [] : ["LINK_REVOKED"],
      },
      async (context) => {
        const record = await ownLink(context, deps, auth);
        if (record.link.revokedAt !== null && name !== "revoke") throw revoked();
        return json(context, 200, { linkId: record.link.linkId, ...(await run(record)) });
      },
    );
  const linkId = z.string();
  act(
    "rotate",
    "Gives the link a new MCP URL",
    z.object({ linkId, mcpUrl: z.string().optional() }),
    async ({ link }) => {
      const rotated = await actions.rotate(link.linkId, null);
      if (rotated === "gone") throw revoked();
      // The URL is a person's credential: it goes to the app alone, unless the developer made it.
      return link.madeWithSecretKey ? { mcpUrl: rotated.mcpUrl } : {};
    },
  );
  for (const paused of [true, false]) {
    const name = paused ? "pause" : "resume";
    const summary = paused ? "Pauses the link; calls in flight finish" : "Resumes the link";
    act(name, summary, z.object({ linkId, paused: z.boolean() }), async ({ link }) => {
      if (!(await actions.setPaused(link.linkId, paused, null))) throw revoked();
      return { paused };
    });
  }
  act(
    "revoke",
    "Revokes the link for good",
    z.object({ linkId, revoked: z.literal(true) }),
    async ({ link }) => {
      await actions.revoke(link.linkId, null);
      return { revoked: true };
    },
  );
}

/** The link of the path, if it is of the key's project: another's is as unknown as none. */
export async function ownLink(
  context: ApiContext,
  deps: ApiDeps,
  auth: Auth,
): Promise<LinkAndProject> {
  const project = await auth.developer(context);
  const linkId = context.req.param("linkId") ?? "";
  // Checked: the shape of an id.
  const record = isUuid(linkId) ? await deps.store.getLink(linkId as LinkId) : null;
  if (record === null || record.link.projectId !== project.projectId) throw notFound("link");
  return record;
}

async function linkWithWarnings(link: Link, deps: ApiDeps) {
  const hash = link.manifestHash;
  const manifest = hash === null ? null : await deps.store.getManifest(hash);
  return linkView(link, manifest?.warnings ?? []);
}

function linkView(link: Link, warnings: readonly unknown[]) {
  return {
    linkId: link.linkId,
    label: link.label,
    // A revoked link's socket is on its way out.
    connected: link.ownerNode !== null && link.revokedAt === null,
    paused: link.paused,
    revoked: link.revokedAt !== null,
    createdAt: isoTime(link.createdAt),
    lastSeenAt: isoTime(link.lastSeenAt),
    lastCallAt: isoTime(link.lastCallAt),
    app: link.app,
    client: link.client,
    tools: link.toolCount,
    warnings,
    trial: link.trial,
  };
}

function revoked(): ApiError {
  return new ApiError("LINK_REVOKED", "The link was revoked");
}
