import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "@hono/zod-openapi";
import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ZodObject, ZodType } from "zod";
import { REST_ERRORS } from "@relay/protocol";
import type { AccountId, Limits, ProjectId, RestErrorCode } from "@relay/protocol";
import type { Visitor } from "../accounts/port.ts";
import type { Need } from "../accounts/roles.ts";
import type { Billing } from "../billing/billing.ts";
import type { Clock } from "../clock.ts";
import { readBody } from "../host/body.ts";
import type { Exchange } from "../host/exchange.ts";
import type { Log } from "../observe/log.ts";
import type { PublicUrls } from "../public-urls.ts";
import type { RelayNode } from "../relay/node.ts";
import type { Paged, Store } from "../store/store.ts";
import type { People } from "./accounts-people.ts";
import type { AuditedChange } from "./audit.ts";
import { ApiError } from "./errors.ts";
import type { BackupPort } from "./operator-backup.ts";
import type { Vitals } from "./operator-health.ts";

/** What the REST API stands on. */
export type ApiDeps = {
  readonly billing: Billing;
  readonly node: RelayNode;
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly urls: PublicUrls;
  /** The dashboard's people. */
  readonly people: People;
  /** SHA-256 of the operator's token. */
  readonly operatorTokenHash: Uint8Array;
  /** Relay's own version. */
  readonly version: string;
  readonly vitals: () => Vitals;
  readonly backup: BackupPort;
  /** Returns the text of `/metrics`; absent when metrics are off. */
  readonly scrape?: (() => Promise<string>) | undefined;
};

export type ApiEnv = {
  Bindings: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
  };
  Variables: {
    readonly exchange: Exchange;
    /** What the audit log is told of a request under `/api`, by whoever comes to know it. */
    readonly visitor?: Visitor;
    readonly accountId?: AccountId;
    readonly projectId?: ProjectId;
    readonly operation?: Operation;
    readonly input?: unknown;
    readonly change?: AuditedChange;
  };
};
export type ApiContext = Context<ApiEnv>;
export type Api = OpenAPIHono<ApiEnv>;

/**
 * Whose credential an operation takes. One of a developer or an operator is there twice: under `/v1`
 * with a key, under `/api` with a session. What is a `visitor`'s takes a session alone.
 */
export type Caller = "anyone" | "app" | "developer" | "operator" | "visitor";

/** One operation of the API: what it takes, what it answers, what can go wrong. */
export type Operation = {
  readonly method: "get" | "post" | "patch" | "delete";
  /** With `{names}` for what varies. */
  readonly path: string;
  readonly summary: string;
  readonly by: Caller;
  /** Of a POST that changes nothing, so that it has no line in the audit log. */
  readonly reads?: true;
  /** What a session's role must allow; by default to read for GET, to change for the rest. */
  readonly need?: Need;
  readonly query?: ZodObject;
  readonly body?: ZodType;
  readonly status?: 200 | 201;
  /** What the answer is; JSON unless said. */
  readonly media?: "text/plain" | "text/event-stream" | "application/octet-stream";
  /** The answer's body; null for an operation that only ever refuses. */
  readonly answer: ZodType | null;
  /** Refusals beside those that follow from the fields above. */
  readonly errors?: readonly RestErrorCode[];
};

type Handler = (context: ApiContext) => Promise<Response>;

/**
 * Adds one operation to the router, with its twin under `/api` where it has one, and to the API's
 * description from the same facts. The description leaves `/api` out: it is the dashboard's own and
 * changes with it.
 */
export function route(api: Api, operation: Operation, handler: Handler): void {
  if (!operation.path.startsWith("/api/")) api.openAPIRegistry.registerPath(describe(operation));
  mount(api, operation, handler);
  const path = twinPath(operation);
  if (path !== null) mount(api, { ...operation, path }, handler);
}

const mounted = new WeakMap<Api, Operation[]>();

/** Every operation of an API, twins too, in the order in which they were added. */
export function operationsOf(api: Api): readonly Operation[] {
  return mounted.get(api) ?? [];
}

