import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Limits } from "@relay/protocol";
import { WebSocketServer } from "ws";
import type { Server as SocketServer } from "ws";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { Meter, SocketEnd } from "../observe/meter.ts";
import type { RelayNode } from "../relay/node.ts";
import { AppWebSocket } from "./app-web-socket.ts";
import { AppConnection, FLOOD_FRAMES } from "./connection.ts";
import { Outbox } from "./outbox.ts";

/** A message, in one frame or in fragments, is whole within this time (SPEC 5). */
const MESSAGE_MS = 10_000;
const FRAGMENTS_MAX = 64;
/** Bytes of unfinished messages: of all sockets before their hello, and of all sockets. */
const UNFINISHED_SILENT_MAX = 64 * 1024 * 1024;
const UNFINISHED_MAX = 256 * 1024 * 1024;
/** A socket is terminated this long after its close frame, if its peer has not closed by then. */
const CLOSE_TIMEOUT_MS = 1_000;

export type SocketDeps = {
  readonly node: RelayNode;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly meter?: Meter | undefined;
  readonly outbox: Outbox;
  /** A connection's unfinished bytes grew or shrank. */
  readonly onUnfinished: (connection: AppConnection, change: number) => void;
  /** A connection's hello was judged. */
  readonly onGreeted: (connection: AppConnection) => void;
};

/** Why an upgrade is refused. */
export type UpgradeRefusal = { readonly status: 400 | 503; readonly message: string };

declare module "ws" {
  interface ServerOptions {
    /** Ms between a close frame and the end of a peer that does not answer it. */
    closeTimeout?: number;
    /** Pongs that may wait to be sent; one more ends the connection. */
    maxPendingAutoPongs?: number;
  }
}

/**
 * All sockets of apps: upgrades, keep-alive, and the bounds that hold over all of them together.
 * What one app says on its socket is `connection.ts`.
 */
export class AppSockets {
  readonly #deps: SocketDeps;
  readonly #server: SocketServer<typeof AppWebSocket>;
  readonly #connections = new Set<AppConnection>();
  readonly #silentByIp = new Map<string, number>();
  #unfinished = 0;
  #unfinishedSilent = 0;
  #stopSweep: () => void = () => undefined;

