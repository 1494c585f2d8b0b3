import { TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { CallId, Limits, Outcome } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import {
  invalidArgumentsAnswer,
  toolErrorAnswer,
  toolResultAnswer,
  unknownToolAnswer,
} from "../core/host-answers.ts";
import type { Progress, ServerFacts } from "../core/host-answers.ts";
import type { ToolCall } from "../core/host-request.ts";
import type { CallEnd } from "../relay/call-end.ts";
import type { CallObserver, LinkDriver } from "../relay/driver.ts";
import type { OpenManifest } from "../relay/manifests.ts";
import type { RelayNode } from "../relay/node.ts";
import type { Routed } from "../relay/router.ts";
import type { Waits } from "../waits.ts";
import type { Exchange } from "./exchange.ts";
import type { Reply } from "./reply.ts";
import { CallStream } from "./sse.ts";

type CallDeps = {
  readonly node: RelayNode;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly openings: Waits;
};

/** One `tools/call` of a host, from its start to the one answer it gets. */
export class HostCall implements CallObserver {
  readonly #deps: CallDeps;
  readonly #exchange: Exchange;
  readonly #reply: Reply;
  readonly #driver: LinkDriver;
  readonly #asked: ToolCall;
  readonly #facts: ServerFacts;
  #stream: CallStream | null = null;
  #callId: CallId | null = null;
  #isOver = false;

  constructor(
    deps: CallDeps,
    exchange: Exchange,
    reply: Reply,
    driver: LinkDriver,
    asked: ToolCall,
    facts: ServerFacts,
  ) {
    this.#deps = deps;
    this.#exchange = exchange;
    this.#reply = reply;
    this.#driver = driver;
    this.#asked = asked;
    this.#facts = facts;
  }

  start(open: OpenManifest | null): void {
    const { node } = this.#deps;
    const { requestId, response } = this.#exchange;
    response.on("close", () => this.#hostGone());
    const routed = node.router.call(this.#driver, open, this.#asked, requestId, this);
    if (routed.type === "started") this.#callId = routed.callId;
    else this.#refused(routed);
    // The host may have left before there was anything to cancel.
    if (response.destroyed) this.#hostGone();
  }

  sent(): void {
    this.#exchange.trace?.callSent();
    if (this.#isOver || !this.#reply.accept.stream) return;
    this.#stream = new CallStream(this.#exchange.response, {
      clock: this.#deps.clock,
      openings: this.#deps.openings,
      keepAliveMs: this.#deps.limits.keepAliveSeconds * 1000,
      requestId: this.#exchange.requestId,
      progressToken: this.#asked.progressToken,
    });
    this.#stream.open();
  }

  progressed(progress: Progress): void {
    this.#stream?.progress(progress);
  }

  decided(outcome: Outcome): void {
    this.#exchange.trace?.callEnded(outcome);
  }

  ended(end: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const body = toolResultAnswer(this.#asked, this.#facts, end);
    if (this.#stream !== null) this.#stream.end(body);
    else this.#reply.instant(200, body);
  }

  #refused(routed: Exclude<Routed, { type: "started" }>): void {
    this.#isOver = true;
    this.#exchange.trace?.callEnded(routed.type);
    this.#reply.instant(200, refusalAnswer(routed, this.#asked, this.#facts, this.#driver.appName));
  }

  #hostGone(): void {
    if (this.#isOver || this.#callId === null) return;
    this.#isOver = true;
    this.#stream?.stop();
    this.#driver.hostGone(this.#callId);
  }
}

function refusalAnswer(
  routed: Exclude<Routed, { type: "started" }>,
  asked: ToolCall,
  facts: ServerFacts,
  app: string,
): string {
  switch (routed.type) {
    case "unknown_tool":
      return unknownToolAnswer(asked);
    case "invalid_input":
      return invalidArgumentsAnswer(asked, facts, routed.why);
    case "rate_limited":
      return toolErrorAnswer(asked, facts, TOOL_ERROR_TEXTS.rate_limited(app, routed.waitSeconds));
  }
}
