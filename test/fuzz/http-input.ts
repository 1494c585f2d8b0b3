import { changeText } from "./mutate.ts";
import type { Random } from "../sim/random.ts";

/** What a request may be about: addresses and credentials of one Relay. */
export type Target = {
  readonly host: string;
  readonly mcpPath: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly linkId: string;
};

type Header = readonly [name: string, value: string];
type Request = {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  readonly headers: readonly Header[];
  readonly body: string;
};

/** A request as bytes (latin1); `isValid` where nothing in it was changed. */
export type HttpInput = {
  readonly text: string;
  readonly isValid: boolean;
  readonly isHead: boolean;
};

const BODY_BYTES = 80 * 1024;

/** Makes a request that is in order, or damaged in its parts or its bytes. */
export function httpInput(target: Target, random: Random): HttpInput {
  let request = random.some(validRequests(target, random)) ?? validRequests(target, random)[0];
  if (request === undefined) throw new Error("there is no request to begin with");
  const isValid = random.chance(0.1);
  if (!isValid) {
    for (let times = random.whole(1, 3); times > 0; times -= 1) request = changed(request, random);
  }
  let text = textOf(request);
  if (!isValid && random.chance(0.25)) text = changeText(text, random);
  if (!isValid && random.chance(0.05)) text += textOf(request);
  if (!isValid && random.chance(0.05)) text = text.slice(0, random.whole(0, text.length));
  return { text, isValid, isHead: /HEAD /.test(text) };
}

function validRequests(target: Target, random: Random): Request[] {
  const { mcpPath, publishableKey, secretKey, linkId } = target;
  const rpc = (method: string, params: object): string =>
    JSON.stringify({ jsonrpc: "2.0", id: random.whole(1, 99), method, params });
  const mcp = (body: string): Request => requestOf(target, "POST", mcpPath, body);
  const developer: Header = ["Authorization", `Bearer ${secretKey}`];
  return [
    mcp(rpc("initialize", { protocolVersion: "2025-06-18" })),
    mcp(rpc("tools/list", {})),
    mcp(rpc("tools/call", { name: "search_notes", arguments: { query: "x" } })),
    mcp(rpc("tools/call", { name: "nope", arguments: {} })),
    mcp(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })),
    requestOf(target, "OPTIONS", mcpPath, ""),
    requestOf(target, "GET", mcpPath, ""),
    requestOf(target, "GET", "/healthz", ""),
    requestOf(target, "GET", "/openapi.json", ""),
    requestOf(target, "GET", "/.well-known/oauth-protected-resource", ""),
    requestOf(target, "POST", "/register", "{}"),
    requestOf(target, "POST", "/v1/links", '{"label":"a"}', [
      "Authorization",
      `Bearer ${publishableKey}`,
    ]),
    requestOf(target, "GET", "/v1/links?limit=3", "", developer),
    requestOf(target, "PATCH", `/v1/links/${linkId}`, '{"label":"b"}', developer),
    requestOf(target, "GET", "/v1/calls?outcome=ok", "", developer),
    requestOf(
      target,
      "GET",
      "/v1/socket",
      "",
      ["Upgrade", "websocket"],
      ["Connection", "Upgrade"],
      ["Sec-WebSocket-Version", "13"],
      ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ),
  ];
}

function requestOf(
  target: Target,
  method: string,
  path: string,
  body: string,
  ...more: readonly Header[]
): Request {
  const isUpgrade = more.some(([name]) => name === "Upgrade");
  const headers: Header[] = [
    ["Host", target.host],
    ...(isUpgrade ? [] : ([["Connection", "close"]] as const)),
    ...more,
  ];
  if (body !== "") {
    headers.push(["Content-Type", "application/json"]);
    headers.push(["Content-Length", String(Buffer.byteLength(body))]);
  }
  return { method, path, version: "HTTP/1.1", headers, body };
}

