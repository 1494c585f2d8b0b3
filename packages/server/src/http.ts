import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { RequestId } from "@relay/protocol";
import type { AppSockets } from "./app/sockets.ts";
import { addressKey, clientAddress } from "./client-address.ts";
import type { Clock } from "./clock.ts";
import { MCP_HEADERS } from "./host/headers.ts";
import type { Exchange } from "./host/exchange.ts";
import type { McpEndpoint } from "./host/mcp.ts";
import { mintRequestId } from "./ids.ts";
import type { Log } from "./observe/log.ts";
import { statusClass } from "./observe/meter.ts";
import type { Meter } from "./observe/meter.ts";
import type { RequestTrace, Tracer } from "./observe/trace.ts";

// What Node does by default is not safe on the open internet (SPEC 14).
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** Above the 60 s of the usual proxies, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const TIMEOUT_CHECK_MS = 2_000;
/**
 * A connection on which nothing moves is kept for this much longer than a call may take. Streams
 * have something to say more often; what is left is a peer that does not read.
 */
const STALLED_MS = 20_000;
const HEADER_BYTES_MAX = 16 * 1024;
const BACKLOG = 4_096;
const RETRY_AFTER_SECONDS = 5;

/** Where each kind of request goes. */
export type EdgeRoutes = {
  readonly mcp: McpEndpoint;
  readonly sockets: AppSockets;
  /** Everything that is neither MCP nor a socket. The request's url is the path without a prefix. */
  readonly api: (exchange: Exchange) => void;
};

export type EdgeDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly trustProxy: number;
  /** The longest time for which a connection may have nothing to carry, ms: that of a call. */
  readonly callTimeoutMs: number;
  /** Path prefixes of the public URLs; requests are accepted with and without them. */
  readonly prefixes: readonly string[];
  /** While bound to loopback, the host names this Relay answers for; null otherwise. */
  readonly hostNames: ReadonlySet<string> | null;
  readonly meter?: Meter | undefined;
  readonly tracer?: Tracer | undefined;
};

/** The HTTP edge: one server, its time limits, and the way each path goes. */
export class HttpEdge {
  readonly #deps: EdgeDeps;
  readonly #server: Server;
  #routes: EdgeRoutes | null = null;

