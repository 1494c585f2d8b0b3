import { META_KEYS, RPC_TEXTS, TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { CallId, Limits, Outcome } from "@relay/protocol";
import { readHostRequest } from "../core/host-request.ts";
import type { ToolCall } from "../core/host-request.ts";
import { memberSpans, rawSlice, readJson } from "../core/json.ts";
import type { CallEnd } from "../relay/call-end.ts";
import type { FrameDirection, LinkDriver } from "../relay/driver.ts";
import type { OpenManifest } from "../relay/manifests.ts";
import type { Routed } from "../relay/router.ts";
import { ApiError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import { readText } from "./routes.ts";
import type { ApiContext, ApiDeps } from "./routes.ts";
import { isoTime } from "./shapes.ts";

/** What calls from the dashboard say of themselves. */
const CLIENT_NAME = "dashboard";
/** Frames are left out while more than this waits for a page that does not read. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

type TryDeps = Pick<ApiDeps, "node" | "clock">;

/** One call that a developer makes on a trial link, told frame by frame as it happens. */
export class LinkTry {
  readonly #deps: TryDeps;
  readonly #context: ApiContext;
  readonly #driver: LinkDriver;
  readonly #asked: ToolCall;
  readonly #startedMs: number;
  #stream: EventStream | null = null;
  #callId: CallId | null = null;
  #durationMs: number | null = null;
  #droppedFrames = 0;
  #isOver = false;

  constructor(deps: TryDeps, context: ApiContext, driver: LinkDriver, asked: ToolCall) {
    this.#deps = deps;
    this.#context = context;
    this.#driver = driver;
    this.#asked = asked;
    this.#startedMs = deps.clock.monotonic();
  }

  /** Makes the call, by the way a host's call goes. */
  start(open: OpenManifest | null): Response {
    const { node } = this.#deps;
    const { requestId } = this.#context.var.exchange;
    const stream = new EventStream(this.#context, () => this.#left());
    this.#stream = stream;
    const ends: CallEnd[] = [];
    const routed = node.router.call(this.#driver, open, this.#asked, requestId, {
      sent: () => undefined,
      progressed: () => undefined,
      decided: () => (this.#durationMs = this.#elapsed()),
      frame: (direction, text) => this.#frame(direction, text),
      ended: (end) => {
        // A call that is refused ends before its id is known here.
        if (this.#callId === null) ends.push(end);
        else this.#ended(end);
      },
    });
    this.#callId = routed.callId;
    const [end] = ends;
    if (routed.type !== "started") this.#ended(refusalEnd(routed, this.#asked, this.#driver));
    else if (end !== undefined) this.#ended(end);
    // The page may have left before there was anything to cancel.
    if (stream.isOver) this.#left();
    return stream.answer;
  }

  #frame(direction: FrameDirection, text: string): void {
    const stream = this.#stream;
    if (stream === null) return;
    if (stream.backlog > BACKLOG_BYTES_MAX) {
      this.#droppedFrames += 1;
      return;
    }
    const at = isoTime(this.#deps.clock.wall());
    stream.send("frame", JSON.stringify({ at, direction, text }));
  }

  #ended(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { outcome, contentText, structuredText, isError } = end;
    const durationMs = this.#durationMs ?? this.#elapsed();
    const facts = { outcome, isError, durationMs, callId: this.#callId };
    // The contents as raw text, so that they are shown as the app wrote them.
    const structured = structuredText === null ? "" : `,"structuredContent":${structuredText}`;
    const data = `${JSON.stringify(facts).slice(0, -1)},"content":${contentText}${structured}}`;
    if (this.#droppedFrames > 0) {
      this.#stream?.send("dropped", JSON.stringify({ frames: this.#droppedFrames }));
    }
    this.#stream?.send("outcome", data);
    this.#stream?.end();
  }

  #left(): void {
    if (this.#isOver || this.#callId === null) return;
    this.#isOver = true;
    this.#driver.hostGone(this.#callId);
  }

  #elapsed(): number {
    return Math.round(this.#deps.clock.monotonic() - this.#startedMs);
  }
}

/** How a call ended that the manifest alone refused, in the words that a host is told. */
function refusalEnd(
  routed: Exclude<Routed, { readonly type: "started" }>,
  asked: ToolCall,
  driver: LinkDriver,
): CallEnd {
  const text = refusalText(routed, asked, driver);
  return {
    outcome: routed.type satisfies Outcome,
    contentText: JSON.stringify([{ type: "text", text: text.toWellFormed() }]),
    structuredText: null,
    isError: true,
  };
}

function refusalText(
  routed: Exclude<Routed, { readonly type: "started" }>,
  asked: ToolCall,
  driver: LinkDriver,
): string {
  switch (routed.type) {
    case "unknown_tool":
      return RPC_TEXTS.unknownTool(asked.name);
    case "invalid_input":
      return RPC_TEXTS.invalidArguments(asked.name, routed.why);
    case "rate_limited":
      return TOOL_ERROR_TEXTS.rate_limited(driver.appName, routed.waitSeconds);
  }
}

/** Reads the body of a try as the call that a host would make, arguments as they were written. */
export async function readTry(
  context: ApiContext,
  limits: Limits,
  version: string,
): Promise<ToolCall> {
  const text = await readText(context, limits.bodyBytes);
  const reading = readJson(text);
  if (!reading.ok) throw invalid(`The body can't be read: ${reading.fault.message}`);
  const { value } = reading;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("The body: must be a JSON object");
  }
  const tool = "tool" in value ? value.tool : undefined;
  if (typeof tool !== "string") throw invalid("tool: must be a string");
  const span = memberSpans(text).get("arguments");
  const argumentsText = span === undefined ? "{}" : rawSlice(text, span);
  const client = { name: CLIENT_NAME, version };
  // The progress token asks for progress, as most hosts do; the id is one that no host has.
  const meta = JSON.stringify({ progressToken: 1, [META_KEYS.clientInfo]: client });
  const id = JSON.stringify(context.var.exchange.requestId);
  const message = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${argumentsText},"_meta":${meta}}}`;
  const asked = readHostRequest(message, { get: () => null }, limits);
  if (asked.type !== "call") throw invalid("arguments: are nested too deeply");
  return asked;
}

function invalid(message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", message);
}
