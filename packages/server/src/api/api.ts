import { getRequestListener, RequestError } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Exchange } from "../host/exchange.ts";
import { StoreError } from "../store/store.ts";
import { addPeople } from "./accounts-people.ts";
import { addAudit } from "./audit.ts";
import { Auth } from "./auth.ts";
import { addCharts } from "./charts.ts";
import { addDescriptions } from "./descriptions.ts";
import { ApiError, errorBody } from "./errors.ts";
import { addEvents } from "./events.ts";
import { addHealthRoutes } from "./health.ts";
import { addKeyRoutes } from "./keys.ts";
import { addLinkCreation } from "./link-creation.ts";
import { addLinkHistory } from "./link-history.ts";
import { addLinkManifest } from "./link-manifest.ts";
import { addLinkTrials } from "./link-trials.ts";
import { addLinkRoutes } from "./links.ts";
import { addMetrics } from "./metrics.ts";
import { addAccountRoutes } from "./operator-accounts.ts";
import { addOperatorBackup } from "./operator-backup.ts";
import { addOperatorEvents } from "./operator-events.ts";
import { addOperatorHealth } from "./operator-health.ts";
import { addMoneyRoutes } from "./money.ts";
import { addOperatorRoutes } from "./operator.ts";
import { addOwnProjects } from "./own-projects.ts";
import { addProjectRoutes } from "./project.ts";
import { addUsageRoute } from "./usage.ts";
import { addWebhookRoutes } from "./webhooks.ts";
import { addOriginGuard } from "./origin-guard.ts";
import { addPage } from "./page.ts";
import { addStart } from "./start.ts";
import { operationsOf } from "./routes.ts";
import type { Api, ApiContext, ApiDeps, ApiEnv, Operation } from "./routes.ts";
import { SessionAuth } from "./session-auth.ts";
import { StreamCounts } from "./stream-counts.ts";

const RETRY_AFTER_SECONDS = "5";
/** A year: browsers that came by https once come by nothing else. */
const STRICT_TRANSPORT = "max-age=31536000";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The REST API as it is mounted. */
export type RestApi = {
  /** Answers one exchange. */
  readonly answer: (exchange: Exchange) => void;
  /** What it offers, and every address of the router behind it, for whoever goes through them. */
  readonly operations: readonly Operation[];
  readonly addresses: readonly { readonly method: string; readonly path: string }[];
};

/**
 * The REST API: everything over HTTP that is neither MCP nor a socket. Every error leaves in the
 * shape of SPEC 4 with its request id.
 */
export function createApi(deps: ApiDeps): RestApi {
  const exchanges = new WeakMap<object, Exchange>();
  const api: Api = new OpenAPIHono<ApiEnv>();
  const isHttps = deps.urls.public.startsWith("https:");
  api.use(async (context, next) => {
    const exchange = exchanges.get(context.env.incoming);
    if (exchange === undefined) throw new Error("a request came past the HTTP edge");
    context.set("exchange", exchange);
    context.header("X-Request-Id", exchange.requestId);
    context.header("Cache-Control", "no-store");
    context.header("X-Content-Type-Options", "nosniff");
    context.header("Referrer-Policy", "no-referrer");
    if (isHttps) context.header("Strict-Transport-Security", STRICT_TRANSPORT);
    await next();
  });
  addOriginGuard(api, deps.urls.public);
  addAudit(api, { accounts: deps.store.accounts, clock: deps.clock, log: deps.log });
  const { people } = deps;
  const withSessions = { ...deps, sessions: people.accounts };
  const sessions = new SessionAuth(withSessions);
  const auth = new Auth(deps, sessions);
  addPage(api, deps);
  addHealthRoutes(api, deps);
  addMetrics(api, deps, auth);
  addLinkCreation(api, deps, auth);
  addLinkRoutes(api, deps, auth);
  addLinkHistory(api, deps, auth);
  addProjectRoutes(api, deps, auth);
  addOperatorRoutes(api, deps, auth);
  addKeyRoutes(api, deps, auth);
  addAccountRoutes(api, deps, auth);
  addMoneyRoutes(api, deps, auth);
  addUsageRoute(api, deps, auth);
  addWebhookRoutes(api, deps, auth);
  addCharts(api, deps, auth);
  addLinkManifest(api, deps, auth);
  addLinkTrials(api, deps, auth);
  addStart(api, deps, auth);
  addOwnProjects(api, withSessions, auth, sessions);
  const withStreams = { ...withSessions, streams: new StreamCounts() };
  addEvents(api, withStreams, auth, sessions);
  addOperatorHealth(api, deps, auth);
  addOperatorEvents(api, withStreams, auth);
  addOperatorBackup(api, deps, auth);
  addPeople(api, deps, people, auth, sessions);
  addDescriptions(api, deps);
  refuseOtherMethods(api);
  api.notFound((context) => refusal(context, new ApiError("NOT_FOUND", "No such address")));
  api.onError((error, context) => refusal(context, translate(error, context, deps)));
  const listenerOf = (exchange: Exchange): ReturnType<typeof getRequestListener> =>
    getRequestListener(
      (request, env) => {
        return api.fetch(request, env);
      },
      {
        overrideGlobalObjects: false,
        errorHandler: (error) => unrouted(error, exchange, deps),
      },
    );
  return {
    answer: (exchange) => {
      exchanges.set(exchange.request, exchange);
      void listenerOf(exchange)(exchange.request, exchange.response);
    },
    operations: operationsOf(api),
    addresses: api.routes.map(({ method, path }) => ({ method, path })),
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

/** Answers what never got to the router, most often an address that no URL can be made of. */
function unrouted(error: unknown, { requestId }: Exchange, deps: ApiDeps): Response {
  const isAddress = error instanceof RequestError;
  if (!isAddress) deps.log.error({ err: error, requestId }, "a REST request was not routed");
  const refused = isAddress
    ? new ApiError("VALIDATION_ERROR", `The address of the request can't be read: ${error.message}`)
    : new ApiError("INTERNAL", "Something went wrong on the relay's side");
  return new Response(errorBody(refused.code, refused.message, requestId), {
    status: refused.status,
    headers: {
      "Content-Type": "application/json",
      "X-Request-Id": requestId,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    },
  });
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
