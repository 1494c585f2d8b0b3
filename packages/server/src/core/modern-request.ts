import { META_KEYS, MODERN_VERSIONS } from "@relay/protocol";
import {
  decodeHeaderValue,
  headerMismatch,
  headerValue,
  type HostHeaders,
} from "./header-params.ts";
import { type HostAnswer, rpcError } from "./host-answers.ts";
import { isJsonObject, type JsonObject } from "./schema/json-object.ts";

/**
 * What MCP 2026-07-28 wants of a request before its method runs: `_meta`, a version Relay speaks,
 * and headers that repeat the body (SPEC 6). Pure.
 */

export const VERSION_HEADER = "MCP-Protocol-Version";
const METHOD_HEADER = "Mcp-Method";
const NAME_HEADER = "Mcp-Name";

/** Tells whether a request of `method` is modern: by its `_meta`, else by its version header. */
export function isModern(method: string, params: JsonObject, headers: HostHeaders): boolean {
  const meta = params["_meta"];
  if (isJsonObject(meta) && Object.hasOwn(meta, META_KEYS.protocolVersion)) return true;
  return method !== "initialize" && isModernVersion(headerValue(headers, VERSION_HEADER));
}

/** Tells whether a version is a date of the second generation, spoken by Relay or not. */
export function isModernVersion(version: string | null): boolean {
  return version !== null && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSIONS[0];
}

/**
 * Refuses a modern request that is not in order, else returns null. The first that is wrong decides:
 * `_meta`, then its version against the header, then the version, then the other headers.
 */
export function refuseModern(
  request: { readonly idText: string; readonly method: string; readonly params: JsonObject },
  headers: HostHeaders,
): HostAnswer | null {
  const { idText } = request;
  const meta = request.params["_meta"];
  if (!isJsonObject(meta)) return invalidParams(idText, "_meta must be an object");
  const version = meta[META_KEYS.protocolVersion];
  if (typeof version !== "string") {
    return invalidParams(idText, `_meta["${META_KEYS.protocolVersion}"] must be a string`);
  }
  if (!isJsonObject(meta[META_KEYS.clientCapabilities])) {
    return invalidParams(idText, `_meta["${META_KEYS.clientCapabilities}"] must be an object`);
  }
  const written = headerValue(headers, VERSION_HEADER);
  if (written !== null && written !== version)
    return headerMismatch(idText, differs(VERSION_HEADER));
  if (!isSpoken(version)) return unsupportedVersion(idText, version);
  if (written === null) return headerMismatch(idText, missing(VERSION_HEADER));
  const fault = methodHeaderFault(request.method, headers) ?? nameHeaderFault(request, headers);
  return fault === null ? null : headerMismatch(idText, fault);
}

/** The refusal of a modern version that Relay does not speak; names those it does. */
export function unsupportedVersion(idText: string | null, requested: string): HostAnswer {
  const message = `Unsupported protocol version. Supported versions: ${MODERN_VERSIONS.join(", ")}`;
  const data = JSON.stringify({
    supported: MODERN_VERSIONS,
    requested: requested.slice(0, REQUESTED_CHARS_MAX).toWellFormed(),
  });
  return { status: 400, body: rpcError(idText, "unsupportedVersion", message, data) };
}

const REQUESTED_CHARS_MAX = 64;

/** Tells whether Relay speaks a modern version. */
export function isSpoken(version: string): boolean {
  return MODERN_VERSIONS.some((spoken) => spoken === version);
}

function methodHeaderFault(method: string, headers: HostHeaders): string | null {
  const written = headerValue(headers, METHOD_HEADER);
  if (written === null) return missing(METHOD_HEADER);
  return written === method ? null : differs(METHOD_HEADER);
}

/** Only `tools/call` has a name to repeat; one that is no string is the method's to refuse. */
function nameHeaderFault(
  request: { readonly method: string; readonly params: JsonObject },
  headers: HostHeaders,
): string | null {
  const name = request.params["name"];
  if (request.method !== "tools/call" || typeof name !== "string") return null;
  const written = headerValue(headers, NAME_HEADER);
  if (written === null) return missing(NAME_HEADER);
  const decoded = decodeHeaderValue(written);
  if (decoded === null) return malformed(NAME_HEADER);
  return decoded === name ? null : differs(NAME_HEADER);
}

function missing(header: string): string {
  return `${header} is missing`;
}

function malformed(header: string): string {
  return `${header} is not properly encoded`;
}

function differs(header: string): string {
  return `${header} differs from the body`;
}

function invalidParams(idText: string, why: string): HostAnswer {
  return { status: 400, body: rpcError(idText, "invalidParams", `Invalid params: ${why}`) };
}
