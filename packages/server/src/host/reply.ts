import type { OutgoingHttpHeaders } from "node:http";
import { rpcError } from "../core/host-answers.ts";
import { readAccept } from "./accept.ts";
import type { Accepted } from "./accept.ts";
import type { Exchange } from "./exchange.ts";
import { sseEvent, streamHeaders } from "./sse.ts";

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

/** Writes the answers of one exchange, with the headers that all of them carry. */
export class Reply {
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

/** What a browser asks to send, cut to header-name characters so that nothing else comes back. */
function reflected(asked: string): string {
  return asked.slice(0, REFLECTED_HEADERS_MAX).replaceAll(/[^0-9A-Za-z!#$%&'*+.^_`|~, -]/g, "");
}
