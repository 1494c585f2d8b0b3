import { connect } from "node:net";
import type { Socket } from "node:net";

/**
 * A host's keep-alive connection that writes one fixed request and waits for its answer: as cheap
 * as a caller can be, so that a measurement shows the server and not its client.
 */
export class RawCaller {
  readonly #socket: Socket;
  #text = "";
  #answered: ((text: string) => void) | null = null;

  constructor(url: URL) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (chunk: string) => {
      this.#text += chunk;
      if (!isWhole(this.#text)) return;
      const text = this.#text;
      this.#text = "";
      this.#answered?.(text);
    });
  }

  /** Sends the request, given as the bytes of its head and body, and resolves with the answer. */
  call(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(request, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Writes a POST of `body` to `url` with `headers`. */
export function requestText(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
    "",
    body,
  ].join("\r\n");
}

/** Whether an answer has come to its end, by its length or by its last chunk. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const length = /^content-length: (\d+)/im.exec(text.slice(0, headEnd))?.[1];
  if (length === undefined) return text.endsWith("\r\n0\r\n\r\n");
  return text.length >= headEnd + 4 + Number(length);
}
