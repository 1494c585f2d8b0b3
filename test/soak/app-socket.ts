import { WebSocket } from "ws";
import type { JsonObject } from "../e2e/harness.ts";

/** What an app needs to say hello. */
export type LinkFacts = {
  readonly linkId: string;
  readonly linkToken: string;
  readonly mcpUrl: string;
  readonly socketUrl: string;
};

/** How long a scenario waits for a frame before it calls that a fault. */
const PATIENCE_MS = 60_000;
/** Calls with such a query are answered at once: nobody knows when or whether they come. */
export const HASTY = "hasty ";

const SCHEMA = {
  type: "object",
  properties: { query: { type: "string", minLength: 1 }, limit: { type: "integer" } },
  required: ["query"],
} as const;

const TOOLS = Array.from({ length: 6 }, (_, index) => ({
  name: index === 0 ? "search_notes" : `tool_${index}`,
  description: "Full-text search of the person's notes",
  inputSchema: SCHEMA,
}));

type Waiter = {
  readonly wants: (frame: JsonObject) => boolean;
  readonly resolve: (frame: JsonObject) => void;
  readonly reject: (why: Error) => void;
};

/** The app's end of one socket. Keeps every frame until a scenario asks for it, so that none goes unseen. */
export class AppSocket {
  /** Resolves with the code of the close frame. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #inbox: JsonObject[] = [];
  readonly #waiters = new Set<Waiter>();
  #closeCode: number | null = null;
  /** Calls of hasty hosts, whose cancels may come or not. */
  readonly #hasty = new Set<string>();

  private constructor(url: string) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on("error", () => undefined);
    this.#socket.on("message", (data) => {
      this.#receive(JSON.parse((data as Buffer).toString("utf8")) as JsonObject);
    });
    this.closed = new Promise((resolve) => {
      this.#socket.once("close", (code) => {
        this.#closeCode = code;
        resolve(code);
        for (const waiter of this.#waiters) waiter.reject(closedError(code));
        this.#waiters.clear();
      });
    });
  }

  /** Opens a socket, says hello and waits for `ready`. */
  static async connect(link: LinkFacts): Promise<AppSocket> {
    const app = new AppSocket(link.socketUrl);
    await new Promise<void>((resolve, reject) => {
      app.#socket.once("open", resolve);
      app.#socket.once("error", reject);
    });
    app.send({
      type: "hello",
      protocol: 1,
      token: link.linkToken,
      app: { name: "Notes", version: "1" },
      tools: TOOLS,
    });
    await app.next("ready", () => true);
    return app;
  }

  /** Waits for a frame of a type that satisfies `wants` and takes it out of the inbox. */
  async next(type: string, wants: (frame: JsonObject) => boolean): Promise<JsonObject> {
    const isWanted = (frame: JsonObject): boolean => frame["type"] === type && wants(frame);
    const at = this.#inbox.findIndex(isWanted);
    const [found] = at === -1 ? [] : this.#inbox.splice(at, 1);
    if (found !== undefined) return found;
    if (this.#closeCode !== null) throw closedError(this.#closeCode);
    let timer: NodeJS.Timeout | undefined;
    const coming = new Promise<JsonObject>((resolve, reject) => {
      const waiter: Waiter = { wants: isWanted, resolve, reject };
      this.#waiters.add(waiter);
      timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new Error(`no ${type} frame within ${PATIENCE_MS} ms`));
      }, PATIENCE_MS);
    });
    return coming.finally(() => clearTimeout(timer));
  }

  /** The call that carries this query; returns its id. */
  async call(query: string): Promise<string> {
    const frame = await this.next("call", (call) => call["arguments"].query === query);
    return String(frame["id"]);
  }

  async cancel(id: string): Promise<void> {
    await this.next("cancel", (frame) => frame["id"] === id);
  }

  send(frame: JsonObject): void {
    this.#socket.send(JSON.stringify(frame));
  }

  answer(id: string, text: string): void {
    this.send({ type: "result", id, content: [{ type: "text", text }] });
  }

  /** Takes out the frames that no scenario has asked for. */
  unread(): JsonObject[] {
    return this.#inbox.splice(0);
  }

  /** Ends the connection without a close frame, as a lost network does. */
  terminate(): void {
    this.#socket.terminate();
  }

  close(): void {
    this.#socket.close(1000);
  }

  #receive(frame: JsonObject): void {
    const id = String(frame["id"]);
    if (frame["type"] === "call" && String(frame["arguments"].query).startsWith(HASTY)) {
      this.#hasty.add(id);
      this.answer(id, "at once");
      return;
    }
    if (frame["type"] === "cancel" && this.#hasty.delete(id)) return;
    for (const waiter of this.#waiters) {
      if (!waiter.wants(frame)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(frame);
      return;
    }
    this.#inbox.push(frame);
  }
}

function closedError(code: number): Error {
  return new Error(`the socket closed with ${code}`);
}
