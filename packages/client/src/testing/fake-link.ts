import { PROTOCOL_VERSION, RPC_TEXTS, TOOL_ERROR_TEXTS, parseAppFrame } from "@relay/protocol";
import type { AppFrame, CloseCode, FrameErrorCode, Limits, RelayFrame } from "@relay/protocol";
import type { LinkRecord } from "../link-store.ts";
import { manifestFault } from "../manifest-fault.ts";
import type { Manifest } from "../manifest-fault.ts";
import type { ToolDefinition } from "../tool.ts";
import { answerOf, sentence } from "./fake-call.ts";
import type { FakeAnswer, FakeCallOptions, LiveFakeCall } from "./fake-call.ts";
import type { FakeSocket } from "./fake-socket.ts";

/** What a link needs of the Relay it belongs to. */
export type FakeHome = {
  readonly limits: Limits;
  readonly projectName: string;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly wall: () => number;
  /** A token of the right shape; the same ones in every run. */
  readonly mint: (prefix: string, characters: number) => string;
};

const MINUTE_MS = 60_000;

/** One link of a `FakeRelay`: what its app has said, what hosts may do, what happens to it. */
export class FakeLink {
  readonly linkId: string;
  readonly linkToken: string;
  readonly label: string | null;
  mcpUrl: string;
  paused = false;
  revoked = false;
  /** What the last valid hello said; null before it. */
  manifest: Manifest | null = null;
  readonly #home: FakeHome;
  readonly #mcpUrlOf: () => string;
  readonly #calls = new Map<string, LiveFakeCall>();
  #socket: FakeSocket | null = null;
  #strikes = 0;
  #minuteStartedAt = Number.NEGATIVE_INFINITY;
  #commands = 0;
  /** The app has not heard of the newest URL. */
  #owesUrl = false;

  constructor(home: FakeHome, label: string | null, mcpUrlOf: () => string) {
    this.#home = home;
    this.#mcpUrlOf = mcpUrlOf;
    this.label = label;
    this.linkId = `0199c4e2-5b7a-7d31-8f2e-${home.mint("", 12)}`;
    this.linkToken = home.mint("lt_", 32);
    this.mcpUrl = mcpUrlOf();
  }

  /** What the app keeps of the link. */
  get record(): LinkRecord {
    return { linkId: this.linkId, linkToken: this.linkToken, mcpUrl: this.mcpUrl };
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  /** The tools as a host lists them; empty before the first hello. */
  get tools(): readonly ToolDefinition[] {
    return this.manifest?.tools ?? [];
  }

  /** Calls a tool as a host does. */
  call(tool: string, args: object = {}, options: FakeCallOptions = {}): Promise<FakeAnswer> {
    const refusal = this.#refusalOf(tool);
    if (refusal !== null) return Promise.resolve(refusal);
    const id = this.#home.mint("c_", 16);
    const { callTimeoutSeconds } = this.#home.limits;
    return new Promise((resolve) => {
      const cancelTimer = this.#home.after(callTimeoutSeconds * 1000, () => {
        const text = TOOL_ERROR_TEXTS.timeout(this.#appName, callTimeoutSeconds);
        this.#cancel(id, sentence("timeout", text));
      });
      const cancel = (): void =>
        this.#cancel(id, sentence("cancelled", TOOL_ERROR_TEXTS.cancelled()));
      options.signal?.addEventListener("abort", cancel);
      const hasOutput = this.tools.some(({ name, outputSchema }) => name === tool && outputSchema);
      const end = (answer: FakeAnswer): void => {
        this.#calls.delete(id);
        cancelTimer();
        options.signal?.removeEventListener("abort", cancel);
        resolve(answer);
      };
      this.#calls.set(id, { end, onProgress: options.onProgress, hasOutput, lastProgress: -1 });
      const deadline = new Date(this.#home.wall() + callTimeoutSeconds * 1000).toISOString();
      this.#send({ type: "call", id, tool, arguments: { ...args }, deadline });
      if (options.signal?.aborted === true) cancel();
    });
  }

  /** Gives the link a new URL, as the developer or the dashboard does. */
  rotate(id: string | null = null): void {
    this.mcpUrl = this.#mcpUrlOf();
    this.#owesUrl = this.#socket === null;
    this.#send({ type: "link.rotated", id, mcpUrl: this.mcpUrl });
  }

  pause(id: string | null = null): void {
    this.paused = true;
    this.#send({ type: "link.state", id, paused: true });
  }

  resume(id: string | null = null): void {
    this.paused = false;
    this.#send({ type: "link.state", id, paused: false });
  }

  revoke(id: string | null = null): void {
    this.revoked = true;
    this.#send({ type: "link.revoked", id });
    this.close(4410);
  }

  /** Closes the app's socket as Relay does; calls that run end as `disconnected`. */
  close(code: CloseCode): void {
    this.#socket?.closeByRelay(code);
    this.#lose();
  }

  /** Loses the connection: the app sees 1006. */
  drop(): void {
    this.#socket?.drop();
    this.#lose();
  }

  /** Says what is wrong with a hello: a close code, and the error frame's message for 4400. */
  hello(
    frame: Extract<AppFrame, { type: "hello" }>,
    socket: FakeSocket,
  ): { readonly code: CloseCode; readonly message: string | null } | null {
    const { limits } = this.#home;
    if (frame.protocol !== PROTOCOL_VERSION) {
      const message = `protocol ${frame.protocol} is not supported; this Relay speaks ${PROTOCOL_VERSION}`;
      return { code: 4400, message };
    }
    // A test's own app made it; the rules look at what they need.
    const manifest = frame as unknown as Manifest;
    const fault = manifestFault(manifest);
    if (fault) return { code: 4400, message: fault };
    this.close(4001);
    this.manifest = manifest;
    this.#socket = socket;
    this.#strikes = 0;
    const { callTimeoutSeconds, resultBytes: resultMaxBytes } = limits;
    this.#send({
      type: "ready",
      linkId: this.linkId,
      paused: this.paused,
      limits: { callTimeoutSeconds, resultMaxBytes },
    });
    if (this.#owesUrl) this.#send({ type: "link.rotated", id: null, mcpUrl: this.mcpUrl });
    this.#owesUrl = false;
    return null;
  }

