import { z } from "@hono/zod-openapi";
import type { LinkSocket, ManifestChange } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ownLink } from "./links.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { Time, isoTime } from "./shapes.ts";

const SocketShape = z.object({
  connectedAt: Time,
  disconnectedAt: Time.nullable().openapi({ description: "Null while the socket is open." }),
  durationMs: z.int().nullable(),
  closeCode: z.int().nullable().openapi({
    description:
      "What the socket was closed with, by the app or by Relay; 1006 if it was dropped. Null while it is open, and where Relay did not see it close.",
  }),
  closeReason: z.string().nullable(),
  app: z.object({ name: z.string(), version: z.string() }),
});

const ToolNames = z.array(z.string());

const ManifestShape = z.object({
  hash: z.string().openapi({
    description: "SHA-256 of the hello's app, instructions and tools, as hex.",
  }),
  at: Time,
  added: ToolNames,
  removed: ToolNames,
  changed: ToolNames,
});

const LinkHistoryShape = z
  .object({ sockets: z.array(SocketShape), manifests: z.array(ManifestShape) })
  .openapi("LinkHistory");

/** What a link's sockets and manifests have been, for its developer (SPEC 11). */
export function addLinkHistory(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/links/{linkId}/history",
      summary: "Shows the link's last 20 sockets and last 20 changes of its manifest, newest first",
      by: "developer",
      answer: LinkHistoryShape,
    },
    async (context) => {
      const { link } = await ownLink(context, deps, auth);
      const { sockets, manifests } = await deps.store.linkHistory(link.linkId);
      return json(context, 200, {
        sockets: sockets.map(socketView),
        manifests: manifests.map(manifestView),
      });
    },
  );
}

function socketView(socket: LinkSocket): z.output<typeof SocketShape> {
  const { connectedAt, disconnectedAt, close, app } = socket;
  return {
    connectedAt: isoTime(connectedAt),
    disconnectedAt: isoTime(disconnectedAt),
    durationMs: disconnectedAt === null ? null : disconnectedAt - connectedAt,
    closeCode: close?.code ?? null,
    closeReason: close?.reason ?? null,
    app,
  };
}

function manifestView(change: ManifestChange): z.output<typeof ManifestShape> {
  const { hash, at, added, removed, changed } = change;
  const names = { added: [...added], removed: [...removed], changed: [...changed] };
  return { hash, at: isoTime(at), ...names };
}