function mount(api: Api, operation: Operation, handler: Handler): void {
  const operations = mounted.get(api) ?? [];
  mounted.set(api, operations);
  operations.push(operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
  api.on(operation.method.toUpperCase(), path, (context) => {
    context.var.exchange.route = operation.path;
    context.set("operation", operation);
    return handler(context);
  });
}

/** Where a session reaches the operation: a developer's below its project. Null for others. */
function twinPath({ by, path }: Operation): string | null {
  if (!path.startsWith("/v1/")) return null;
  if (by === "developer") {
    return path.replace(/^\/v1(?:\/project(?=\/|$))?/, "/api/projects/{projectId}");
  }
  return by === "operator" ? path.replace(/^\/v1/, "/api") : null;
}

/** What a role must allow for an operation. */
export function needOf({ method, need }: Operation): Need {
  return need ?? (method === "get" ? "read" : "change");
}

const ErrorView = z
  .object({
    error: z.object({ code: z.string(), message: z.string(), requestId: z.string() }),
  })
  .openapi("Error");

/** The credential of each caller, as the API's description names it. */
export const SECURITY: Readonly<Record<Exclude<Caller, "anyone" | "visitor">, string>> = {
  app: "A publishable key (`pk_…`); a secret key works too.",
  developer: "A project's secret key (`sk_…`).",
  operator: "The operator's token (`op_…`).",
};

function describe(operation: Operation): RouteConfig {
  const { method, path, summary, by, query, body, status = 200, answer } = operation;
  const media = operation.media ?? "application/json";
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const request = {
    ...(names.length === 0 ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: { content: { "application/json": { schema: body } } } }),
  };
  const good =
    answer === null
      ? {}
      : { [status]: { description: "Done.", content: { [media]: { schema: answer } } } };
  return {
    method,
    path,
    summary,
    ...(by === "anyone" ? {} : { security: [{ [by]: [] }] }),
    request,
    responses: { ...good, ...refusals(operation, names.length > 0) },
  };
}

/** What can go wrong, one response a status, naming the codes. */
function refusals(operation: Operation, hasPlaces: boolean): RouteConfig["responses"] {
  const { by, query, body, errors = [] } = operation;
  const codes = new Set<RestErrorCode>([
    ...(query === undefined && body === undefined ? [] : (["VALIDATION_ERROR"] as const)),
    ...(by === "anyone" ? [] : (["UNAUTHORIZED", "RATE_LIMITED", "UNAVAILABLE"] as const)),
    ...(hasPlaces ? (["NOT_FOUND"] as const) : []),
    ...(body === undefined ? [] : (["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)),
    ...errors,
  ]);
  const byStatus = Map.groupBy(codes, (code) => REST_ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${REST_ERRORS[code].meaning}`).join(" "),
        content: { "application/json": { schema: ErrorView } },
      },
    ]),
  );
}

const BODY_BYTES_MAX = 64 * 1024;
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Reads the body as `schema` has it; an empty body is `{}`. Unknown fields are ignored. */
export async function readInput<Input>(
  context: ApiContext,
  schema: ZodType<Input>,
): Promise<Input> {
  const text = await readText(context, BODY_BYTES_MAX);
  if (text.trim() === "") return parseInput({}, schema);
  if (!JSON_TYPE.test(context.req.header("content-type") ?? "")) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError("VALIDATION_ERROR", "The body is not valid JSON");
  }
  const input = parseInput(value, schema);
  context.set("input", input);
  return input;
}

/** Reads the body past Hono, which would take one of any size; a wrong one is an `ApiError`. */
export async function readText(context: ApiContext, bytesMax: number): Promise<string> {
  const body = await readBody(context.var.exchange.request, bytesMax);
  switch (body.type) {
    case "text":
      return body.text;
    case "too_large":
      throw new ApiError("PAYLOAD_TOO_LARGE", `The body is over ${bytesMax} bytes`, {
        Connection: "close",
      });
    case "not_utf8":
      throw new ApiError("VALIDATION_ERROR", "The body is not valid UTF-8");
    case "aborted":
      throw new ApiError("VALIDATION_ERROR", "The body was cut off");
  }
}

/** Reads the query string as `schema` has it. */
export function readQuery<Input>(context: ApiContext, schema: ZodType<Input>): Input {
  return parseInput(context.req.query(), schema);
}

function parseInput<Input>(value: unknown, schema: ZodType<Input>): Input {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "The body" : issue.path.join(".");
  throw new ApiError("VALIDATION_ERROR", `${place}: ${issue?.message ?? "is not valid"}`);
}

/** The page a list returned; a cursor that is not the list's own is the client's fault. */
export function pageOf<Item>(found: Paged<Item> | "bad_cursor"): Paged<Item> {
  if (found !== "bad_cursor") return found;
  throw new ApiError("VALIDATION_ERROR", "cursor: is not one that this list returned");
}

/** A JSON answer. */
export function json(context: ApiContext, status: 200 | 201, body: unknown): Response {
  return context.body(JSON.stringify(body), status, { "Content-Type": "application/json" });
}