  /** Takes a frame from the link's live socket. */
  receive(text: string): void {
    const parsed = parseAppFrame(JSON.parse(text));
    if ("fault" in parsed) return this.#strike(parsed.fault.id, parsed.fault.message);
    const { frame } = parsed;
    switch (frame.type) {
      case "hello":
        return this.#strike(null, "hello was already accepted; reconnect to change it");
      case "result":
      case "error":
        return this.#answer(frame);
      case "progress":
        return this.#progress(frame);
      case "ping":
        if (this.#mayCommand(null)) this.#send({ type: "pong" });
        return;
      case "link.rotate":
        if (this.#mayCommand(frame.id)) this.rotate(frame.id);
        return;
      case "link.pause":
        if (this.#mayCommand(frame.id)) this.pause(frame.id);
        return;
      case "link.resume":
        if (this.#mayCommand(frame.id)) this.resume(frame.id);
        return;
      case "link.revoke":
        if (this.#mayCommand(frame.id)) this.revoke(frame.id);
    }
  }

  /** The app has left a socket. */
  left(socket: FakeSocket): void {
    if (socket === this.#socket) this.#lose();
  }

  /** Whether this is the link's live socket. */
  holds(socket: FakeSocket): boolean {
    return socket === this.#socket;
  }

  get #appName(): string {
    return this.manifest?.app.name ?? this.#home.projectName;
  }

  #refusalOf(tool: string): FakeAnswer | null {
    const app = this.#appName;
    if (!this.tools.some(({ name }) => name === tool)) {
      return sentence("unknown_tool", RPC_TEXTS.unknownTool(tool));
    }
    if (this.paused) return sentence("paused", TOOL_ERROR_TEXTS.paused(app));
    if (this.#socket === null) return sentence("offline", TOOL_ERROR_TEXTS.offline(app));
    if (this.#calls.size >= this.#home.limits.callsInFlight) {
      return sentence("busy", TOOL_ERROR_TEXTS.busy(app));
    }
    return null;
  }

  #answer(frame: Extract<AppFrame, { type: "result" | "error" }>): void {
    const call = this.#calls.get(frame.id);
    if (call === undefined) return;
    const { answer, fault } = answerOf(frame, call.hasOutput, this.#home.limits.resultBytes);
    if (fault !== null) this.#fail(frame.id, "invalid_result", fault);
    call.end(answer);
  }

  #progress({ id, progress, total, message }: Extract<AppFrame, { type: "progress" }>): void {
    const call = this.#calls.get(id);
    if (call === undefined || progress <= call.lastProgress) return;
    call.lastProgress = progress;
    call.onProgress?.({
      progress,
      ...(total === null ? {} : { total }),
      ...(message === null ? {} : { message }),
    });
  }

  #cancel(id: string, answer: FakeAnswer): void {
    this.#send({ type: "cancel", id });
    this.#calls.get(id)?.end(answer);
  }

  #lose(): void {
    this.#socket = null;
    const text = TOOL_ERROR_TEXTS.disconnected(this.#appName);
    for (const { end } of this.#calls.values()) end(sentence("disconnected", text));
  }

  #mayCommand(id: string | null): boolean {
    const { commandsPerMinute } = this.#home.limits;
    const now = this.#home.wall();
    if (now - this.#minuteStartedAt >= MINUTE_MS) {
      this.#minuteStartedAt = now;
      this.#commands = 0;
    }
    if (this.#commands >= commandsPerMinute) {
      const message = `at most ${commandsPerMinute} ping frames and link commands a minute`;
      this.#fail(id, "rate_limited", message);
      return false;
    }
    this.#commands += 1;
    return true;
  }

  #strike(id: string | null, message: string): void {
    this.#strikes += 1;
    this.#fail(id, "invalid_message", message);
    if (this.#strikes > this.#home.limits.invalidFrames) this.close(4400);
  }

  #fail(id: string | null, code: FrameErrorCode, message: string): void {
    this.#send({ type: "error", id, code, message });
  }

  #send(frame: RelayFrame): void {
    this.#socket?.deliver(frame);
  }
}