const METHODS = [
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "HEAD",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "get",
  "X-Y",
  "",
];
const PATHS = [
  "/",
  "//",
  "/v1",
  "/v1/",
  "/v1/mcp",
  "/v1/mcp/",
  "/v1/mcp/ut_x",
  "/relay/v1/socket",
  "*",
  "/%00",
  "/%",
  "/../v1/links",
  "/v1/links?limit=0",
  "/v1/links?limit=a&limit=2",
  "/v1/links/x",
  "/v1/calls?cursor=%ff",
  "/v1/usage?month=2026-13",
  "/api/x",
  "http://localhost/healthz",
  "/metrics",
  "/healthz#x",
  `/${"a".repeat(3_000)}`,
  "/\u00e9",
];
const VERSIONS = ["HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/9", "http/1.1", ""];
const HEADERS: readonly Header[] = [
  ["Content-Length", "0"],
  ["Content-Length", "5"],
  ["Content-Length", "99999999"],
  ["Content-Length", "-1"],
  ["Content-Length", "1e3"],
  ["Content-Length", "99999999999999999999"],
  ["Transfer-Encoding", "chunked"],
  ["Transfer-Encoding", "xchunked"],
  ["Transfer-Encoding", "gzip, chunked"],
  ["Expect", "100-continue"],
  ["Expect", "tea"],
  ["Upgrade", "websocket"],
  ["Upgrade", "h2c"],
  ["Connection", "Upgrade, keep-alive"],
  ["Connection", "keep-alive"],
  ["Sec-WebSocket-Key", "x"],
  ["Sec-WebSocket-Version", "8"],
  ["Host", "evil.example"],
  ["Host", ""],
  ["Origin", "https://example.com"],
  ["Origin", "http://evil.example"],
  ["Origin", "null"],
  ["Content-Type", "text/plain"],
  ["Content-Type", "application/json; charset=utf-16"],
  ["Content-Encoding", "gzip"],
  ["Accept", "text/html"],
  ["Accept", "text/event-stream"],
  ["Accept", "application/json;q=0, */*;q=x"],
  ["MCP-Protocol-Version", "2026-07-28"],
  ["MCP-Protocol-Version", "1999-01-01"],
  ["Mcp-Method", "ping"],
  ["Authorization", "Bearer"],
  ["Authorization", "Basic x"],
  ["X-Forwarded-For", "1.2.3.4, ::1"],
  ["Access-Control-Request-Headers", "x\u0001, \u00e9"],
  ["Cookie", "a=b; __Host-x"],
  ["X Y", "space in the name"],
  ["X-Nul", "a\u0000b"],
  ["X-Fold", "a\r\n b"],
  ["X-Long", "x".repeat(17_000)],
];

/** The same request with one part changed. */
function changed(request: Request, random: Random): Request {
  const headers = [...request.headers];
  const at = random.whole(0, headers.length);
  switch (
    random.weighted({
      method: 2,
      path: 2,
      version: 1,
      drop: 2,
      add: 5,
      twice: 1,
      body: 3,
      big: 0.5,
    })
  ) {
    case "method":
      return { ...request, method: random.some(METHODS) ?? "" };
    case "path":
      return random.chance(0.5)
        ? { ...request, path: random.some(PATHS) ?? "/" }
        : { ...request, path: changeText(request.path, random).replaceAll(/[\r\n ]/g, "") };
    case "version":
      return { ...request, version: random.some(VERSIONS) ?? "" };
    case "drop":
      headers.splice(at, 1);
      return { ...request, headers };
    case "add":
      headers.splice(at, 0, random.some(HEADERS) ?? ["X", "y"]);
      return { ...request, headers };
    case "twice":
      headers.splice(at, 0, ...headers.slice(at, at + 1));
      return { ...request, headers };
    case "body":
      return withBody(request, changeText(request.body, random));
    case "big":
      return withBody(request, request.body + " ".repeat(BODY_BYTES));
  }
}

/** Mostly the length is right, so that the body is read at all. */
function withBody(request: Request, body: string): Request {
  const length = String(Buffer.byteLength(body));
  const headers = request.headers.map(([name, value]): Header =>
    name === "Content-Length" ? [name, length] : [name, value],
  );
  return { ...request, body, headers };
}

function textOf({ method, path, version, headers, body }: Request): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  // As latin1 in the end, each character one byte: a body is UTF-8 before.
  return `${method} ${path} ${version}\r\n${lines}\r\n${Buffer.from(body).toString("latin1")}`;
}
