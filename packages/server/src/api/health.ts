import { ApiError } from "./errors.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

/** Whether the process is there, and whether a call could pass now (SPEC 3). */
export function addHealthRoutes(api: Api, deps: ApiDeps): void {
  route(
    api,
    { method: "get", path: "/healthz", responses: { 200: { description: "The process is up." } } },
    async (context) => json(context, 200, { status: "ok" }),
  );
  route(
    api,
    {
      method: "get",
      path: "/readyz",
      responses: {
        200: { description: "A call could pass." },
        503: { description: "It could not." },
      },
    },
    async (context) => {
      const reason = await deps.node.whyNotReady();
      if (reason !== null) throw new ApiError("UNAVAILABLE", reason, { "Retry-After": "5" });
      return json(context, 200, { status: "ready" });
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/socket",
      responses: { 426: { description: "The address is a WebSocket." } },
    },
    async () => {
      throw new ApiError("UPGRADE_REQUIRED", "Open this address as a WebSocket", {
        Upgrade: "websocket",
      });
    },
  );
}