  constructor(deps: EdgeDeps) {
    this.#deps = deps;
    this.#server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
        // Node's own refusal would carry no request id.
        requireHostHeader: false,
        // Other upgrades are only offers: Java's HTTP client makes one of HTTP/2 with each POST.
        shouldUpgradeCallback: (request) => this.#opensSocket(request),
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: 60_000,
      },
      (request, response) => this.#received(request, response),
    );
    // Sockets have silence limits of their own, and are taken out of this when they are upgraded.
    this.#server.timeout = deps.callTimeoutMs + STALLED_MS;
    // An expectation nobody knows; Node would answer 417 without a request id.
    this.#server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
      this.#received(request, response),
    );
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // A reset before any other listener is there would end the process.
      socket.on("error", () => socket.destroy());
      if (this.#routes === null) socket.destroy();
      else this.#upgrade(this.#routes, request, socket, head);
    });
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) =>
      this.#clientError(error, socket),
    );
  }

  /** Begins to answer. What comes between `listen` and this is cut off. */
  open(routes: EdgeRoutes): void {
    this.#routes = routes;
  }

  /** Listens; resolves with the port. Rejects where the address can't be had. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off("error", reject);
        const address = this.#server.address();
        resolve(typeof address === "object" && address !== null ? address.port : port);
      });
    });
  }

  /** Takes no new connections; resolves when the open ones have ended, at the latest after `ms`. */
  close(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(ms, () => this.#server.closeAllConnections());
      this.#server.close(() => {
        cancel();
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }

  #received(request: IncomingMessage, response: ServerResponse): void {
    if (this.#routes === null) response.destroy();
    else this.#request(this.#routes, request, response);
  }

  #request(routes: EdgeRoutes, request: IncomingMessage, response: ServerResponse): void {
    const exchange = this.#exchange(request, response);
    const path = this.#pathOf(request);
    const token = mcpToken(path);
    this.#watch(exchange, token === null ? loggedPath(path) : `/v1/mcp/${token.slice(0, 6)}`);
    const fault = addressFault(request);
    if (fault !== null) return refuse(exchange, 400, "VALIDATION_ERROR", fault);
    if (!this.#answersFor(request)) {
      const message = "This Host is not one this Relay answers for";
      return refuse(exchange, 421, "MISDIRECTED", message);
    }
    if (token !== null) {
      exchange.route = MCP_ROUTE;
      void routes.mcp.handle(exchange, token);
      return;
    }
    request.url = path + searchOf(request);
    if (path.startsWith(MCP_PATH)) response.setHeaders(new Map(Object.entries(MCP_HEADERS)));
    routes.api(exchange);
  }

  #exchange(request: IncomingMessage, response: ServerResponse): Exchange {
    const { clock, trustProxy, tracer } = this.#deps;
    const trace = tracer?.begin(request) ?? null;
    return new EdgeExchange(request, response, mintRequestId(clock.wall()), trustProxy, trace);
  }

  #pathOf(request: IncomingMessage): string {
    const target = targetOf(request);
    const end = target.search(/[?#]/);
    const path = end === -1 ? target : target.slice(0, end);
    for (const prefix of this.#deps.prefixes) {
      if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    }
    return path;
  }

  /** Guards a Relay on loopback against DNS rebinding: a page's own name must not reach it. */
  #answersFor(request: IncomingMessage): boolean {
    const { hostNames } = this.#deps;
    if (hostNames === null) return true;
    const named = [request.headers.host ?? "", authorityOf(request)];
    return named.every(
      (host) => host === null || hostNames.has(host.replace(/:\d+$/, "").toLowerCase()),
    );
  }

  #opensSocket(request: IncomingMessage): boolean {
    const { upgrade } = request.headers;
    return upgrade?.toLowerCase() === "websocket" && this.#pathOf(request) === "/v1/socket";
  }

  #upgrade(routes: EdgeRoutes, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = mintRequestId(this.#deps.clock.wall());
    const fault = addressFault(request);
    if (fault !== null) {
      this.#deps.meter?.upgradeRefused(400);
      return refuseRaw(socket, 400, requestId, "VALIDATION_ERROR", fault);
    }
    if (!this.#answersFor(request)) {
      this.#deps.meter?.upgradeRefused(421);
      return refuseRaw(socket, 421, requestId, "MISDIRECTED", "Unknown Host");
    }
    const refusal = routes.sockets.upgrade(request, socket, head, {
      ip: ipOf(request, this.#deps.trustProxy),
      extraHeaders: [`X-Request-Id: ${requestId}`],
    });
    if (refusal === null) return;
    this.#deps.meter?.upgradeRefused(refusal.status);
    const code = refusal.status === 503 ? "UNAVAILABLE" : "VALIDATION_ERROR";
    refuseRaw(socket, refusal.status, requestId, code, refusal.message);
  }

  /** What Node's parser refuses, or a request that did not come in time. */
  #clientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === "ECONNRESET" || !socket.writable || isMidAnswer(socket)) {
      socket.destroy();
      return;
    }
    const status = CLIENT_ERROR_STATUS.get(error.code ?? "") ?? 400;
    const requestId = mintRequestId(this.#deps.clock.wall());
    this.#deps.meter?.exchangeEnded("other", statusClass(status, true));
    refuseRaw(socket, status, requestId, "VALIDATION_ERROR", STATUS_CODES[status] ?? "");
  }

  /** Tells the metrics, the trace and the log of an exchange once it is over. */
  #watch(exchange: Exchange, path: string): void {
    const { log, clock, meter } = this.#deps;
    const { request, response, requestId, trace } = exchange;
    const startedMs = clock.monotonic();
    response.once("close", () => {
      const { statusCode: status, writableFinished: whole } = response;
      meter?.exchangeEnded(exchange.route, statusClass(status, whole));
      // The others that hear of the close go first: it may be what ends a call.
      if (trace !== null) queueMicrotask(() => trace.ended(exchange.route, status, whole));
      if (!log.isLevelEnabled("debug")) return;
      const durationMs = Math.round(clock.monotonic() - startedMs);
      log.debug({ requestId, method: request.method, path, status, durationMs }, "request");
    });
  }
}

