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
    // The library answers the app's own close frame by this method too, with a Buffer or no code.
    if (code === undefined || typeof reason === "object") return super.close(code, reason);
    if (code === 1009) return this.terminate();
    const text = reason ?? reasonOf(code);
    if (this.readyState === WebSocket.OPEN) this.endedWith = { code, reason: text };
    super.close(code, text);
  }

  override terminate(): void {
    if (this.readyState === WebSocket.OPEN) this.endedWith = DROPPED;
    super.terminate();
  }
}

const FINAL_TEXT = 0x81;
/** The longest payload whose length fits in the second byte, and in two bytes behind it. */
const SHORT_MAX = 125;
const MEDIUM_MAX = 0xffff;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT_MAX = 3;

/**
 * Writes a text as one WebSocket frame of a server: final, unmasked, in one buffer, so that it
 * leaves in one write. The library would write the header and the payload apart.
 */
export function textFrame(text: string): Buffer {
  // Enough for any text of this length; the header before it is as long as its real size needs.
  const most = text.length * BYTES_PER_UNIT_MAX;
  const bytes = most <= SHORT_MAX ? most : Buffer.byteLength(text);
  const isShort = bytes <= SHORT_MAX;
  const headerBytes = isShort ? 2 : bytes <= MEDIUM_MAX ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerBytes + bytes);
  const written = frame.write(text, headerBytes, "utf8");
  frame[0] = FINAL_TEXT;
  if (isShort) {
    frame[1] = written;
  } else if (bytes <= MEDIUM_MAX) {
    frame[1] = SHORT_MAX + 1;
    frame.writeUInt16BE(bytes, 2);
  } else {
    frame[1] = SHORT_MAX + 2;
    frame.writeUIntBE(0, 2, 2);
    frame.writeUIntBE(bytes, 4, 6);
  }
  return frame.subarray(0, headerBytes + written);
}

function reasonOf(code: number): string {
  const rules: Readonly<Record<number, CloseRule>> = CLOSE_CODES;
  return rules[code]?.reason ?? "";
}
