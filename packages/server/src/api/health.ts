import { z } from "@hono/zod-openapi";
import { ApiError } from "./errors.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

const Status = z.object({ status: z.string() });

/** Whether the process is there, and whether a call could pass now (SPEC 3). */
export function addHealthRoutes(api: Api, deps: ApiDeps): void {
  route(
    api,
    {
      method: "get",
      path: "/healthz",
      summary: "Says that the process is up",
      by: "anyone",
      answer: Status,
    },
    async (context) => json(context, 200, { status: "ok" }),
  );
  route(
    api,
    {
      method: "get",
      path: "/readyz",
      summary: "Says whether a call could pass now",
      by: "anyone",
      answer: Status,
      errors: ["UNAVAILABLE"],
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
      summary: "The app's WebSocket; over plain HTTP it refuses",
      by: "anyone",
      answer: null,
      errors: ["UPGRADE_REQUIRED"],
    },
    async () => {
      throw new ApiError("UPGRADE_REQUIRED", "Open this address as a WebSocket", {
        Upgrade: "websocket",
      });
    },
  );
}
