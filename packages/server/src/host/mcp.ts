import type { IncomingMessage } from "node:http";
import { parseToken } from "@relay/protocol";
import type { Limits } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { checkHeaderParams } from "../core/header-params.ts";
import type { HostHeaders } from "../core/header-params.ts";
import {
  disabledAnswer,
  discoverAnswer,
  initializeAnswer,
  methodNotFoundAnswer,
  namelessCallAnswer,
  pingAnswer,
  toolsListAnswer,
} from "../core/host-answers.ts";
import type { HostAnswer, ServerFacts } from "../core/host-answers.ts";
import { readHostRequest } from "../core/host-request.ts";
import type { MethodRequest } from "../core/host-request.ts";
import { MinuteWindows } from "../core/rate.ts";
import type { Log } from "../observe/log.ts";
import type { LinkDriver } from "../relay/driver.ts";
import type { OpenManifest } from "../relay/manifests.ts";
import type { RelayNode } from "../relay/node.ts";
import { Waits } from "../waits.ts";
import { readBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { HostCall } from "./host-call.ts";
import { Reply } from "./reply.ts";
import { OPEN_WITHIN_MS } from "./sse.ts";

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

/** The MCP endpoint of every link: `/v1/mcp/{urlToken}`, both generations on one URL (SPEC 6). */
export class McpEndpoint {
  readonly #deps: McpDeps & { readonly openings: Waits };
  readonly #unknownTokens = new MinuteWindows(ADDRESSES_MAX);

  constructor(deps: McpDeps) {
    this.#deps = { ...deps, openings: new Waits(deps.clock, OPEN_WITHIN_MS) };
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
    // What is at hand is taken at once: every await costs a call more than it does.
    const driver =
      token === null ? null : (node.router.connected(token) ?? (await node.router.open(token)));
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
        // The drain may have begun while the body came: what is read now would be a new call.
        if (node.isDraining) return reply.unavailable();
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
    const open = node.router.manifestAtHand(driver) ?? (await node.router.manifestOf(driver));
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
