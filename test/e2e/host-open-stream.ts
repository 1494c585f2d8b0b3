import type { JsonObject } from "./harness.ts";

/** How long a test waits for something that does not come. */
const PATIENCE_MS = 15_000;

/** A host's request whose answer is read while it comes, as a host reads an SSE stream. */
export class OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** Resolves with everything that came, once the answer is over, whole or cut off. */
  readonly ended: Promise<string>;
  readonly #aborter: AbortController;
  #text = "";
  #waiting: (() => void)[] = [];
  #isOver = false;

  private constructor(response: Response, aborter: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#aborter = aborter;
    this.ended = this.#read(response);
  }

  /** Sends the message; resolves when the head of the answer is there. */
  static async open(
    mcpUrl: string,
    message: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OpenStream> {
    const aborter = new AbortController();
    const timer = setTimeout(() => aborter.abort(new Error("no head came")), PATIENCE_MS);
    const response = await fetch(mcpUrl, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: typeof message === "string" ? message : JSON.stringify(message),
      signal: aborter.signal,
    }).finally(() => clearTimeout(timer));
    return new OpenStream(response, aborter);
  }

  get text(): string {
    return this.#text;
  }

  /** The comment lines that came, without the colon. */
  get comments(): string[] {
    const lines = this.#text.split("\n").filter((line) => line.startsWith(":"));
    return lines.map((line) => line.slice(1).trim());
  }

  /** The messages that came whole. */
  get messages(): JsonObject[] {
    const whole = this.#text.slice(0, this.#text.lastIndexOf("\n") + 1);
    const lines = whole.split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => JSON.parse(line.slice("data: ".length)) as JsonObject);
  }

  /** Waits for the end; returns the last message, which is the JSON-RPC answer. */
  async answer(): Promise<JsonObject> {
    await this.ended;
    return this.messages.at(-1) ?? {};
  }

  /** Waits until what came satisfies `isThere`. */
  async until(isThere: (stream: OpenStream) => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isThere(this)) {
      if (this.#isOver) throw new Error(`the stream ended with: ${this.#text}`);
      if (Date.now() > deadline) throw new Error(`waited in vain; so far: ${this.#text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** The host goes away. */
  close(): void {
    this.#aborter.abort();
  }

  async #read(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        this.#text += decoder.decode(chunk as Uint8Array, { stream: true });
        this.#wake();
      }
    } catch {
      // Cut off, by `close` or by the Relay: `ended` says what had come by then.
    }
    this.#isOver = true;
    this.#wake();
    return this.#text;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
