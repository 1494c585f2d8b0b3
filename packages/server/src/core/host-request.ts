import {
  LEGACY_LATEST_VERSION,
  LEGACY_VERSIONS,
  type LegacyVersion,
  type Limits,
  META_KEYS,
  MODERN_VERSIONS,
} from "@relay/protocol";
import { headerValue, type HostHeaders } from "./header-params.ts";
import { type Era, type HostAnswer, rpcError } from "./host-answers.ts";
import { type JsonFault, memberSpans, rawSlice, readJson, type Span, utf8Bytes } from "./json.ts";
import {
  isModern,
  isModernVersion,
  isSpoken,
  refuseModern,
  unsupportedVersion,
  VERSION_HEADER,
} from "./modern-request.ts";
import { isJsonObject, type JsonObject } from "./schema/json-object.ts";

/** What an MCP client says of itself, name and version cut to 64 code points. */
export type ClientInfo = { readonly name: string; readonly version: string };

/** One POST, read: what to answer at once, or which method to run. */
export type HostRequest =
  /** Answer with this and nothing else. */
  | ({ readonly type: "refused" } & HostAnswer)
  /** A notification or a response: 202 with an empty body. */
  | { readonly type: "accepted" }
  /** 202 as well; cancel the one call in flight whose `idKey` is `key`, if there is exactly one. */
  | { readonly type: "cancel"; readonly key: string }
  | MethodRequest;

/** A request whose method may run, once the project turns out not to be suspended. */
export type MethodRequest = {
  readonly era: Era;
  /** The JSON-RPC id as it was written. */
  readonly idText: string;
  /** Who asks, where the request says so. */
  readonly client: ClientInfo | null;
} & (
  | { readonly type: "initialize"; readonly version: LegacyVersion }
  | { readonly type: "ping" }
  | { readonly type: "list" }
  | { readonly type: "discover" }
  | { readonly type: "unknown_method"; readonly method: string }
  /** A `tools/call` that names no tool: not a call, leaves no row. */
  | { readonly type: "nameless_call" }
  | {
      readonly type: "call";
      /** The same for ids of the same type and value: `1` and `1.0`, but not `1` and `"1"`. */
      readonly idKey: string;
      readonly name: string;
      readonly arguments: CallArguments;
      /** The host's progress token as it was written; null when it wants no progress. */
      readonly progressToken: string | null;
    }
);

/** A `tools/call` that names a tool. */
export type ToolCall = Extract<MethodRequest, { readonly type: "call" }>;

/**
 * The arguments of a call; `bytes` is the UTF-8 size of their raw text (2 where there are none: the
 * app is sent `{}`). `fault` is why they are invalid input whatever the tool's schema says.
 */
export type CallArguments =
  | {
      readonly ok: true;
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
      readonly bytes: number;
    }
  | { readonly ok: false; readonly fault: string; readonly bytes: number };

/**
 * Decides what one POST to an MCP URL asks for (SPEC 6), after the HTTP edge has checked the token,
 * `Origin`, `Content-Type` and size and has read the body as text. Never throws.
 */
export function readHostRequest(
  body: string,
  headers: HostHeaders,
  limits: Pick<Limits, "argumentsBytes">,
): HostRequest {
  const reading = readJson(body);
  if (!reading.ok) return unreadable(body, reading.fault, reading.value);
  const message = reading.value;
  if (Array.isArray(message)) {
    return invalid(null, "a JSON array (a batch) is not supported. Send one message per request.");
  }
  if (!isJsonObject(message)) return invalid(null, "the body must be a JSON object");

  const spans = memberSpans(body);
  const idText = readId(body, spans.get("id"), message["id"]);
  if (message["jsonrpc"] !== "2.0") return invalid(idText, 'jsonrpc must be "2.0"');
  const { id, method, params = {} } = message;
  if (method === undefined && isResponse(message)) return oneWayRefusal(headers) ?? ACCEPTED;
  if (typeof method !== "string") return invalid(idText, "method must be a string");
  if (id === undefined) {
    return oneWayRefusal(headers) ?? readNotification(body, spans, method, params);
  }
  if (idText === null) return invalid(null, "id must be a string or a number");
  if (!isJsonObject(params)) return invalid(idText, "params must be an object");
  return readRequest({ body, spans, idText, id, method, params }, headers, limits);
}

const ACCEPTED: HostRequest = { type: "accepted" };

/** The parts of a JSON-RPC request; `spans` are those of its members in `body`. */
type RpcRequest = {
  readonly body: string;
  readonly spans: ReadonlyMap<string, Span>;
  readonly idText: string;
  readonly id: unknown;
  readonly method: string;
  readonly params: JsonObject;
};

function readRequest(
  request: RpcRequest,
  headers: HostHeaders,
  limits: Pick<Limits, "argumentsBytes">,
): HostRequest {
  const { idText, method, params } = request;
  if (isModern(method, params, headers)) {
    const refusal = refuseModern(request, headers);
    if (refusal !== null) return { type: "refused", ...refusal };
    return readMethod(request, "modern", limits);
  }
  if (method !== "initialize") {
    const version = headerValue(headers, VERSION_HEADER);
    if (version !== null && !isLegacyVersion(version)) return unsupported(idText, version);
  }
  return readMethod(request, "legacy", limits);
}

