import { getRequestListener } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Exchange } from "../host/exchange.ts";
import { StoreError } from "../store/store.ts";
import { Auth } from "./auth.ts";
import { addDescriptions } from "./descriptions.ts";
import { ApiError, errorBody } from "./errors.ts";
import { addHealthRoutes } from "./health.ts";
import { addLinkCreation } from "./link-creation.ts";
import { addLinkHistory } from "./link-history.ts";
import { addLinkRoutes } from "./links.ts";
import { addMetrics } from "./metrics.ts";
import { addAccountRoutes } from "./operator-accounts.ts";
import { addOperatorRoutes } from "./operator.ts";
import { addProjectRoutes } from "./project.ts";
import { addPage } from "./page.ts";
import type { Api, ApiContext, ApiDeps, ApiEnv } from "./routes.ts";

const RETRY_AFTER_SECONDS = "5";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * The REST API: everything over HTTP that is neither MCP nor a socket. Returns what answers one
 * exchange; every error leaves in the shape of SPEC 4 with its request id.
 */
export function createApi(deps: ApiDeps): (exchange: Exchange) => void {
  const exchanges = new WeakMap<object, Exchange>();
  const api: Api = new OpenAPIHono<ApiEnv>();
  api.use(async (context, next) => {
    const exchange = exchanges.get(context.env.incoming);
    if (exchange === undefined) throw new Error("a request came past the HTTP edge");
    context.set("exchange", exchange);
    context.header("X-Request-Id", exchange.requestId);
    context.header("Cache-Control", "no-store");
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Referrer-Policy", "no-referrer");
    await next();
  });
  const auth = new Auth(deps);
  addPage(api);
  addHealthRoutes(api, deps);
  addMetrics(api, deps, auth);
  addLinkCreation(api, deps, auth);
  addLinkRoutes(api, deps, auth);
  addLinkHistory(api, deps, auth);
  addProjectRoutes(api, deps, auth);
  addOperatorRoutes(api, deps, auth);
  addAccountRoutes(api, deps, auth);
  addDescriptions(api, deps);
  refuseOtherMethods(api);
  api.notFound((context) => refusal(context, new ApiError("NOT_FOUND", "No such address")));
  api.onError((error, context) => refusal(context, translate(error, context, deps)));
  const listener = getRequestListener(
    (request, env) => {
      return api.fetch(request, env);
    },
    { overrideGlobalObjects: false },
  );
  return (exchange) => {
    exchanges.set(exchange.request, exchange);
    void listener(exchange.request, exchange.response);
  };
}

/** An address that is there, but not with this method: 405 and the methods it has. */
function refuseOtherMethods(api: Api): void {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { path, method } of api.routes) {
    if (method === "ALL") continue;
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method));
  }
  for (const [path, methods] of methodsByPath) {
    const others = METHODS.filter((method) => !methods.has(method));
    api.on(others, path, () => {
      const allow = [...methods].join(", ");
      throw new ApiError("METHOD_NOT_ALLOWED", `This address takes ${allow}`, { Allow: allow });
    });
  }
}

function translate(error: Error, context: ApiContext, deps: ApiDeps): ApiError {
  if (error instanceof ApiError) return error;
  const { requestId } = context.var.exchange;
  deps.log.error({ err: error, requestId }, "a REST request failed");
  return error instanceof StoreError
    ? new ApiError("UNAVAILABLE", "The relay's store is away; try again", {
        "Retry-After": RETRY_AFTER_SECONDS,
      })
    : new ApiError("INTERNAL", "Something went wrong on the relay's side");
}

function refusal(context: ApiContext, error: ApiError): Response {
  const body = errorBody(error.code, error.message, context.var.exchange.requestId);
  const headers = new Headers({ "Content-Type": "application/json", ...error.headers });
  for (const [name, value] of context.res.headers) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(body, { status: error.status, headers });
}
