/**
 * An app on bare TCP, for what a WebSocket library won't send or won't show: broken frames, frames
 * cut in the middle, a peer that does not read, and how exactly a connection ended.
 */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { JsonObject } from "./harness.ts";

export const OPCODES = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

/** How a connection ended; `code` is null where no close frame came (a library shows 1006). */
export type RawEnd = { readonly code: number | null; readonly reason: string };

export type RawOptions = {
  /** Request headers besides those of an upgrade; one named like them replaces it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in the same write as the upgrade, right behind it. */
  readonly behind?: Buffer;
  readonly path?: string;
  readonly method?: string;
};

export class RawApp {
  /** Every text frame that came, parsed. */
  readonly frames: JsonObject[] = [];
  /** The payload of every ping that came; none is answered by itself. */
  readonly pings: Buffer[] = [];
  readonly ended: Promise<RawEnd>;
  readonly tcp: Socket;
  #head: string | null = null;
  #body = "";
  #unread: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  #isOver = false;
  #end: RawEnd = { code: null, reason: "" };
  #taken = 0;
  #pongs = 0;
  #wakers: (() => void)[] = [];

  /** Opens a connection and asks for the upgrade; `answered` tells what came of it. */
  constructor(socketUrl: string, options: RawOptions = {}) {
    const url = new URL(socketUrl);
    this.tcp = connect({ host: "127.0.0.1", port: Number(url.port), noDelay: true });
    this.tcp.on("data", (chunk) => this.#read(chunk));
    this.tcp.on("error", () => undefined);
    this.ended = new Promise((resolve) => {
      this.tcp.on("close", () => {
        this.#isOver = true;
        resolve(this.#end);
        this.#wake();
      });
    });
    const upgrade = Buffer.from(upgradeText(url, options));
    this.tcp.write(Buffer.concat([upgrade, options.behind ?? Buffer.alloc(0)]));
  }

  /** Opens a connection that is upgraded. */
  static async open(socketUrl: string, options: RawOptions = {}): Promise<RawApp> {
    const app = new RawApp(socketUrl, options);
    const answer = await app.answered();
    if (answer.status !== 101) throw new Error(`${answer.status} ${answer.body}`);
    return app;
  }

  /** Waits for the answer to the upgrade; a refusal's body is read to the end. */
  async answered(): Promise<{ status: number; headers: Headers; body: string }> {
    await this.#until(() => this.#isAnswered() || this.#isOver);
    const [status = ""] = (this.#head ?? "").split("\r\n");
    return {
      status: Number(status.split(" ")[1] ?? 0),
      headers: this.#headers(),
      body: this.#body,
    };
  }

  /** Sends one frame as a client does: masked. */
  frame(opcode: number, payload: Buffer | string = "", isFinal = true): void {
    this.tcp.write(frameBytes(opcode, payload, isFinal));
  }

  /** Sends a whole message: an object as JSON, a text as it is. */
  send(frame: unknown): void {
    this.frame(OPCODES.text, typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Waits for the next text frame; throws when the connection ends before one comes. */
  async next(): Promise<JsonObject> {
    await this.#until(() => this.frames.length > this.#taken || this.#isOver);
    const frame = this.frames[this.#taken];
    if (frame === undefined) throw new Error("the connection ended before a frame came");
    this.#taken += 1;
    return frame;
  }

  /** Waits until so many pings have come. */
  async pinged(count: number): Promise<void> {
    await this.#until(() => this.pings.length >= count || this.#isOver);
    if (this.pings.length < count) throw new Error("the connection ended before a ping came");
  }

  /** Sends a WebSocket ping and waits for its pong: what was sent before it has been read. */
  async wasRead(): Promise<void> {
    const pongs = this.#pongs + 1;
    this.frame(OPCODES.ping);
    await this.#until(() => this.#pongs >= pongs || this.#isOver);
  }

  /** Ends the connection as a process that is killed does. */
  destroy(): void {
    this.tcp.destroy();
  }

  #isAnswered(): boolean {
    if (this.#head === null) return false;
    const bytes = Number(this.#headers().get("content-length") ?? 0);
    return this.#isUpgraded || Buffer.byteLength(this.#body) >= bytes;
  }

  #headers(): Headers {
    const [, ...lines] = (this.#head ?? "").split("\r\n");
    return new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    if (this.#head === null) {
      const end = this.#unread.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#head = this.#unread.subarray(0, end).toString("latin1");
      this.#unread = this.#unread.subarray(end + 4);
      this.#isUpgraded = this.#head.startsWith("HTTP/1.1 101 ");
    }
    if (this.#isUpgraded) while (this.#readFrame());
    else this.#body = this.#unread.toString("utf8");
    this.#wake();
  }

  /** Takes one whole frame off the unread bytes. Relay never masks and never fragments. */
  #readFrame(): boolean {
    const bytes = this.#unread;
    if (bytes.length < 2) return false;
    const short = bytes.readUInt8(1);
    const headBytes = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length < headBytes) return false;
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short === 126
          ? bytes.readUInt16BE(2)
          : short;
    if (bytes.length < headBytes + length) return false;
    this.#unread = bytes.subarray(headBytes + length);
    this.#take(bytes.readUInt8(0) & 0x0f, bytes.subarray(headBytes, headBytes + length));
    return true;
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === OPCODES.text) this.frames.push(JSON.parse(payload.toString("utf8")));
    if (opcode === OPCODES.ping) this.pings.push(Buffer.from(payload));
    if (opcode === OPCODES.pong) this.#pongs += 1;
    if (opcode !== OPCODES.close) return;
    const hasCode = payload.length >= 2;
    this.#end = {
      code: hasCode ? payload.readUInt16BE(0) : 1005,
      reason: payload.subarray(2).toString("utf8"),
    };
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wakers.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}

/** The bytes of one frame, masked with zeros, which leave its payload as it is. */
export function frameBytes(opcode: number, payload: Buffer | string = "", isFinal = true): Buffer {
  const body = typeof payload === "string" ? Buffer.from(payload) : payload;
  return Buffer.concat([frameHead(opcode, BigInt(body.length), isFinal), Buffer.alloc(4), body]);
}

/** The header of a masked frame without its mask, for a payload of any claimed length. */
export function frameHead(opcode: number, length: bigint, isFinal = true): Buffer {
  const first = (isFinal ? 0x80 : 0) | opcode;
  if (length < 126n) return Buffer.from([first, 0x80 | Number(length)]);
  if (length < 65_536n) {
    const head = Buffer.from([first, 0x80 | 126, 0, 0]);
    head.writeUInt16BE(Number(length), 2);
    return head;
  }
  const head = Buffer.concat([Buffer.from([first, 0x80 | 127]), Buffer.alloc(8)]);
  head.writeBigUInt64BE(length, 2);
  return head;
}

function upgradeText(url: URL, options: RawOptions): string {
  const headers = {
    Host: url.host,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    ...options.headers,
  };
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}`);
  const start = `${options.method ?? "GET"} ${options.path ?? url.pathname} HTTP/1.1`;
  return `${[start, ...lines].join("\r\n")}\r\n\r\n`;
}
