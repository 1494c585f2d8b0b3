import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { TOOL_ERROR_TEXTS, parseToken } from "@relay/protocol";
import type { CallId, Limits, RequestId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { checkHeaderParams } from "../core/header-params.ts";
import type { HostHeaders } from "../core/header-params.ts";
import {
  disabledAnswer,
  discoverAnswer,
  initializeAnswer,
  invalidArgumentsAnswer,
  methodNotFoundAnswer,
  namelessCallAnswer,
  pingAnswer,
  rpcError,
  toolErrorAnswer,
  toolResultAnswer,
  toolsListAnswer,
  unknownToolAnswer,
} from "../core/host-answers.ts";
import type { HostAnswer, ServerFacts } from "../core/host-answers.ts";
import { readHostRequest } from "../core/host-request.ts";
import type { MethodRequest, ToolCall } from "../core/host-request.ts";
import { MinuteWindows } from "../core/rate.ts";
import type { Log } from "../observe/log.ts";
import type { RequestTrace } from "../observe/trace.ts";
import type { CallEnd, LinkDriver } from "../relay/driver.ts";
import type { OpenManifest } from "../relay/manifests.ts";
import type { RelayNode } from "../relay/node.ts";
import type { Routed } from "../relay/router.ts";
import { readAccept } from "./accept.ts";
import type { Accepted } from "./accept.ts";
import { readBody } from "./body.ts";
import { CallStream, sseEvent, streamHeaders } from "./sse.ts";

/** One HTTP exchange, as the edge hands it over. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: RequestId;
  /** The client's address; IPv6 as its /64. */
  readonly ip: string;
  /** The template of the route that answers, for metrics and traces; whoever answers sets it. */
  route: string;
  readonly trace: RequestTrace | null;
};

export type McpDeps = {
  readonly node: RelayNode;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  /** Whether `http:` origins on loopback hosts may call: only while Relay itself is on `http:`. */
  readonly allowsLocalOrigins: boolean;
};

/** Addresses whose unknown tokens are counted at once; past that the oldest window is forgotten. */
const ADDRESSES_MAX = 100_000;
const RETRY_AFTER_SECONDS = 5;
const REFLECTED_HEADERS_MAX = 1024;

const METHOD_NOTE = "This is an MCP server. Hosts send it JSON-RPC messages with POST.\n";

/** What every answer under `/v1/mcp` carries, errors too (SPEC 6 and 14). */
export const MCP_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, Allow",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex",
} as const;

/** The MCP endpoint of every link: `/v1/mcp/{urlToken}`, both generations on one URL (SPEC 6). */
export class McpEndpoint {
  readonly #deps: McpDeps;
  readonly #unknownTokens = new MinuteWindows(ADDRESSES_MAX);

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  /** Answers one request; `tokenText` is the last segment of its path. Never rejects. */
  async handle(exchange: Exchange, tokenText: string): Promise<void> {
    const reply = new Reply(exchange);
    const { method } = exchange.request;
    if (method === "OPTIONS") return reply.preflight();
    if (method !== "POST") return reply.wrongMethod();
    try {
      await this.#post(exchange, reply, tokenText);
    } catch (error) {
      const { requestId } = exchange;
      this.#deps.log.error({ err: error, requestId }, "an MCP request failed");
      reply.unavailable();
    }
  }

