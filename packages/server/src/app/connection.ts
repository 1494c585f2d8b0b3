import type { Socket } from "node:net";
import { CLOSE_CODES, parseAppFrame } from "@relay/protocol";
import type { AppFrame, CloseCode, FrameErrorCode, LinkCommand } from "@relay/protocol";
import { readJson } from "../core/json.ts";
import type { AppSocket, LinkDriver } from "../relay/driver.ts";
import type { RelayNode } from "../relay/node.ts";
import type { SocketClose } from "../store/store.ts";
import type { AppWebSocket } from "./app-web-socket.ts";
import { FrameMeter } from "./frame-meter.ts";
import type { SocketDeps } from "./sockets.ts";

/** Frames a second and bytes a second past which a socket is not read until the second ends. */
export const FLOOD_FRAMES = 1_000;
const FLOOD_BYTES = 8 * 1024 * 1024;

/** Where a connection stands: it has said nothing, is being greeted, is its link's socket, is over. */
type Phase = "silent" | "greeting" | "ready" | "closed";

/** One app's socket, from upgrade to close: reads its frames and acts on them (SPEC 5). */
export class AppConnection implements AppSocket {
  readonly ip: string;
  readonly meter: FrameMeter;
  readonly openedAt: number;
  pingedAt: number;
  /** Whether this socket still counts among its address's that have not said hello. */
  holdsSilentPlace = true;
  readonly #deps: SocketDeps;
  readonly #node: RelayNode;
  readonly #ws: AppWebSocket;
  readonly #origin: string | null;
  #phase: Phase = "silent";
  #strikes = 0;
  #place: { readonly driver: LinkDriver; readonly epoch: number } | null = null;
  /** How the WebSocket closed; null until it has. */
  #closed: SocketClose | null = null;
  /** Frames that came while the hello was being judged; null stands for a binary one. */
  #waiting: (string | null)[] | null = null;
  /** Pings sent that say more than that the connection is alive. */
  #askingPings = 0;
  /** What to do when the pong of the last one of them comes. */
  #onPong: (() => void) | null = null;

