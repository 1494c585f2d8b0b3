import { type HostAnswer, rpcError } from "./host-answers.ts";
import { isJsonObject, type JsonObject } from "./schema/json-object.ts";
import { placeText } from "./schema/place.ts";

/**
 * Request headers that mirror a part of the body, as MCP 2026-07-28 has them: which tool parameters
 * ask for one (`x-mcp-header`), how values are written in them, and whether they agree. Pure.
 */

/** The headers of one request, by lower-case name; null where there is none. */
export type HostHeaders = { get(name: string): string | null };

/** A tool parameter that hosts repeat in a header: `header` is `Mcp-Param-` and the given name. */
export type HeaderParam = {
  readonly header: string;
  /** The property names that lead to the value in `arguments`. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
};

export type HeaderParams =
  | { readonly ok: true; readonly params: readonly HeaderParam[] }
  /** `reason` ends the sentence that `path` begins, as in `properties.a["x-mcp-header"] must …`. */
  | { readonly ok: false; readonly path: string; readonly reason: string };

/**
 * Finds the `x-mcp-header` annotations of an `inputSchema`. They may stand only on parameters of
 * type string, integer or boolean that are reached through `properties` alone, name an HTTP token,
 * and differ from each other in more than case. One broken rule makes hosts drop the whole tool.
 */
export function readHeaderParams(inputSchema: unknown): HeaderParams {
  const search: Search = { keys: [], params: [], taken: new Set() };
  const reason = visit(inputSchema, true, search);
  if (reason === null) return { ok: true, params: search.params };
  return { ok: false, path: placeText(search.keys), reason };
}

/**
 * Compares the `Mcp-Param-*` headers of a modern call with its arguments. Returns null when they
 * agree, else the answer that refuses the call.
 */
export function checkHeaderParams(
  params: readonly HeaderParam[],
  call: { readonly idText: string; readonly argumentsValue: Readonly<Record<string, unknown>> },
  headers: HostHeaders,
): HostAnswer | null {
  for (const param of params) {
    const fault = paramFault(param, valueAt(call.argumentsValue, param.path), headers);
    if (fault !== null) return headerMismatch(call.idText, fault);
  }
  return null;
}

/** The refusal of a request whose headers and body differ. */
export function headerMismatch(idText: string, why: string): HostAnswer {
  return { status: 400, body: rpcError(idText, "headerMismatch", `Header mismatch: ${why}`) };
}

/** The value of a header without the blanks around it; null where there is none. */
export function headerValue(headers: HostHeaders, name: string): string | null {
  const value = headers.get(name.toLowerCase());
  if (value === null) return null;
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

/**
 * Decodes a mirrored value: plain visible ASCII, or UTF-8 in canonical Base64 between `=?base64?`
 * and `?=`. Returns null for anything else.
 */
export function decodeHeaderValue(value: string): string | null {
  const encoded =
    value.length >= ENCODED_START.length + ENCODED_END.length &&
    value.startsWith(ENCODED_START) &&
    value.endsWith(ENCODED_END);
  if (!encoded) return PLAIN_VALUE.test(value) ? value : null;
  return decodeBase64(value.slice(ENCODED_START.length, -ENCODED_END.length));
}

const ANNOTATION = "x-mcp-header";
const ENCODED_START = "=?base64?";
const ENCODED_END = "?=";
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;
const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const DECIMAL_INTEGER = /^-?[0-9]+(?:\.0+)?$/;

/** The keywords that hold a schema or a list of schemas, and those that hold schemas by name. */
const SUBSCHEMAS = new Set(
  (
    "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not " +
    "oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties"
  ).split(" "),
);
const NAMED_SUBSCHEMAS = new Set(
  "$defs definitions dependencies dependentSchemas patternProperties properties".split(" "),
);

/** `keys` lead to where the search stands; it stays where a rule is broken. */
type Search = {
  readonly keys: (string | number)[];
  readonly params: HeaderParam[];
  /** The headers of `params`, in lower case. */
  readonly taken: Set<string>;
};

/**
 * Visits a schema and every schema in it; `reached` tells whether `properties` alone lead here.
 * Returns the first broken rule. It goes no deeper than the frame the schema came in.
 */
function visit(schema: unknown, reached: boolean, search: Search): string | null {
  if (!isJsonObject(schema)) return null;
  for (const [keyword, value] of Object.entries(schema)) {
    search.keys.push(keyword);
    const reason =
      keyword === ANNOTATION
        ? annotate(schema, reached, search)
        : visitKeyword(keyword, value, reached, search);
    if (reason !== null) return reason;
    search.keys.pop();
  }
  return null;
}

/** Adds the annotated parameter to those found; returns the rule it breaks, if it breaks one. */
function annotate(schema: JsonObject, reached: boolean, search: Search): string | null {
  const path = search.keys.filter((_, index) => index % 2 === 1).map(String);
  if (!reached || path.length === 0) {
    return "may stand only on properties that are reached through properties alone";
  }
  const name = schema[ANNOTATION];
  if (typeof name !== "string" || !HTTP_TOKEN.test(name)) return "must be an HTTP header name";
  const type = schema["type"];
  if (type !== "string" && type !== "integer" && type !== "boolean") {
    return "may stand only on properties of type string, integer or boolean";
  }
  const header = `Mcp-Param-${name}`;
  if (search.taken.has(header.toLowerCase())) return "must not be used twice, in any case";
  search.taken.add(header.toLowerCase());
  search.params.push({ header, path, type });
  return null;
}

function visitKeyword(
  keyword: string,
  value: unknown,
  reached: boolean,
  search: Search,
): string | null {
  if (NAMED_SUBSCHEMAS.has(keyword) && isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const reason = visitAt(name, value[name], reached && keyword === "properties", search);
      if (reason !== null) return reason;
    }
    return null;
  }
  if (!SUBSCHEMAS.has(keyword)) return null;
  if (!Array.isArray(value)) return visit(value, false, search);
  for (const [index, item] of value.entries()) {
    const reason = visitAt(index, item, false, search);
    if (reason !== null) return reason;
  }
  return null;
}

function visitAt(
  key: string | number,
  schema: unknown,
  reached: boolean,
  search: Search,
): string | null {
  search.keys.push(key);
  const reason = visit(schema, reached, search);
  if (reason === null) search.keys.pop();
  return reason;
}

function paramFault(param: HeaderParam, value: unknown, headers: HostHeaders): string | null {
  // No value needs no header; one of another type is invalid input, which the schema will say.
  const fits = param.type === "integer" ? Number.isInteger(value) : typeof value === param.type;
  if (!fits) return null;
  const written = headerValue(headers, param.header);
  if (written === null) return `${param.header} is missing`;
  const decoded = decodeHeaderValue(written);
  if (decoded === null) return `${param.header} is not properly encoded`;
  return mirrors(decoded, value) ? null : `${param.header} differs from the argument`;
}

/** Integers are the same number when they are safe; any other would have been rounded. */
function mirrors(decoded: string, value: unknown): boolean {
  if (typeof value !== "number") return decoded === String(value);
  return Number.isSafeInteger(value) && DECIMAL_INTEGER.test(decoded) && Number(decoded) === value;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

function decodeBase64(text: string): string | null {
  try {
    const binary = atob(text);
    if (btoa(binary) !== text) return null;
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
