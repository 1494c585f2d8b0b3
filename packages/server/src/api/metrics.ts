import { z } from "@hono/zod-openapi";
import type { IncomingMessage } from "node:http";
import type { Auth } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";

const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** `/metrics`, as Prometheus scrapes it: for the operator, and for this machine itself (SPEC 9). */
export function addMetrics(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/metrics",
      summary: "Metrics in Prometheus's text format; on the machine itself no token is needed",
      by: "operator",
      media: "text/plain",
      answer: z.string(),
      errors: ["NOT_FOUND"],
    },
    async (context) => {
      if (deps.scrape === undefined) throw new ApiError("NOT_FOUND", "Metrics are off");
      if (!isThisMachine(context.var.exchange.request)) await auth.operator(context);
      return context.body(await deps.scrape(), 200, { "Content-Type": TEXT_FORMAT });
    },
  );
}

/** What proxies add. Behind one on this machine every client's connection comes from loopback. */
const FORWARDING_HEADERS = ["x-forwarded-for", "x-real-ip", "forwarded", "via"];

/** Whether the client itself runs on this machine; one that a proxy speaks for never does. */
function isThisMachine({ socket, headers }: IncomingMessage): boolean {
  if (FORWARDING_HEADERS.some((name) => headers[name] !== undefined)) return false;
  return /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/.test(socket.remoteAddress ?? "");
}