  constructor(
    deps: SocketDeps,
    ws: AppWebSocket,
    tcp: Socket,
    peer: { readonly ip: string; readonly origin: string | null },
  ) {
    const now = deps.clock.monotonic();
    this.#deps = deps;
    this.#node = deps.node;
    this.#ws = ws;
    this.#origin = peer.origin;
    this.ip = peer.ip;
    this.openedAt = now;
    this.pingedAt = now;
    this.meter = new FrameMeter(now);
    ws.sendBy(tcp, deps.outbox);
    ws.on("error", () => undefined);
    ws.on("message", (data, isBinary) => {
      // With the default binaryType a message is one Buffer.
      this.#receive(data as Buffer, isBinary);
    });
    tcp.on("data", (chunk: Buffer) => this.#count(chunk));
  }

  get isSilent(): boolean {
    return this.#phase === "silent";
  }

  get isReady(): boolean {
    return this.#phase === "ready";
  }

  get unsentBytes(): number {
    return this.#ws.unsentBytes;
  }

  send(frameText: string): boolean {
    const ws = this.#ws;
    if (ws.readyState !== ws.OPEN) return false;
    if (ws.unsentBytes > this.#deps.limits.sendBufferBytes) {
      ws.terminate();
      return false;
    }
    ws.sendText(frameText);
    return true;
  }

  ping(onPong: () => void): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#askingPings === 0) {
      this.#ws.on("pong", (payload) => {
        if (payload.toString("latin1") === String(this.#askingPings)) this.#onPong?.();
      });
    }
    this.#askingPings += 1;
    this.#onPong = onPong;
    this.#ws.ping(String(this.#askingPings));
  }

  /** A ping that only keeps the connection alive. */
  keepAlive(now: number): void {
    this.pingedAt = now;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  close(code: CloseCode): void {
    this.#ws.close(code, CLOSE_CODES[code].reason);
    // The peer's own close frame must still be read.
    if (this.#ws.isPaused) this.#ws.resume();
    this.#leave();
  }

  /** Ends the connection without a close frame: the app sees 1006. */
  drop(): void {
    this.#ws.terminate();
    this.#leave();
  }

  /** Tells the app what is wrong with its hello, then closes. */
  refuseHello(message: string): void {
    this.#deps.meter?.helloRefused(4400);
    this.#sendError(null, "invalid_message", message);
    this.close(4400);
  }

  /** The WebSocket is closed. */
  closed(close: SocketClose): void {
    this.#leave();
    this.#closed = close;
    this.#leaveLink();
  }

  /** Gives the place on the link back, once, as soon as the WebSocket is closed. */
  #leaveLink(): void {
    const place = this.#place;
    if (place === null || this.#closed === null) return;
    this.#place = null;
    this.#node.socketClosed(place.driver, place.epoch, this.#closed);
  }

  #leave(): void {
    this.#phase = "closed";
    this.#waiting = null;
  }

  #count(chunk: Buffer): void {
    const now = this.#deps.clock.monotonic();
    const before = this.meter.unfinishedBytes;
    this.meter.feed(chunk, now);
    this.#deps.onUnfinished(this, this.meter.unfinishedBytes - before);
    const wait = this.meter.floodWait(now, FLOOD_FRAMES, FLOOD_BYTES);
    if (wait === 0 || this.#ws.isPaused) return;
    this.#ws.pause();
    this.#deps.clock.after(wait, () => {
      if (this.#phase !== "greeting") this.#ws.resume();
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#phase === "closed") return;
    const text = isBinary ? null : data.toString("utf8");
    if (this.#phase !== "greeting") return this.#read(text);
    this.#waiting ??= [];
    this.#waiting.push(text);
  }

  /** Reads one frame; `text` is null for a binary one. */
  #read(text: string | null): void {
    if (text === null) return this.#strike(null, "frames are JSON text, not binary");
    const reading = readJson(text);
    const parsed = parseAppFrame(reading.ok ? reading.value : (reading.value ?? null));
    if (!reading.ok) {
      const frame = "frame" in parsed ? parsed.frame : null;
      if (frame !== null && (frame.type === "result" || frame.type === "error")) {
        return this.#answer(frame, text, reading.fault.message);
      }
      return this.#strike(null, reading.fault.message);
    }
    if ("fault" in parsed) return this.#strike(parsed.fault.id, parsed.fault.message);
    this.#act(parsed.frame, text);
  }

  #act(frame: AppFrame, text: string): void {
    if (this.#phase === "silent") {
      if (frame.type === "hello") void this.#greet(frame, text);
      else this.refuseHello("the first frame must be hello");
      return;
    }
    switch (frame.type) {
      case "hello":
        return this.#strike(null, "hello was already accepted; reconnect to change it");
      case "result":
      case "error":
        return this.#answer(frame, text, null);
      case "progress":
        return this.#place?.driver.progress(this.#place.epoch, frame, text);
      case "ping":
        if (this.#mayCommand(null)) this.send('{"type":"pong"}');
        return;
      case "link.rotate":
      case "link.pause":
      case "link.resume":
      case "link.revoke":
        if (this.#mayCommand(frame.id)) void this.#command(frame.type, frame.id);
    }
  }

  async #greet(frame: Extract<AppFrame, { type: "hello" }>, text: string): Promise<void> {
    this.#phase = "greeting";
    this.#ws.pause();
    const isOpen = (): boolean => this.#phase === "greeting";
    const closeKnown = (): SocketClose | null => this.#closed ?? this.#ws.endedWith;
    const peer = { end: this, origin: this.#origin, isOpen, closeKnown };
    const greeting = await this.#node.handshake.greet(frame, text, peer);
    this.#deps.onGreeted(this);
    switch (greeting.type) {
      case "left":
        // Closed meanwhile, or a newer hello of the link overtook this one and it was told so.
        return;
      case "refused":
        this.#deps.meter?.helloRefused(greeting.code);
        if (!isOpen()) return;
        if (greeting.frame !== null) {
          this.#sendError(null, greeting.frame.code, greeting.frame.message);
        }
        return this.close(greeting.code);
      case "ready":
        this.#deps.meter?.helloAccepted();
        this.#place = greeting;
        if (!isOpen()) return this.#leaveLink();
        this.#phase = "ready";
        this.#ws.resume();
        this.#catchUp();
    }
  }

  /** Reads the frames that came while the hello was being judged. */
  #catchUp(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const text of waiting) {
      if (this.#phase !== "ready") return;
      this.#read(text);
    }
  }

  #answer(
    frame: Extract<AppFrame, { type: "result" | "error" }>,
    text: string,
    fault: string | null,
  ): void {
    if (this.#place === null) return this.refuseHello("the first frame must be hello");
    const verdict = this.#place.driver.answer(this.#place.epoch, frame, text, fault);
    if (verdict !== null) this.#sendError(frame.id, "invalid_result", verdict.invalid);
  }

  #mayCommand(id: string | null): boolean {
    if (this.#place?.driver.takeCommand() === true) return true;
    const { commandsPerMinute } = this.#deps.limits;
    const message = `at most ${commandsPerMinute} ping frames and link commands a minute`;
    this.#sendError(id, "rate_limited", message);
    return false;
  }

  async #command(type: LinkCommand, id: string): Promise<void> {
    if (this.#place === null) return;
    const { driver, epoch } = this.#place;
    const command = { epoch, id };
    try {
      switch (type) {
        case "link.rotate":
          await this.#node.actions.rotate(driver.linkId, command);
          return;
        case "link.pause":
        case "link.resume":
          await this.#node.actions.setPaused(driver.linkId, type === "link.pause", command);
          return;
        case "link.revoke":
          await this.#node.actions.revoke(driver.linkId, command);
      }
    } catch (error) {
      this.#deps.log.error({ err: error, linkId: driver.linkId }, "a link command failed");
      this.#sendError(id, "internal", "the relay could not carry out the command; try again");
    }
  }

  /** An invalid frame: said so, and one too many closes the socket. Before hello one is enough. */
  #strike(id: string | null, message: string): void {
    if (this.#phase === "silent") return this.refuseHello(message);
    this.#strikes += 1;
    this.#sendError(id, "invalid_message", message);
    if (this.#strikes > this.#deps.limits.invalidFrames) this.close(4400);
  }

  #sendError(id: string | null, code: FrameErrorCode, message: string): void {
    this.send(JSON.stringify({ type: "error", id, code, message }));
  }
}