  async #post(exchange: Exchange, reply: Reply, tokenText: string): Promise<void> {
    const { node, clock, limits } = this.#deps;
    if (node.isDraining) return reply.unavailable();
    const token = parseToken("urlToken", tokenText);
    const driver = token === null ? null : await node.router.open(token);
    if (driver === null) {
      const wait = this.#unknownTokens.take(
        exchange.ip,
        clock.monotonic(),
        limits.unknownTokensPerMinute,
      );
      return wait > 0
        ? reply.tooMany(null, "too many requests with an unknown URL", wait)
        : reply.refuse(404, "invalidRequest", "Unknown MCP URL");
    }
    const { headers } = exchange.request;
    if (!this.#allowsOrigin(headers.origin)) {
      return reply.refuse(403, "invalidRequest", "Origin not allowed: it must be https");
    }
    if (!isJson(headers["content-type"])) {
      return reply.refuse(415, "invalidRequest", "Content-Type must be application/json");
    }
    const body = await readBody(exchange.request, limits.bodyBytes);
    switch (body.type) {
      case "aborted":
        exchange.response.destroy();
        return;
      case "too_large":
        return reply.tooLarge(limits.bodyBytes);
      case "not_utf8":
        return reply.refuse(400, "parseError", "Parse error: the body is not valid UTF-8");
      case "text":
        return this.#message(exchange, reply, driver, body.text);
    }
  }

  async #message(
    exchange: Exchange,
    reply: Reply,
    driver: LinkDriver,
    text: string,
  ): Promise<void> {
    const hostHeaders = headersOf(exchange.request);
    const asked = readHostRequest(text, hostHeaders, this.#deps.limits);
    if (asked.type === "refused") return reply.json(asked.status, asked.body);
    if (asked.type === "accepted") return reply.accepted();
    if (asked.type === "cancel") {
      driver.hostCancelled(asked.key);
      return reply.accepted();
    }
    if (driver.project.isDisabled) return reply.instant(200, disabledAnswer(asked));
    return this.#method(exchange, reply, driver, asked, hostHeaders);
  }

  async #method(
    exchange: Exchange,
    reply: Reply,
    driver: LinkDriver,
    asked: MethodRequest,
    hostHeaders: HostHeaders,
  ): Promise<void> {
    const { node, clock, limits } = this.#deps;
    if (asked.type !== "call") {
      const wait = driver.gate.takeMeta(clock.monotonic(), limits);
      if (wait > 0) return reply.tooMany(asked.idText, "too many requests this minute", wait);
    }
    if (asked.client !== null) node.router.noteClient(driver, asked.client);
    const open = await node.router.manifestOf(driver);
    const facts = factsOf(driver, open);
    if (asked.type !== "call") {
      const answer = instantAnswer(asked, facts);
      return reply.instant(answer.status, answer.body);
    }
    if (node.settler.isFull) return reply.unavailable();
    const tool = open?.toolbox.get(asked.name);
    if (asked.era === "modern" && tool !== undefined && asked.arguments.ok) {
      const { idText } = asked;
      const call = { idText, argumentsValue: asked.arguments.value };
      const mismatch = checkHeaderParams(tool.headerParams, call, hostHeaders);
      if (mismatch !== null) return reply.json(mismatch.status, mismatch.body);
    }
    new HostCall(this.#deps, exchange, reply, driver, asked, facts).start(open);
  }

  #allowsOrigin(origin: string | undefined): boolean {
    if (origin === undefined) return true;
    if (origin.startsWith("https:")) return true;
    return this.#deps.allowsLocalOrigins && isLocalOrigin(origin);
  }
}

/** One `tools/call` of a host, from its start to the one answer it gets. */
class HostCall {
  readonly #deps: McpDeps;
  readonly #exchange: Exchange;
  readonly #reply: Reply;
  readonly #driver: LinkDriver;
  readonly #asked: ToolCall;
  readonly #facts: ServerFacts;
  #stream: CallStream | null = null;
  #callId: CallId | null = null;
  #isOver = false;

  constructor(
    deps: McpDeps,
    exchange: Exchange,
    reply: Reply,
    driver: LinkDriver,
    asked: ToolCall,
    facts: ServerFacts,
  ) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#reply = reply;
    this.#driver = driver;
    this.#asked = asked;
    this.#facts = facts;
  }

  start(open: OpenManifest | null): void {
    const { node } = this.#deps;
    const { requestId, response } = this.#exchange;
    response.on("close", () => this.#hostGone());
    const routed = node.router.call(this.#driver, open, this.#asked, requestId, {
      sent: () => this.#sent(),
      progressed: (progress) => this.#stream?.progress(progress),
      decided: (outcome) => this.#exchange.trace?.callEnded(outcome),
      ended: (end) => this.#ended(end),
    });
    if (routed.type === "started") this.#callId = routed.callId;
    else this.#refused(routed);
    // The host may have left before there was anything to cancel.
    if (response.destroyed) this.#hostGone();
  }

  #sent(): void {
    this.#exchange.trace?.callSent();
    if (this.#isOver || !this.#reply.accept.stream) return;
    this.#stream = new CallStream(this.#exchange.response, {
      clock: this.#deps.clock,
      keepAliveMs: this.#deps.limits.keepAliveSeconds * 1000,
      headers: this.#reply.headers,
      progressToken: this.#asked.progressToken,
    });
    this.#stream.open();
  }

  #ended(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const body = toolResultAnswer(this.#asked, this.#facts, end);
    if (this.#stream !== null) this.#stream.end(body);
    else this.#reply.instant(200, body);
  }

  #refused(routed: Exclude<Routed, { type: "started" }>): void {
    this.#isOver = true;
    this.#exchange.trace?.callEnded(routed.type);
    this.#reply.instant(200, refusalAnswer(routed, this.#asked, this.#facts, this.#driver.appName));
  }

  #hostGone(): void {
    if (this.#isOver || this.#callId === null) return;
    this.#isOver = true;
    this.#stream?.stop();
    this.#driver.hostGone(this.#callId);
  }
}

