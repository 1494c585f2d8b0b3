import { Agent, request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { JsonObject } from "../e2e/harness.ts";

export type Head = { readonly status: number; readonly requestId: string };

export type Answer = Head & {
  /** The messages of the stream, or the one body. */
  readonly messages: readonly JsonObject[];
  readonly text: string;
};

const agent = new Agent({ keepAlive: true, maxSockets: 2_048, maxFreeSockets: 256 });

/** Lets the connections of all hosts go. */
export function closeHosts(): void {
  agent.destroy();
}

/** One POST of a host, whose head and answer can be waited for, and which can be left. */
export class HostCall {
  readonly head: Promise<Head>;
  /** Resolves with null when the host has left before the end. */
  readonly answer: Promise<Answer | null>;
  readonly #request: ClientRequest;
  #hasLeft = false;

  constructor(url: string, message: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    const body = JSON.stringify(message);
    this.#request = request(url, {
      agent,
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(body)),
        Accept: "application/json, text/event-stream",
        ...headers,
      },
    });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      this.#request.once("response", resolve).once("error", reject);
    });
    this.head = response.then(headOf);
    // Who does not wait for the head need not hear of its failure: `answer` tells it.
    this.head.catch(() => undefined);
    this.answer = response.then(read).catch((error: unknown) => {
      if (this.#hasLeft) return null;
      throw error;
    });
    this.answer.catch(() => undefined);
    this.#request.end(body);
  }

  /** The host goes away. */
  leave(): void {
    this.#hasLeft = true;
    this.#request.destroy();
  }
}

function headOf(response: IncomingMessage): Head {
  return {
    status: response.statusCode ?? 0,
    requestId: String(response.headers["x-request-id"] ?? ""),
  };
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  const texts = isStream
    ? text
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length))
    : [text].filter((body) => body.startsWith("{"));
  const messages = texts.map((line) => JSON.parse(line) as JsonObject);
  return { ...headOf(response), messages, text };
}
