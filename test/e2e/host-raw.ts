/**
 * One TCP connection to a Relay, for what no HTTP client would send, or would not show.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";

/** How long a test waits for something that does not come. */
const PATIENCE_MS = 15_000;

export type RawAnswer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export class RawConnection {
  readonly socket: Socket;
  /** Resolves with everything that came, once the connection is over. */
  readonly closed: Promise<string>;
  readonly #chunks: Buffer[] = [];
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    // The end of a connection is told by `close`; tests reset some on purpose.
    this.socket.on("error", () => undefined);
    this.socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.once("close", () => {
        this.#isClosed = true;
        this.#wake();
        resolve(this.text);
      });
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  send(data: string | Buffer): void {
    this.socket.write(data);
  }

  /** Waits until what came satisfies `isThere`. */
  async until(isThere: (text: string) => boolean): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isThere(this.text)) {
      if (this.#isClosed) throw new Error(`the connection ended with: ${this.text}`);
      if (Date.now() > deadline) throw new Error(`waited in vain; so far: ${this.text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.text;
  }

  /** Ends our side, as a client that is done does (FIN). */
  finish(): void {
    this.socket.end();
  }

  /** Breaks the connection off (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Writes one request; `Host` is the Relay's own unless `headers` says otherwise. */
export function requestText(
  port: number,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): string {
  const all: Record<string, string> = { Host: `127.0.0.1:${port}`, ...headers };
  if (body !== "" && all["Transfer-Encoding"] === undefined) {
    all["Content-Length"] ??= String(Buffer.byteLength(body));
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** Sends `text` and reads what comes until the Relay ends the connection. */
export async function exchange(port: number, text: string | Buffer): Promise<RawAnswer> {
  const connection = new RawConnection(port);
  connection.send(text);
  return rawAnswer(await connection.closed);
}

/** Splits an answer into its parts; the body is taken as it came. */
export function rawAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) throw new Error(`no whole head in ${JSON.stringify(text)}`);
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}
