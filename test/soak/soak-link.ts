import { TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";
import type { JsonObject } from "../e2e/harness.ts";
import { AppSocket } from "./app-socket.ts";
import type { LinkFacts } from "./app-socket.ts";
import type { Book } from "./book.ts";
import { HostCall } from "./host-call.ts";
import type { Answer } from "./host-call.ts";

/** How a call must end: its outcome, and what the host must read. */
export type Ending = {
  readonly outcome: Outcome;
  /** The text of the tool result, or the start of the JSON-RPC error's message. */
  readonly text: string;
  readonly kind: "result" | "tool error" | "rpc error";
};

export const LOST: Ending = {
  outcome: "disconnected",
  text: TOOL_ERROR_TEXTS.disconnected("Notes"),
  kind: "tool error",
};

export type CallOptions = {
  readonly tool?: string;
  readonly args?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
};

/** JSON-RPC ids are unique over the whole soak, so that a cancel names one call. */
let calls = 0;

/** A call on its way: what the app will see in it, and what the host waits for. */
export type OpenCall = {
  readonly id: number;
  readonly query: string;
  readonly host: HostCall;
  /** Monotonic ms. */
  readonly begunAt: number;
};

/** One link with its app and its hosts. A scenario has it to itself. */
export class SoakLink {
  facts: LinkFacts;
  mcpUrl: string;
  app: AppSocket;
  /** When the window of calls a minute, if there is one, has surely ended; monotonic ms. */
  windowEndsAt = 0;
  /** Whether a call of this scenario was too late: then what the app was sent is not what was planned. */
  wasLate = false;
  readonly #book: Book;
  readonly #callTimeoutSeconds: number;

  private constructor(facts: LinkFacts, app: AppSocket, book: Book, callTimeoutSeconds: number) {
    this.#callTimeoutSeconds = callTimeoutSeconds;
    this.facts = facts;
    this.mcpUrl = facts.mcpUrl;
    this.app = app;
    this.#book = book;
  }

  static async open(facts: LinkFacts, book: Book, callTimeoutSeconds: number): Promise<SoakLink> {
    return new SoakLink(facts, await AppSocket.connect(facts), book, callTimeoutSeconds);
  }

  /** A new socket for the app; the one before is over, or is taken over by this. */
  async connect(): Promise<void> {
    this.app = await AppSocket.connect(this.facts);
  }

  /** Begins anew where the last scenario came too late: nothing is known of what the app was sent. */
  async startOver(): Promise<void> {
    this.wasLate = false;
    this.app.terminate();
    await this.connect();
  }

  /** The link is over: another one takes its place. */
  async become(facts: LinkFacts): Promise<void> {
    this.facts = facts;
    this.mcpUrl = facts.mcpUrl;
    await this.connect();
  }

  post(method: string, params: JsonObject = {}): HostCall {
    calls += 1;
    return new HostCall(this.mcpUrl, { jsonrpc: "2.0", id: calls, method, params });
  }

  notify(method: string, params: JsonObject): HostCall {
    return new HostCall(this.mcpUrl, { jsonrpc: "2.0", method, params });
  }

  /** Starts a call with a query of its own. */
  call(options: CallOptions = {}, mark = "query "): OpenCall {
    calls += 1;
    const id = calls;
    const query = `${mark}${id}`;
    const params = {
      name: options.tool ?? "search_notes",
      arguments: options.args ?? { query, limit: 10 },
      ...(options.meta === undefined ? {} : { _meta: options.meta }),
    };
    const message = { jsonrpc: "2.0", id, method: "tools/call", params };
    const begunAt = performance.now();
    return { id, query, host: new HostCall(this.mcpUrl, message, options.headers), begunAt };
  }

  /** Starts a call and waits until the app has it; returns the app's id of it too. */
  async held(options: CallOptions = {}): Promise<OpenCall & { readonly callId: string }> {
    const call = this.call(options);
    // A host that is answered before the app has its call says why there is none.
    const early = call.host.answer.then((answer): never => {
      throw new Error(`the host was answered first: ${answer?.status} ${answer?.text}`);
    });
    return { ...call, callId: await Promise.race([this.app.call(call.query), early]) };
  }

  /** Waits for a call's answer, holds it against what must come, and writes down what its row must say. */
  async ends(call: OpenCall, ending: Ending, scenario: string): Promise<Answer> {
    const answer = await call.host.answer;
    if (answer === null) throw new Error("the host has left");
    const wrong = answerFault(answer, call.id, ending);
    const isLate = wrong !== null && this.#wasTooLate(answer, call);
    if (isLate) {
      this.#book.answeredTooLate += 1;
      this.wasLate = true;
    } else if (wrong !== null) this.#book.fault(`${scenario}: ${wrong} (${answer.requestId})`);
    const outcome = isLate ? "timeout" : ending.outcome;
    this.#book.predict(answer.requestId, this.facts.linkId, outcome, scenario);
    return answer;
  }

  /**
   * A machine that is busy enough lets this process sleep past a deadline that it would have kept. By
   * its own clock the time was up, and Relay says so: then the call's end is explained.
   */
  #wasTooLate(answer: Answer, call: OpenCall): boolean {
    const text = TOOL_ERROR_TEXTS.timeout("Notes", this.#callTimeoutSeconds);
    const isUp = performance.now() - call.begunAt >= this.#callTimeoutSeconds * 1_000;
    return (
      isUp &&
      answerFault(answer, call.id, { outcome: "timeout", text, kind: "tool error" }) === null
    );
  }
}

/** Says what is wrong with a host's answer; null if it is as it must be. */
function answerFault(answer: Answer, id: number, ending: Ending): string | null {
  const { status, messages, text } = answer;
  if (status !== 200) return `status ${status}: ${text}`;
  const answers = messages.filter((message) => "result" in message || "error" in message);
  const [only] = answers;
  if (only === undefined || answers.length > 1) return `${answers.length} answers: ${text}`;
  if (only["id"] !== id) return `the id ${only["id"]} instead of ${id}`;
  if (ending.kind === "rpc error") {
    const isIt = only["error"]?.code === -32602 && only["error"].message.startsWith(ending.text);
    return isIt ? null : `not the error "${ending.text}": ${text}`;
  }
  const { isError, content } = only["result"] ?? {};
  const isIt = (isError === true) === (ending.kind === "tool error");
  return isIt && content[0]?.text === ending.text ? null : `not "${ending.text}": ${text}`;
}
