import { PROTOCOL_VERSION } from "@relay/protocol";
import type { AppInfo, RelayFrame } from "@relay/protocol";
import { isFinalClose, reconnectDelayMs } from "./reconnect.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** One tool: its MCP definition, sent to hosts unchanged, and what it does. */
export type AppTool = {
  readonly definition: JsonObject & { readonly name: string; readonly inputSchema: JsonObject };
  /** Returns the text of the answer; what it throws is told to the model. */
  readonly run: (
    input: JsonObject,
    call: { readonly signal: AbortSignal },
  ) => string | Promise<string>;
};

export type AppOptions = {
  readonly socketUrl: string;
  readonly linkToken: string;
  readonly app: AppInfo;
  readonly instructions?: string;
  readonly tools: readonly AppTool[];
  /** Called with every frame, before it is acted on or right after it is sent. */
  readonly onFrame?: (direction: "sent" | "received", frame: JsonObject) => void;
  /** Called after each close; `retryInMs` is null when the app must stay away. */
  readonly onClose?: (code: number, reason: string, retryInMs: number | null) => void;
};

/** An app's place on its link. */
export type ConnectedApp = {
  /** Resolves with the first `ready`; rejects if the app must stay away. */
  readonly ready: Promise<void>;
  /** Leaves for good. */
  close(): void;
};

/** Keeps an app connected by the product spec's rule, and answers its calls with its tools. */
export function connectApp(options: AppOptions): ConnectedApp {
  const app = new App(options);
  app.connect();
  return app;
}

class App implements ConnectedApp {
  readonly ready: Promise<void>;
  readonly #options: AppOptions;
  readonly #running = new Map<string, AbortController>();
  #socket: WebSocket | null = null;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;
  #becomeReady: () => void = () => undefined;
  #giveUp: (error: Error) => void = () => undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#giveUp = reject;
    });
    // Whoever does not wait for it is told by `onClose`.
    this.ready.catch(() => undefined);
  }

  connect(): void {
    const socket = new WebSocket(this.#options.socketUrl);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#hello());
    socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") this.#receive(event.data);
    });
    socket.addEventListener("close", (event) => this.#closed(event.code, event.reason));
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#socket?.close(1000);
  }

  #hello(): void {
    const { linkToken, app, instructions, tools } = this.#options;
    this.#send({
      type: "hello",
      protocol: PROTOCOL_VERSION,
      token: linkToken,
      app,
      ...(instructions === undefined ? {} : { instructions }),
      tools: tools.map((tool) => tool.definition),
    });
  }

  #receive(text: string): void {
    // Relay is the one peer this socket has; its frames are the protocol package's.
    const frame = JSON.parse(text) as RelayFrame;
    this.#options.onFrame?.("received", frame);
    switch (frame.type) {
      case "ready":
        this.#attempt = 0;
        this.#becomeReady();
        return;
      case "call":
        void this.#answer(frame);
        return;
      case "cancel":
        this.#running.get(frame.id)?.abort();
        return;
      case "error":
      case "pong":
      case "link.rotated":
      case "link.state":
      case "link.revoked":
      // Shown by `onFrame`; nothing to do here.
    }
  }

  async #answer(call: Extract<RelayFrame, { type: "call" }>): Promise<void> {
    const socket = this.#socket;
    const running = new AbortController();
    this.#running.set(call.id, running);
    const answer = await this.#run(call, running.signal);
    this.#running.delete(call.id);
    // An answer belongs to the socket its call came by, and one to a cancelled call to nobody.
    if (running.signal.aborted || socket !== this.#socket) return;
    this.#send({ ...answer, id: call.id });
  }

  async #run(
    call: Extract<RelayFrame, { type: "call" }>,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const tool = this.#options.tools.find(({ definition }) => definition.name === call.tool);
    if (tool === undefined) return { type: "error", message: `There is no tool ${call.tool}.` };
    try {
      const text = await tool.run(call.arguments, { signal });
      return { type: "result", content: [{ type: "text", text }] };
    } catch (error) {
      return { type: "error", message: error instanceof Error ? error.message : String(error) };
    }
  }

  #send(frame: JsonObject): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify(frame));
    this.#options.onFrame?.("sent", frame);
  }

  #closed(code: number, reason: string): void {
    for (const running of this.#running.values()) running.abort();
    this.#running.clear();
    if (this.#isClosed) return;
    const isFinal = isFinalClose(code);
    const delayMs = isFinal ? null : reconnectDelayMs(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#options.onClose?.(code, reason, delayMs);
    if (delayMs === null) this.#giveUp(new Error(`the relay closed the socket: ${code} ${reason}`));
    else this.#timer = setTimeout(() => this.connect(), delayMs);
  }
}