/** A class, so that the address can be worked out only where a limit asks for it. */
class EdgeExchange implements Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: RequestId;
  readonly trace: RequestTrace | null;
  route = "other";
  readonly #trustProxy: number;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: RequestId,
    trustProxy: number,
    trace: RequestTrace | null,
  ) {
    this.request = request;
    this.response = response;
    this.requestId = requestId;
    this.trace = trace;
    this.#trustProxy = trustProxy;
  }

  get ip(): string {
    return ipOf(this.request, this.#trustProxy);
  }
}

function ipOf(request: IncomingMessage, trustProxy: number): string {
  const forwarded = request.headers["x-forwarded-for"];
  const header = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
  const peer = request.socket.remoteAddress ?? "";
  return addressKey(clientAddress(peer, header, trustProxy));
}

const CLIENT_ERROR_STATUS: ReadonlyMap<string, number> = new Map([
  ["HPE_HEADER_OVERFLOW", 431],
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
]);

const MCP_PATH = "/v1/mcp/";
const MCP_ROUTE = "/v1/mcp/{urlToken}";

/** `/v1/mcp/{token}` with or without a slash behind it, and nothing below it but discovery. */
function mcpToken(path: string): string | null {
  if (!path.startsWith(MCP_PATH)) return null;
  const rest = path.slice(MCP_PATH.length);
  // Hosts look for OAuth metadata below the MCP URL; there is none, and 404 must say so.
  if (rest.includes("/.well-known/")) return null;
  return rest.endsWith("/") ? rest.slice(0, -1) : rest;
}

/** A path as the log has it: an invitation's token is cut like a URL token. */
function loggedPath(path: string): string {
  return path.replace(/^(\/api\/invitations\/.{0,6}).*$/s, "$1");
}

/** Scheme and host before the path: what clients send to a proxy, and every server must take. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** The host in the request's target, null where the target is a path, as it nearly always is. */
function authorityOf(request: IncomingMessage): string | null {
  const target = request.url ?? "/";
  return target.startsWith("/") ? null : (ABSOLUTE.exec(target)?.[1] ?? null);
}

/** The request's path and query; begins with a slash unless `addressFault` says what it is not. */
function targetOf(request: IncomingMessage): string {
  const target = request.url ?? "/";
  if (authorityOf(request) === null) return target;
  const rest = target.replace(ABSOLUTE, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** What is wrong with where a request says it goes, or null (RFC 9112 section 3.2). */
function addressFault(request: IncomingMessage): string | null {
  const { rawHeaders } = request;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    // Compared by length first: this runs for every request.
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1) return "Host is there more than once";
  if (hosts === 0 && request.httpVersion === "1.1") return "Host is missing";
  return targetOf(request).startsWith("/") ? null : "The target of a request must be a path";
}

function searchOf(request: IncomingMessage): string {
  const target = targetOf(request);
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

/** Whether an answer on this connection has begun, so that another one would end up inside it. */
function isMidAnswer(socket: Duplex): boolean {
  // The answer whose turn it is; what Node's own handler of such errors looks at.
  const { _httpMessage } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null };
  return _httpMessage?.headersSent === true;
}

function refuse(exchange: Exchange, status: number, code: string, message: string): void {
  const { response, requestId } = exchange;
  const body = errorBody(code, message, requestId);
  response.writeHead(status, {
    ...MCP_HEADERS,
    Connection: "close",
    "X-Request-Id": requestId,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** Answers on a socket that has no response object, as any path might want it, then ends it. */
function refuseRaw(
  socket: Duplex,
  status: number,
  requestId: string,
  code: string,
  message: string,
): void {
  const body = errorBody(code, message, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(MCP_HEADERS).map(([name, value]) => `${name}: ${value}`),
    ...(status === 503 ? [`Retry-After: ${RETRY_AFTER_SECONDS}`] : []),
  ];
  socket.once("finish", () => (socket as Socket).destroySoon());
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function errorBody(code: string, message: string, requestId: string): string {
  return JSON.stringify({ error: { code, message, requestId } });
}
