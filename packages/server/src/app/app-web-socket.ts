import type { Socket } from "node:net";
import { CLOSE_CODES } from "@relay/protocol";
import type { CloseRule } from "@relay/protocol";
import { WebSocket } from "ws";
import type { SocketClose } from "../store/store.ts";
import type { Outbox } from "./outbox.ts";

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
  #way: { readonly tcp: Socket; readonly outbox: Outbox } | null = null;
  /** Frames that leave with the outbox; null when there are none. */
  #held: Buffer[] | null = null;
  #heldBytes = 0;

  /** Says which connection is below, and which outbox its frames leave with. */
  sendBy(tcp: Socket, outbox: Outbox): void {
    this.#way = { tcp, outbox };
  }

  /** Bytes that wait to be sent. */
  get unsentBytes(): number {
    return this.#heldBytes + this.bufferedAmount;
  }

  /** Sends a text frame with the others of this turn of the event loop. */
  sendText(text: string): void {
    const frame = textFrame(text);
    this.#heldBytes += frame.length;
    if (this.#held !== null) {
      this.#held.push(frame);
      return;
    }
    this.#held = [frame];
    this.#way?.outbox.add(this);
  }

  /** Sends what is held now. The library keeps nothing back itself, so the order stays. */
  flush(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#heldBytes = 0;
    const [only] = held;
    const whole = held.length === 1 && only !== undefined ? only : Buffer.concat(held);
    this.#way?.tcp.write(whole);
  }

  override ping(data?: unknown, mask?: boolean, done?: (error: Error) => void): void {
    this.flush();
    super.ping(data, mask, done);
  }

  override close(code?: number, reason?: string | Buffer): void {
    this.flush();
    // The library answers the app's own close frame by this method too, with a Buffer or no code.
    if (code === undefined || typeof reason === "object") return super.close(code, reason);
    if (code === 1009) return this.terminate();
    const text = reason ?? reasonOf(code);
    if (this.readyState === WebSocket.OPEN) this.endedWith = { code, reason: text };
    super.close(code, text);
  }

  override terminate(): void {
    this.flush();
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
