import type { RequestId } from "@relay/protocol";

/** What every answer under `/v1/mcp` carries, errors too (SPEC 6 and 14). */
export const MCP_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, Allow",
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex",
  "Cache-Control": "no-store",
} as const;

const INSTANT_LIST = Object.entries(MCP_HEADERS).flat();
const STREAM_LIST = Object.entries({
  ...MCP_HEADERS,
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  "Content-Type": "text/event-stream; charset=utf-8",
}).flat();

/**
 * The headers of an answer that is ready at once, as name, value, name, value: the form that Node
 * writes with the least work.
 */
export function instantHeaders(requestId: RequestId, ...more: readonly string[]): string[] {
  return [...INSTANT_LIST, "X-Request-Id", requestId, ...more];
}

/** The headers of an answer that is an SSE stream. */
export function streamHeaders(requestId: RequestId, ...more: readonly string[]): string[] {
  return [...STREAM_LIST, "X-Request-Id", requestId, ...more];
}
