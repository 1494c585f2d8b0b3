import { CLOSE_CODES } from "@relay/protocol";
import type { CloseCode } from "@relay/protocol";
import type { SocketEvent } from "../runtime.ts";

/** What happens at Relay's end of a socket. */
export type FakePeer = {
  readonly received: (text: string) => void;
  /** The app has closed, or the connection was lost. */
  readonly gone: () => void;
};

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

/**
 * A WebSocket in memory: the app has one end of it, `FakeRelay` the other. What one end sends, the
 * other gets in a later microtask and in order, as over a wire.
 */
export class FakeSocket {
  readyState = CONNECTING;
  readonly #listeners: { readonly type: string; readonly listener: (event: never) => void }[] = [];
  readonly #peer: FakePeer;
  #hasEnded = false;

  /** `accept` gives Relay its end once the app can have listened, or null to refuse. */
  constructor(accept: (socket: FakeSocket) => FakePeer | null) {
    const peer = accept(this);
    this.#peer = peer ?? { received: () => undefined, gone: () => undefined };
    queueMicrotask(() => {
      if (this.#hasEnded) return;
      if (peer === null) {
        this.#end(1006, "");
        return;
      }
      this.readyState = OPEN;
      this.#tell({ type: "open" });
    });
  }

  addEventListener(type: SocketEvent["type"], listener: (event: SocketEvent) => void): void {
    this.#listeners.push({ type, listener });
  }

  send(data: string): void {
    if (this.readyState === CONNECTING) throw new Error("the socket is not open yet");
    queueMicrotask(() => {
      if (!this.#hasEnded) this.#peer.received(data);
    });
  }

  close(code = 1005): void {
    if (this.#hasEnded) return;
    this.#peer.gone();
    this.#end(code, "");
  }

  /** Relay sends a frame. */
  deliver(frame: object): void {
    const data = JSON.stringify(frame);
    queueMicrotask(() => {
      if (!this.#hasEnded) this.#tell({ type: "message", data });
    });
  }

  /** Relay closes; what it sent before still arrives. */
  closeByRelay(code: CloseCode): void {
    queueMicrotask(() => this.#end(code, CLOSE_CODES[code].reason));
  }

  /** The connection is lost without a close frame. */
  drop(): void {
    this.#end(1006, "");
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.readyState = CLOSED;
    if (code === 1006) this.#tell({ type: "error" });
    queueMicrotask(() => this.#tell({ type: "close", code, reason }));
  }

  #tell(event: SocketEvent): void {
    for (const { type, listener } of this.#listeners) {
      // `addEventListener` takes listeners of any of these events.
      if (type === event.type) (listener as (event: SocketEvent) => void)(event);
    }
  }
}
