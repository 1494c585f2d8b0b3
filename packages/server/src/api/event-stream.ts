import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { ApiContext } from "./routes.ts";

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

/** A stream is behind while more than this waits for a page that does not read. */
const BACKLOG_BYTES_MAX = 64 * 1024;

/** One answer that is a stream of events, written past Hono, so that what waits can be seen. */
export class EventStream {
  readonly #response: ServerResponse;

  /** Sends the head and a first comment. `onClose` runs once, whoever ends the stream. */
  constructor(context: ApiContext, onClose: () => void) {
    const { response, requestId } = context.var.exchange;
    this.#response = response;
    // Who left while they were let in is gone already: no close will be told of them.
    if (response.destroyed) queueMicrotask(onClose);
    else response.once("close", onClose);
    response.writeHead(200, { ...HEADERS, "X-Request-Id": requestId });
    response.write(": open\n\n");
  }

  /** What the handler returns, so that nobody else answers. */
  get answer(): Response {
    return RESPONSE_ALREADY_SENT;
  }

  get isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.#response.writableLength;
  }

  /** Whether the client does not take what is sent: better leave out what comes now. */
  get isBehind(): boolean {
    return this.backlog > BACKLOG_BYTES_MAX;
  }

  /** Sends one event; `data` is text on one line, such as JSON. */
  send(event: string, data: string): void {
    if (!this.isOver) this.#response.write(`event: ${event}\ndata: ${data}\n\n`);
  }

  /** Sends one event unless the client is behind: for what the next one of its name replaces. */
  offer(event: string, data: string): void {
    if (!this.isBehind) this.send(event, data);
  }

  comment(text: string): void {
    if (!this.isOver) this.#response.write(`: ${text}\n\n`);
  }

  end(): void {
    if (!this.isOver) this.#response.end();
  }
}
