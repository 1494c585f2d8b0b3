import { rpcError } from "../core/host-answers.ts";
import { readAccept } from "./accept.ts";
import type { Accepted } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { instantHeaders, streamHeaders } from "./headers.ts";
import { sseEvent } from "./sse.ts";

const RETRY_AFTER_SECONDS = "5";
const PREFLIGHT_SECONDS = "86400";
const REFLECTED_HEADERS_MAX = 1024;

const METHOD_NOTE = "This is an MCP server. Hosts send it JSON-RPC messages with POST.\n";

/** Writes the answers of one exchange. */
export class Reply {
  readonly accept: Accepted;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.accept = readAccept(exchange.request.headers.accept);
  }

  /** `more` is name, value, name, value. */
  json(status: number, body: string, ...more: readonly string[]): void {
    this.#write(status, body, "Content-Type", "application/json", ...more);
  }

  /** An answer that is ready at once: JSON, or one event for a host that takes nothing else. */
  instant(status: number, body: string): void {
    if (status !== 200 || this.accept.json) return this.json(status, body);
    const { response, requestId } = this.#exchange;
    response.writeHead(200, streamHeaders(requestId));
    response.end(sseEvent(body));
  }

  refuse(status: number, error: "invalidRequest" | "parseError", message: string): void {
    this.json(status, rpcError(null, error, message));
  }

  tooMany(idText: string | null, what: string, waitSeconds: number): void {
    const message = `${what}; try again in ${waitSeconds} s`;
    const body = rpcError(idText, "invalidRequest", message);
    this.json(429, body, "Retry-After", String(waitSeconds));
  }

  /** The rest of an oversized body is not read: the connection ends with the answer. */
  tooLarge(bytesMax: number): void {
    const message = `Request body over ${bytesMax} bytes`;
    this.json(413, rpcError(null, "invalidRequest", message), "Connection", "close");
  }

  unavailable(): void {
    const { response } = this.#exchange;
    if (response.headersSent) return void response.destroy();
    const body = rpcError(null, "invalidRequest", "The relay is not available; try again");
    this.json(503, body, "Retry-After", RETRY_AFTER_SECONDS);
  }

  /** Hosts break on a 202 with a body or a Content-Type. */
  accepted(): void {
    this.#write(202, "");
  }

  preflight(): void {
    const { request, response, requestId } = this.#exchange;
    const asked = request.headers["access-control-request-headers"];
    const allowed = asked === undefined ? [] : ["Access-Control-Allow-Headers", reflected(asked)];
    const vary = ["Vary", "Access-Control-Request-Headers"];
    const methods = ["Access-Control-Allow-Methods", "POST, OPTIONS"];
    const age = ["Access-Control-Max-Age", PREFLIGHT_SECONDS];
    response.writeHead(204, instantHeaders(requestId, ...methods, ...allowed, ...age, ...vary));
    response.end();
  }

  wrongMethod(): void {
    // A HEAD has no body; node leaves it out by itself.
    this.#write(405, METHOD_NOTE, "Allow", "POST", "Content-Type", "text/plain; charset=utf-8");
  }

  #write(status: number, body: string, ...more: readonly string[]): void {
    const { response, requestId } = this.#exchange;
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, instantHeaders(requestId, ...more, "Content-Length", length));
    response.end(body);
  }
}

/** What a browser asks to send, cut to header-name characters so that nothing else comes back. */
function reflected(asked: string): string {
  return asked.slice(0, REFLECTED_HEADERS_MAX).replaceAll(/[^0-9A-Za-z!#$%&'*+.^_`|~, -]/g, "");
}