function readMethod(
  request: RpcRequest,
  era: Era,
  limits: Pick<Limits, "argumentsBytes">,
): MethodRequest {
  const { idText, method, params } = request;
  const meta = params["_meta"];
  const client = readClient(isJsonObject(meta) ? meta[META_KEYS.clientInfo] : undefined);
  const asked = { era, idText, client };
  if (method === "tools/list") return { ...asked, type: "list" };
  if (method === "tools/call") return readCall(request, asked, limits);
  if (era === "modern" && method === "server/discover") return { ...asked, type: "discover" };
  if (era === "legacy" && method === "ping") return { ...asked, type: "ping" };
  if (era === "legacy" && method === "initialize") {
    const requested = params["protocolVersion"];
    return {
      ...asked,
      type: "initialize",
      version: isLegacyVersion(requested) ? requested : LEGACY_LATEST_VERSION,
      client: readClient(params["clientInfo"]) ?? client,
    };
  }
  return { ...asked, type: "unknown_method", method };
}

function readCall(
  request: RpcRequest,
  asked: { readonly era: Era; readonly idText: string; readonly client: ClientInfo | null },
  limits: Pick<Limits, "argumentsBytes">,
): MethodRequest {
  const { body, params } = request;
  const name = params["name"];
  if (typeof name !== "string") return { ...asked, type: "nameless_call" };
  const spans = spansIn(body, request.spans.get("params"));
  return {
    ...asked,
    type: "call",
    idKey: idKey(request.id, request.idText),
    name,
    arguments: readArguments(body, spans.get("arguments"), params["arguments"], limits),
    progressToken: readProgressToken(body, spans.get("_meta"), params["_meta"]),
  };
}

function readArguments(
  body: string,
  span: Span | undefined,
  value: unknown,
  limits: Pick<Limits, "argumentsBytes">,
): CallArguments {
  if (span === undefined) return { ok: true, text: "{}", value: {}, bytes: 2 };
  const text = rawSlice(body, span);
  const bytes = utf8Bytes(text);
  const bytesMax = limits.argumentsBytes;
  if (bytes > bytesMax) {
    return { ok: false, fault: `arguments must be at most ${sizeText(bytesMax)} as JSON`, bytes };
  }
  if (!isJsonObject(value)) return { ok: false, fault: "arguments must be object", bytes };
  return { ok: true, text, value, bytes };
}

function readProgressToken(body: string, span: Span | undefined, meta: unknown): string | null {
  if (!isJsonObject(meta)) return null;
  const token = meta["progressToken"];
  return readId(body, spansIn(body, span).get("progressToken"), token);
}

/** A message without a request is only held to its version header; null when that is in order. */
function oneWayRefusal(headers: HostHeaders): HostRequest | null {
  const version = headerValue(headers, VERSION_HEADER);
  if (version === null || isLegacyVersion(version) || isSpoken(version)) return null;
  if (isModernVersion(version)) return { type: "refused", ...unsupportedVersion(null, version) };
  return unsupported(null, version);
}

/** Hosts may break off when a notification is answered with an error, so its contents never are. */
function readNotification(
  body: string,
  spans: ReadonlyMap<string, Span>,
  method: string,
  params: unknown,
): HostRequest {
  if (method !== "notifications/cancelled" || !isJsonObject(params)) return ACCEPTED;
  const id = params["requestId"];
  const idText = readId(body, spansIn(body, spans.get("params")).get("requestId"), id);
  return idText === null ? ACCEPTED : { type: "cancel", key: idKey(id, idText) };
}

function isResponse(message: JsonObject): boolean {
  return message["result"] !== undefined || message["error"] !== undefined;
}

/** The raw text of an id or progress token; null unless it is a string or a number. */
function readId(body: string, span: Span | undefined, id: unknown): string | null {
  if (span === undefined || (typeof id !== "string" && typeof id !== "number")) return null;
  return rawSlice(body, span);
}

/** Numbers that a double can't hold exactly are compared by their text. */
function idKey(id: unknown, idText: string): string {
  if (typeof id === "string") return `s${id}`;
  return Number.isSafeInteger(id) ? `n${Number(id)}` : `n${idText}`;
}

function spansIn(body: string, span: Span | undefined): ReadonlyMap<string, Span> {
  return span === undefined ? new Map() : memberSpans(body, span.start);
}

function readClient(info: unknown): ClientInfo | null {
  if (!isJsonObject(info)) return null;
  const { name, version } = info;
  if (typeof name !== "string") return null;
  return { name: cut(name), version: typeof version === "string" ? cut(version) : "" };
}

/** 128 UTF-16 units hold at least 64 code points. */
function cut(text: string): string {
  return Array.from(text.slice(0, 2 * CLIENT_CODE_POINTS_MAX))
    .slice(0, CLIENT_CODE_POINTS_MAX)
    .join("")
    .toWellFormed();
}

const CLIENT_CODE_POINTS_MAX = 64;

function isLegacyVersion(version: unknown): version is LegacyVersion {
  return LEGACY_VERSIONS.some((spoken) => spoken === version);
}

/** JSON that nests too deeply or repeats a key still says whose request it is. */
function unreadable(body: string, fault: JsonFault, value: unknown): HostRequest {
  if (fault.kind === "syntax") {
    return refused(rpcError(null, "parseError", `Parse error: ${fault.message}`));
  }
  const id = isJsonObject(value) ? value["id"] : undefined;
  return invalid(readId(body, memberSpans(body).get("id"), id), fault.message);
}

function unsupported(idText: string | null, version: string): HostRequest {
  const supported = [...LEGACY_VERSIONS, ...MODERN_VERSIONS].join(", ");
  const message = `Unsupported ${VERSION_HEADER}: ${version.slice(0, 64)}. Supported versions: ${supported}`;
  return refused(rpcError(idText, "invalidRequest", message));
}

function invalid(idText: string | null, why: string): HostRequest {
  return refused(rpcError(idText, "invalidRequest", `Invalid request: ${why}`));
}

function refused(body: string): HostRequest {
  return { type: "refused", status: 400, body };
}

function sizeText(bytes: number): string {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}
