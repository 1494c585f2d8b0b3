import { CLOSE_CODES } from "@relay/protocol";
import type { CloseRule } from "@relay/protocol";
import { WebSocket } from "ws";
import type { SocketClose } from "../store/store.ts";

/** How a connection ends that is dropped: nobody sends this code. */
const DROPPED: SocketClose = { code: 1006, reason: "" };

/**
 * A WebSocket that knows whether Relay ended it. A frame over the limit ends the connection with no
 * close frame, as the product spec says. What else the library closes for, such as invalid UTF-8,
 * gets the reason that goes with its code.
 */
export class AppWebSocket extends WebSocket {
  /** What Relay ended it with; null if Relay was not the first. */
  endedWith: SocketClose | null = null;

  override close(code?: number, reason?: string | Buffer): void {
    if (code === 1009) return this.terminate();
    // The library answers the app's own close frame by this method too, with a Buffer or no code.
    if (code === undefined || typeof reason === "object") return super.close(code, reason);
    const text = reason ?? reasonOf(code);
    if (this.readyState === WebSocket.OPEN) this.endedWith = { code, reason: text };
    super.close(code, text);
  }

  override terminate(): void {
    if (this.readyState === WebSocket.OPEN) this.endedWith = DROPPED;
    super.terminate();
  }
}

function reasonOf(code: number): string {
  const rules: Readonly<Record<number, CloseRule>> = CLOSE_CODES;
  return rules[code]?.reason ?? "";
}
