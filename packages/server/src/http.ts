import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AppSockets } from "./app/sockets.ts";
import { addressKey, clientAddress } from "./client-address.ts";
import type { Clock } from "./clock.ts";
import { MCP_HEADERS } from "./host/reply.ts";
import type { Exchange } from "./host/exchange.ts";
import type { McpEndpoint } from "./host/mcp.ts";
import { mintRequestId } from "./ids.ts";
import type { Log } from "./observe/log.ts";
import { statusClass } from "./observe/meter.ts";
import type { Meter } from "./observe/meter.ts";
import type { Tracer } from "./observe/trace.ts";

// What Node does by default is not safe on the open internet (SPEC 14).
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** Above the 60 s of the usual proxies, so that they close idle connections first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const TIMEOUT_CHECK_MS = 2_000;
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
    this.#watch(exchange, token === null ? path : `/v1/mcp/${token.slice(0, 6)}`);
    if (request.headers.host === undefined && request.httpVersion === "1.1") {
      return refuse(exchange, 400, "VALIDATION_ERROR", "Host is missing");
    }
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
    const requestId = mintRequestId(this.#deps.clock.wall());
    const ipOf = (): string => this.#ipOf(request);
    return {
      request,
      response,
      requestId,
      // Worked out only where a limit asks for it.
      get ip() {
        return ipOf();
      },
      route: "other",
      trace: this.#deps.tracer?.begin(request) ?? null,
    };
  }

  #ipOf(request: IncomingMessage): string {
    const forwarded = request.headers["x-forwarded-for"];
    const header = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
    const peer = request.socket.remoteAddress ?? "";
    return addressKey(clientAddress(peer, header, this.#deps.trustProxy));
  }

  #pathOf(request: IncomingMessage): string {
    const target = request.url ?? "/";
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
    const host = request.headers.host ?? "";
    return hostNames.has(host.replace(/:\d+$/, "").toLowerCase());
  }

  #opensSocket(request: IncomingMessage): boolean {
    const { upgrade } = request.headers;
    return upgrade?.toLowerCase() === "websocket" && this.#pathOf(request) === "/v1/socket";
  }

  #upgrade(routes: EdgeRoutes, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = mintRequestId(this.#deps.clock.wall());
    if (!this.#answersFor(request)) {
      this.#deps.meter?.upgradeRefused(421);
      return refuseRaw(socket, 421, requestId, "MISDIRECTED", "Unknown Host");
    }
    const refusal = routes.sockets.upgrade(request, socket, head, {
      ip: this.#ipOf(request),
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

function searchOf(request: IncomingMessage): string {
  const target = request.url ?? "";
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