  constructor(deps: Omit<SocketDeps, "outbox" | "onUnfinished" | "onGreeted">) {
    this.#deps = {
      ...deps,
      outbox: new Outbox(),
      onUnfinished: (connection, change) => this.#countUnfinished(connection, change),
      onGreeted: (connection) => this.#noLongerSilent(connection),
    };
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: deps.limits.frameBytes,
      maxFragments: FRAGMENTS_MAX,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // A burst that is within the frames of a second is answered; a peer that reads no pong is dropped.
      maxPendingAutoPongs: FLOOD_FRAMES,
      WebSocket: AppWebSocket,
    });
    this.#sweepLater();
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Bytes of messages that have begun and not ended. */
  get unfinishedBytes(): number {
    return this.#unfinished;
  }

  /** Bytes that wait to be sent. */
  get unsentBytes(): number {
    let bytes = 0;
    for (const connection of this.#connections) bytes += connection.unsentBytes;
    return bytes;
  }

  /** Takes an upgrade of `/v1/socket`, or says why not; `extraHeaders` go into the 101 answer. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    peer: { readonly ip: string; readonly extraHeaders: readonly string[] },
  ): UpgradeRefusal | null {
    if (this.#deps.node.isDraining) return { status: 503, message: "the relay is restarting" };
    const silent = this.#silentByIp.get(peer.ip) ?? 0;
    if (silent >= this.#deps.limits.pendingSocketsPerIp) {
      return { status: 503, message: "too many sockets of this address have not said hello" };
    }
    let refusal: UpgradeRefusal | null = null;
    const onBadHandshake = (error: Error): void => {
      refusal = { status: 400, message: error.message };
    };
    const onHeaders = (headers: string[]): void => {
      headers.push(...peer.extraHeaders);
    };
    // The library tells both by events of the server, while this call runs.
    this.#server.once("wsClientError", onBadHandshake);
    this.#server.once("headers", onHeaders);
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      // An upgrade of node:http always comes with its TCP socket.
      this.#accept(ws, socket as Socket, { ip: peer.ip, origin: request.headers.origin ?? null });
    });
    this.#server.off("wsClientError", onBadHandshake);
    this.#server.off("headers", onHeaders);
    return refusal;
  }

  /** Closes what is still open with 1012, waits for the handshakes, at most `ms`, drops the rest. */
  async close(ms: number): Promise<void> {
    const { clock } = this.#deps;
    for (const connection of this.#connections) connection.close(1012);
    const until = clock.monotonic() + ms;
    while (this.#connections.size > 0 && clock.monotonic() < until) {
      await new Promise<void>((resolve) => clock.after(10, resolve));
    }
    this.#stopSweep();
    for (const connection of this.#connections) connection.drop();
  }

  #accept(
    ws: AppWebSocket,
    tcp: Socket,
    peer: { readonly ip: string; readonly origin: string | null },
  ): void {
    const connection = new AppConnection(this.#deps, ws, tcp, peer);
    this.#connections.add(connection);
    this.#silentByIp.set(peer.ip, (this.#silentByIp.get(peer.ip) ?? 0) + 1);
    this.#deps.meter?.socketOpened();
    ws.on("close", (code, reason) => {
      const close = ws.endedWith ?? { code, reason: reason.toString("utf8") };
      this.#deps.meter?.socketClosed({ code: close.code, by: enderOf(ws, code) });
      this.#connections.delete(connection);
      this.#noLongerSilent(connection);
      this.#countUnfinished(connection, -connection.meter.unfinishedBytes);
      connection.closed(close);
    });
  }

  #noLongerSilent(connection: AppConnection): void {
    if (!connection.holdsSilentPlace) return;
    connection.holdsSilentPlace = false;
    this.#unfinishedSilent -= connection.meter.unfinishedBytes;
    const left = (this.#silentByIp.get(connection.ip) ?? 1) - 1;
    if (left <= 0) this.#silentByIp.delete(connection.ip);
    else this.#silentByIp.set(connection.ip, left);
  }

  #countUnfinished(connection: AppConnection, change: number): void {
    if (change === 0) return;
    this.#unfinished += change;
    if (connection.holdsSilentPlace) this.#unfinishedSilent += change;
    if (this.#unfinishedSilent > UNFINISHED_SILENT_MAX) this.#dropLargest(true);
    if (this.#unfinished > UNFINISHED_MAX) this.#dropLargest(false);
  }

  #dropLargest(silentOnly: boolean): void {
    let largest: AppConnection | null = null;
    for (const connection of this.#connections) {
      if (silentOnly && !connection.holdsSilentPlace) continue;
      if (connection.meter.unfinishedBytes > (largest?.meter.unfinishedBytes ?? 0)) {
        largest = connection;
      }
    }
    largest?.drop();
  }

  /** One timer looks after every socket, so that an idle one costs no timers of its own. */
  #sweepLater(): void {
    const { limits, clock } = this.#deps;
    const shortest = Math.min(
      limits.pingIntervalSeconds,
      limits.silenceSeconds,
      limits.helloTimeoutSeconds,
    );
    const everyMs = Math.min(500, Math.max(20, shortest * 100));
    this.#stopSweep = clock.after(everyMs, () => {
      const now = clock.monotonic();
      for (const connection of this.#connections) this.#look(connection, now);
      this.#sweepLater();
    });
  }

  #look(connection: AppConnection, now: number): void {
    const { limits } = this.#deps;
    const { meter } = connection;
    if (now - meter.lastByteAt >= limits.silenceSeconds * 1000) return connection.drop();
    const helloMs = limits.helloTimeoutSeconds * 1000;
    if (connection.isSilent && now - connection.openedAt >= helloMs) {
      return connection.refuseHello(`no hello within ${limits.helloTimeoutSeconds} seconds`);
    }
    if (meter.unfinishedBytes > 0 && now - meter.unfinishedSince >= MESSAGE_MS) {
      return connection.drop();
    }
    if (now - connection.pingedAt >= limits.pingIntervalSeconds * 1000) connection.keepAlive(now);
  }
}

/** Who ended a socket that closed with `code`. */
function enderOf(ws: AppWebSocket, code: number): SocketEnd["by"] {
  if (ws.endedWith !== null) return "relay";
  return code === 1006 ? "network" : "app";
}