/** Writes the answers of one exchange, with the headers that all of them carry. */
class Reply {
  readonly headers: OutgoingHttpHeaders;
  readonly accept: Accepted;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.headers = { ...MCP_HEADERS, "X-Request-Id": exchange.requestId };
    this.accept = readAccept(exchange.request.headers.accept);
  }

  json(status: number, body: string, more: OutgoingHttpHeaders = {}): void {
    this.#exchange.response.writeHead(status, {
      ...this.headers,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      ...more,
    });
    this.#exchange.response.end(body);
  }

  /** An answer that is ready at once: JSON, or one event for a host that takes nothing else. */
  instant(status: number, body: string): void {
    if (status !== 200 || this.accept.json) return this.json(status, body);
    this.#exchange.response.writeHead(200, streamHeaders(this.headers));
    this.#exchange.response.end(sseEvent(body));
  }

  refuse(status: number, error: "invalidRequest" | "parseError", message: string): void {
    this.json(status, rpcError(null, error, message));
  }

  tooMany(idText: string | null, what: string, waitSeconds: number): void {
    const message = `${what}; try again in ${waitSeconds} s`;
    const body = rpcError(idText, "invalidRequest", message);
    this.json(429, body, { "Retry-After": waitSeconds });
  }

  /** The rest of an oversized body is not read: the connection ends with the answer. */
  tooLarge(bytesMax: number): void {
    const message = `Request body over ${bytesMax} bytes`;
    this.json(413, rpcError(null, "invalidRequest", message), { Connection: "close" });
  }

  unavailable(): void {
    const { response } = this.#exchange;
    if (response.headersSent) return void response.destroy();
    const body = rpcError(null, "invalidRequest", "The relay is not available; try again");
    this.json(503, body, { "Retry-After": RETRY_AFTER_SECONDS });
  }

  /** Hosts break on a 202 with a body or a Content-Type. */
  accepted(): void {
    this.#exchange.response.writeHead(202, { ...this.headers, "Content-Length": 0 });
    this.#exchange.response.end();
  }

  preflight(): void {
    const asked = this.#exchange.request.headers["access-control-request-headers"];
    this.#exchange.response.writeHead(204, {
      ...this.headers,
      "Access-Control-Allow-Methods": "POST, OPTIONS",
      ...(asked === undefined ? {} : { "Access-Control-Allow-Headers": reflected(asked) }),
      "Access-Control-Max-Age": 86_400,
      Vary: "Access-Control-Request-Headers",
    });
    this.#exchange.response.end();
  }

  wrongMethod(): void {
    this.#exchange.response.writeHead(405, {
      ...this.headers,
      Allow: "POST",
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": Buffer.byteLength(METHOD_NOTE),
    });
    // A HEAD has no body; node leaves it out by itself.
    this.#exchange.response.end(METHOD_NOTE);
  }
}

function instantAnswer(
  asked: Exclude<MethodRequest, { type: "call" }>,
  facts: ServerFacts,
): HostAnswer {
  switch (asked.type) {
    case "initialize":
      return { status: 200, body: initializeAnswer(asked, facts) };
    case "ping":
      return { status: 200, body: pingAnswer(asked) };
    case "list":
      return { status: 200, body: toolsListAnswer(asked, facts) };
    case "discover":
      return { status: 200, body: discoverAnswer(asked, facts) };
    case "unknown_method":
      return methodNotFoundAnswer(asked);
    case "nameless_call":
      return { status: 200, body: namelessCallAnswer(asked) };
  }
}

function refusalAnswer(
  routed: Exclude<Routed, { type: "started" }>,
  asked: ToolCall,
  facts: ServerFacts,
  app: string,
): string {
  switch (routed.type) {
    case "unknown_tool":
      return unknownToolAnswer(asked);
    case "invalid_input":
      return invalidArgumentsAnswer(asked, facts, routed.why);
    case "rate_limited":
      return toolErrorAnswer(asked, facts, TOOL_ERROR_TEXTS.rate_limited(app, routed.waitSeconds));
  }
}

function factsOf(driver: LinkDriver, open: OpenManifest | null): ServerFacts {
  return { projectName: driver.project.project.name, manifest: open?.manifest ?? null };
}

function headersOf(request: IncomingMessage): HostHeaders {
  return {
    get: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
  };
}

function isJson(contentType: string | undefined): boolean {
  const [type = ""] = (contentType ?? "").split(";");
  return type.trim().toLowerCase() === "application/json";
}

function isLocalOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  if (protocol !== "http:") return false;
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** What a browser asks to send, cut to header-name characters so that nothing else comes back. */
function reflected(asked: string): string {
  return asked.slice(0, REFLECTED_HEADERS_MAX).replaceAll(/[^0-9A-Za-z!#$%&'*+.^_`|~, -]/g, "");
}
