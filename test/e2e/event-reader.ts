/** Reads a stream of events as a page does, one at a time. */
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject } from "./harness.ts";

export type StreamEvent = { readonly event: string; readonly data: JsonObject };

const PATIENCE_MS = 30_000;

export class EventReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #decoder = new TextDecoder();
  #text = "";
  #isOver = false;

  constructor(response: Response, abort: AbortController) {
    if (response.body === null) throw new Error("an answer without a body");
    this.response = response;
    this.#reader = response.body.getReader();
    this.#abort = abort;
  }

  static async open(url: string, init: RequestInit = {}): Promise<EventReader> {
    const abort = new AbortController();
    return new EventReader(await fetch(url, { ...init, signal: abort.signal }), abort);
  }

  /** The next event; null when the stream has ended. */
  async next(): Promise<StreamEvent | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const event = read(block);
        if (event !== null) return event;
      } else if (this.#isOver) return null;
      else await this.#more();
    }
  }

  /** The next event of this name; the others are passed over. */
  async nextOf(name: string): Promise<JsonObject> {
    for (;;) {
      const found = await this.next();
      if (found === null) throw new Error(`the stream ended before ${name} came`);
      if (found.event === name) return found.data;
    }
  }

  /** Every event up to the end of the stream. */
  async rest(): Promise<StreamEvent[]> {
    const all: StreamEvent[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) all.push(event);
    return all;
  }

  /** Leaves, as a closed page does. */
  leave(): void {
    this.#abort.abort();
  }

  async #more(): Promise<void> {
    const patience = new AbortController();
    const late = wait(PATIENCE_MS, undefined, { signal: patience.signal }).then(() => {
      throw new Error("nothing came on the stream");
    });
    try {
      const { done, value } = await Promise.race([this.#reader.read(), late]);
      if (done) this.#isOver = true;
      else this.#text += this.#decoder.decode(value, { stream: true });
    } finally {
      patience.abort();
      late.catch(() => undefined);
    }
  }
}

/** An event of its lines; null for a comment. */
function read(block: string): StreamEvent | null {
  const field = (name: string): string | null => {
    const line = block.split("\n").find((one) => one.startsWith(`${name}: `));
    return line === undefined ? null : line.slice(name.length + 2);
  };
  const event = field("event");
  return event === null ? null : { event, data: JSON.parse(field("data") ?? "null") as JsonObject };
}
