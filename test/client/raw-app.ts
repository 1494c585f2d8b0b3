import type { Socket } from "../../packages/client/src/runtime.ts";

/** A frame as a test looks at it: any field may be there, of any type. */
export type Frame = { readonly [field: string]: unknown };

/** An app that sends what a test tells it to, and keeps every frame that came. */
export class RawApp {
  readonly frames: Frame[] = [];
  readonly opened: Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #socket: Socket;
  readonly #taken = new Set<Frame>();
  #wakers: (() => void)[] = [];
  #hasEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.opened = new Promise((resolve) => {
      socket.addEventListener("open", () => resolve());
    });
    socket.addEventListener("error", () => undefined);
    socket.addEventListener("message", ({ data }) => {
      // Relay's frames are JSON objects.
      this.frames.push(JSON.parse(String(data)) as Frame);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.addEventListener("close", ({ code = 0, reason = "" }) => {
        this.#hasEnded = true;
        resolve({ code, reason });
        this.#wake();
      });
    });
  }

  send(frame: Frame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Waits for the next frame of `type`; throws when the socket closes before it comes. */
  async next(type: string): Promise<Frame> {
    for (;;) {
      const found = this.frames.find((frame) => frame["type"] === type && !this.#taken.has(frame));
      if (found !== undefined) {
        this.#taken.add(found);
        return found;
      }
      if (this.#hasEnded) throw new Error(`the socket closed before a frame of type ${type} came`);
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve);
      });
    }
  }

  leave(): void {
    this.#socket.close(1000);
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}
