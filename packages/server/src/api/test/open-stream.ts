import { createServer, get } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EventStream } from "../event-stream.ts";
import type { ApiContext } from "../routes.ts";

/** As much of a context as a stream reads. */
export function contextOf(response: ServerResponse): ApiContext {
  const exchange = { response, requestId: "req_1" };
  return { var: { exchange } } as unknown as ApiContext;
}

/** A stream over a real connection, whose reader has not begun to read. */
export class OpenStream {
  readonly stream: EventStream;
  readonly #answer: IncomingMessage;
  readonly #close: () => void;

  private constructor(stream: EventStream, answer: IncomingMessage, close: () => void) {
    this.stream = stream;
    this.#answer = answer;
    this.#close = close;
  }

  static async open(): Promise<OpenStream> {
    const opened = Promise.withResolvers<EventStream>();
    const server = createServer((_incoming, response) => {
      opened.resolve(new EventStream(contextOf(response), () => undefined));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A server that listens on a port has an address.
    const { port } = server.address() as AddressInfo;
    const answered = Promise.withResolvers<IncomingMessage>();
    get({ port, host: "127.0.0.1" }, answered.resolve);
    const [stream, answer] = await Promise.all([opened.promise, answered.promise]);
    return new OpenStream(stream, answer, () => server.close());
  }

  /** Sends until the client is behind by what it does not read. */
  async fill(): Promise<void> {
    const filler = "x".repeat(60_000);
    while (!this.stream.isBehind) {
      this.stream.send("filler", filler);
      // The kernel takes some megabytes first.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Reads until `end` is there; returns everything but the filler. */
  async readUntil(end: string): Promise<string> {
    let text = "";
    for await (const chunk of this.#answer.setEncoding("utf8")) {
      text = (text + String(chunk)).replaceAll(/event: filler\ndata: x*\n\n/g, "");
      if (text.includes(end)) return text;
    }
    throw new Error(`the stream ended before ${end}`);
  }

  [Symbol.dispose](): void {
    this.stream.end();
    this.#answer.destroy();
    this.#close();
  }
}
