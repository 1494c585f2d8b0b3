import type { RequestId } from "@relay/protocol";
import type { ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import { progressNotification } from "../core/host-answers.ts";
import type { Progress } from "../core/host-answers.ts";
import { ProgressGate } from "../core/progress.ts";
import type { Wait, Waits } from "../waits.ts";
import { streamHeaders } from "./headers.ts";

/** Progress is dropped while more than this waits for a host that does not read. */
const PROGRESS_BACKLOG_BYTES = 64 * 1024;

/** "At once" for a person and a proxy, and longer than a quick app takes on a busy machine. */
export const OPEN_WITHIN_MS = 20;
const OPENING = ": open\n\n";

/** Writes one JSON-RPC message as one SSE event. The text is on one line (SPEC 8). */
export function sseEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

export type StreamOptions = {
  readonly clock: Clock;
  /** Waits of `OPEN_WITHIN_MS`, shared by all streams. */
  readonly openings: Waits;
  readonly keepAliveMs: number;
  readonly requestId: RequestId;
  /** The host's progress token as it was written, if it wants progress. */
  readonly progressToken: string | null;
};

/**
 * The SSE stream of one call: opens with a comment at once, keeps alive, carries progress, and ends
 * with exactly one answer. Never writes an `id:`, since nothing can be resumed (SPEC 6).
 */
export class CallStream {
  readonly #response: ServerResponse;
  readonly #options: StreamOptions;
  /** Null for a host that wants no progress. */
  readonly #gate: ProgressGate | null;
  #isOpen = false;
  #opening: Wait | null = null;
  #stopKeepAlive: (() => void) | null = null;
  #stopRelease: (() => void) | null = null;
  #isQuiet = true;

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response;
    this.#options = options;
    this.#gate =
      options.progressToken === null ? null : new ProgressGate(options.clock.monotonic());
  }

  /**
   * Opens the stream within 20 ms. An answer that is there by then goes out with the
   * head in one write, which spares the fastest calls a system call and a packet.
   */
  open(): void {
    this.#opening = this.#options.openings.begin(() => this.#openNow());
  }

  progress(progress: Progress): void {
    if (this.#gate === null) return;
    const now = this.#options.clock.monotonic();
    const due = this.#gate.offer(progress, now);
    if (due !== null) this.#writeProgress(due);
    this.#releaseLater(this.#gate, now);
  }

  /** Sends the answer and ends the stream. */
  end(message: string): void {
    this.stop();
    const held = this.#gate?.flush() ?? null;
    if (held !== null) this.#writeProgress(held);
    if (this.#isOpen) {
      this.#response.end(sseEvent(message));
      return;
    }
    const whole = OPENING + sseEvent(message);
    const length = String(Buffer.byteLength(whole));
    const { requestId } = this.#options;
    this.#response.writeHead(200, streamHeaders(requestId, "Content-Length", length));
    this.#response.end(whole);
  }

  /** Stops the timers of a stream whose host is gone. */
  stop(): void {
    this.#opening?.cancel();
    this.#stopKeepAlive?.();
    this.#stopRelease?.();
    this.#stopRelease = null;
  }

  /** Sends the head and a first comment, so that proxies and hosts see the stream at once. */
  #openNow(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#opening?.cancel();
    this.#response.writeHead(200, streamHeaders(this.#options.requestId));
    this.#response.write(OPENING);
    this.#keepAliveLater();
  }

  #keepAliveLater(): void {
    const { clock, keepAliveMs } = this.#options;
    this.#stopKeepAlive = clock.after(keepAliveMs, () => {
      this.#response.write(": keep-alive\n\n");
      // Comments do not stop an SDK client from giving up after 60 s; progress does.
      if (this.#isQuiet && this.#gate !== null) this.#writeProgress(this.#gate.keepAlive());
      this.#isQuiet = true;
      this.#keepAliveLater();
    });
  }

  #releaseLater(gate: ProgressGate, now: number): void {
    const until = gate.heldUntil;
    if (until === null || this.#stopRelease !== null) return;
    const { clock } = this.#options;
    this.#stopRelease = clock.after(Math.max(1, until - now), () => {
      this.#stopRelease = null;
      const at = clock.monotonic();
      const due = gate.release(at);
      if (due !== null) this.#writeProgress(due);
      this.#releaseLater(gate, at);
    });
  }

  #writeProgress(progress: Progress): void {
    const { progressToken } = this.#options;
    if (progressToken === null) return;
    this.#openNow();
    if (this.#response.writableLength > PROGRESS_BACKLOG_BYTES) return;
    this.#isQuiet = false;
    this.#response.write(sseEvent(progressNotification(progressToken, progress)));
  }
}
