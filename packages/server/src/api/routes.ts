import type { IncomingMessage, ServerResponse } from "node:http";
import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ZodType } from "zod";
import type { Limits } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import type { Exchange } from "../host/mcp.ts";
import type { Log } from "../observe/log.ts";
import type { PublicUrls } from "../public-urls.ts";
import type { RelayNode } from "../relay/node.ts";
import type { Paged, Store } from "../store/store.ts";
import { ApiError } from "./errors.ts";

/** What the REST API stands on. */
export type ApiDeps = {
  readonly node: RelayNode;
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly urls: PublicUrls;
  /** SHA-256 of the operator's token. */
  readonly operatorTokenHash: Uint8Array;
};

export type ApiEnv = {
  Bindings: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
  };
  Variables: { readonly exchange: Exchange };
};
export type ApiContext = Context<ApiEnv>;
export type Api = OpenAPIHono<ApiEnv>;

/** Adds one operation, to the router and to the API's description from the same facts. */
export function route(
  api: Api,
  operation: RouteConfig,
  handler: (context: ApiContext) => Promise<Response>,
): void {
  api.openAPIRegistry.registerPath(operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
  api.on(operation.method.toUpperCase(), path, handler);
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Reads the body as `schema` has it; an empty body is `{}`. Unknown fields are ignored. */
export async function readInput<Input>(
  context: ApiContext,
  schema: ZodType<Input>,
): Promise<Input> {
  const text = await context.req.text();
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
  return parseInput(value, schema);
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
