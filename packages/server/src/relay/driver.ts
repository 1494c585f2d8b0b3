import { isCounted } from "@relay/protocol";
import type {
  AppFrame,
  CallId,
  CloseCode,
  LinkId,
  Limits,
  Outcome,
  RelayFrame,
  RequestId,
} from "@relay/protocol";
import type { Clock } from "../clock.ts";
import { judgeAnswer } from "../core/answer.ts";
import type { Answer } from "../core/answer.ts";
import { HostGate } from "../core/host-gate.ts";
import { LinkCalls } from "../core/link.ts";
import type { LinkEffect, LinkEvent } from "../core/link.ts";
import type { Progress } from "../core/host-answers.ts";
import { MINUTE_MS, MinuteWindow } from "../core/rate.ts";
import type { Meter } from "../observe/meter.ts";
import type { Tool } from "../core/toolbox.ts";
import type { CallRow, Client, Link } from "../store/store.ts";
import { endText } from "./call-end.ts";
import type { CallEnd } from "./call-end.ts";
import type { ProjectState } from "./project-state.ts";
import type { Quota } from "./quota.ts";
import type { Settler } from "./settle.ts";

/** The app's end of a link, as the relay sees it. */
export interface AppSocket {
  /** Queues a frame; false when the socket is closed or its buffer full, and then it is dropped. */
  send(frameText: string): boolean;
  /** Sends a WebSocket ping and calls `onPong` when its pong is back, unless a later one was sent. */
  ping(onPong: () => void): void;
  close(code: CloseCode): void;
}

/** The host's end of one call. `ended` comes last, exactly once. */
export interface CallObserver {
  /** The app was handed the call: a stream may open. */
  sent(): void;
  progressed(progress: Progress): void;
  /** The call has its outcome; what is left is to write it down. */
  decided?(outcome: Outcome): void;
  ended(end: CallEnd): void;
  /** Frames of the call as they are sent to the app and come from it; for who wants to see them. */
  frame?(direction: FrameDirection, text: string): void;
}

export type FrameDirection = "to_app" | "from_app";

/** A call that fits its tool, on its way to the app. */
export type FittingCall = {
  readonly callId: CallId;
  readonly requestId: RequestId;
  readonly rpcKey: string;
  readonly tool: Tool;
  readonly argumentsText: string;
  readonly argumentsBytes: number;
  readonly client: Client | null;
  readonly observer: CallObserver;
};

export type DriverDeps = {
  readonly clock: Clock;
  readonly quota: Quota;
  readonly settler: Settler;
  readonly limits: Limits;
  readonly meter?: Meter | undefined;
};

/**
 * Performs what `core/link` decides for one link: in order, one event at a time, with one timer.
 * Holds the link's record while the link is in use.
 */
export class LinkDriver {
  readonly linkId: LinkId;
  readonly project: ProjectState;
  readonly gate = new HostGate();
  readonly #deps: DriverDeps;
  readonly #core: LinkCalls;
  readonly #events: LinkEvent[] = [];
  #link: Link;
  #commands: MinuteWindow | null = null;
  #hellos: MinuteWindow | null = null;
  #live: Map<CallId, LiveCall> | null = null;
  #socket: { readonly epoch: number; readonly end: AppSocket } | null = null;
  #incoming: { readonly epoch: number; readonly end: AppSocket } | null = null;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  #isFeeding = false;
  /** When the record was last read: whoever read it may be about to use this driver. */
  #readAt: number;

  constructor(deps: DriverDeps, link: Link, project: ProjectState) {
    this.#deps = deps;
    this.linkId = link.linkId;
    this.#link = link;
    this.project = project;
    this.#core = new LinkCalls(project.callSettings, link.paused);
    this.#readAt = this.#now();
  }

  get link(): Link {
    return this.#link;
  }

  get isConnected(): boolean {
    return this.#core.socket !== null;
  }

  get inFlight(): number {
    return this.#core.inFlight;
  }

  /** What the model calls the app: its own name, or the project's before the first hello. */
  get appName(): string {
    return this.#link.app?.name ?? this.project.project.name;
  }

  /** Whether forgetting this driver would change nothing. */
  isIdle(now: number): boolean {
    return (
      now - this.#readAt >= MINUTE_MS &&
      this.#core.isIdle(now) &&
      this.gate.isIdle(now) &&
      this.#commands?.isOver(now) !== false &&
      this.#hellos?.isOver(now) !== false
    );
  }

  /** Replaces the record; what the core keeps of it follows. */
  update(link: Link): void {
    this.#link = link;
    this.#readAt = this.#now();
    if (link.paused !== this.#core.paused) this.#feed({ type: "paused", paused: link.paused });
  }

  /** Takes over the project's changed settings. */
  applySettings(): void {
    this.#feed({ type: "settings", settings: this.project.callSettings });
  }

  /** Counts one `ping` or `link.*` frame; false when the minute's are used up. */
  takeCommand(): boolean {
    this.#commands ??= new MinuteWindow();
    return this.#commands.take(this.#now(), this.#deps.limits.commandsPerMinute) === 0;
  }

  /** Counts one hello of this link; false when the minute's are used up. */
  takeHello(): boolean {
    this.#hellos ??= new MinuteWindow();
    return this.#hellos.take(this.#now(), this.#deps.limits.hellosPerMinute) === 0;
  }

  /** Makes `end` the link's live socket unless a newer one is; returns whether it is now. */
  connect(epoch: number, end: AppSocket): boolean {
    this.#incoming = { epoch, end };
    this.#feed({ type: "connected", epoch });
    const isLive = this.#core.socket === epoch;
    if (isLive) this.#socket = this.#incoming;
    this.#incoming = null;
    return isLive;
  }

  /** The socket of `epoch` is gone; says whether it was the live one. */
  disconnect(epoch: number): boolean {
    const wasLive = this.#core.socket === epoch;
    this.#feed({ type: "disconnected", epoch });
    return wasLive;
  }

  /** Closes the live socket; the calls it holds end as `disconnected`. */
  closeSocket(code: CloseCode): void {
    this.#feed({ type: "close", code });
  }

  /** Ends the calls that still wait for their quota decision, as `busy`: this Relay is ending. */
  giveUp(): void {
    this.#feed({ type: "give_up" });
  }

  /** Sends a frame to the live socket, if there is one. */
  tell(frame: RelayFrame): void {
    this.#socket?.end.send(JSON.stringify(frame));
  }

  /** Pings the live socket and calls `onPong` when its pong is back. */
  ping(onPong: () => void): void {
    this.#socket?.end.ping(onPong);
  }

  /** Starts a call; its observer hears of it, perhaps before this returns. */
  start(call: FittingCall): void {
    const startedAt = this.#deps.clock.wall();
    const live: LiveCall = { call, startedAt, startedMs: this.#now(), sentMs: 0, answer: null };
    this.#live ??= new Map();
    this.#live.set(call.callId, live);
    this.#feed({ type: "call", callId: call.callId, rpcKey: call.rpcKey });
  }

  /** The host closed the call's stream. */
  hostGone(callId: CallId): void {
    this.#feed({ type: "host_gone", callId });
  }

  /** The host cancelled by JSON-RPC id. */
  hostCancelled(rpcKey: string): void {
    this.#feed({ type: "host_cancelled", rpcKey });
  }

  /**
   * Takes an app's answer. One to a call that is unknown, over, or another socket's is dropped. An
   * answer that breaks a rule ends its call all the same; the reason is returned for the app.
   * `fault` is what is wrong with the frame's JSON, if anything is.
   */
  answer(
    epoch: number,
    frame: Extract<AppFrame, { type: "result" | "error" }>,
    text: string,
    fault: string | null,
  ): { readonly invalid: string } | null {
    // A checked border: an id that is not one of ours is simply not found.
    const callId = frame.id as CallId;
    const live = this.#live?.get(callId);
    if (live === undefined || !this.#core.isAnswerable(callId, epoch)) return null;
    const answer: Answer =
      fault === null
        ? judgeAnswer(frame, text, live.call.tool.output, this.#deps.limits)
        : { ok: false, reason: fault, bytes: 0 };
    live.answer = answer;
    live.call.observer.frame?.("from_app", text);
    const outcome = answer.ok && frame.type === "result" ? "ok" : "tool_error";
    this.#feed({ type: "answered", callId, epoch, outcome });
    return answer.ok ? null : { invalid: answer.reason };
  }

  /** Passes an app's progress on to the call's host. */
  progress(epoch: number, frame: Extract<AppFrame, { type: "progress" }>, text: string): void {
    const callId = frame.id as CallId;
    const live = this.#live?.get(callId);
    if (live === undefined || !this.#core.isAnswerable(callId, epoch)) return;
    live.call.observer.frame?.("from_app", text);
    live.call.observer.progressed(frame);
  }

  /** Feeds the core one event at a time: what an effect causes waits until its batch is done. */
  #feed(event: LinkEvent): void {
    this.#events.push(event);
    if (this.#isFeeding) return;
    this.#isFeeding = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        for (const effect of this.#core.apply(next, this.#now())) this.#perform(effect);
      }
    } finally {
      this.#isFeeding = false;
    }
    this.#arm();
  }

  #perform(effect: LinkEffect): void {
    switch (effect.type) {
      case "reserve":
        return this.#reserve(effect.callId);
      case "release":
        return this.#deps.quota.release(this.#link.projectId, effect.callId);
      case "send":
        return this.#send(effect.callId, effect.epoch);
      case "cancel":
        return this.#cancel(effect.callId, effect.epoch);
      case "close":
        return this.#close(effect.epoch, effect.code);
      case "finish":
        return this.#finish(effect);
    }
  }

  #reserve(callId: CallId): void {
    const startedAt = this.#live?.get(callId)?.startedAt ?? this.#deps.clock.wall();
    const verdict = this.#deps.quota.reserve(this.#link.projectId, callId, startedAt);
    if (typeof verdict === "string") {
      this.#events.push({ type: "reserved", callId, verdict });
      return;
    }
    void verdict.then((late) => this.#feed({ type: "reserved", callId, verdict: late }));
  }

  #send(callId: CallId, epoch: number): void {
    const live = this.#live?.get(callId);
    const end = this.#endOf(epoch);
    if (live === undefined || end === null) return;
    const deadlineMs = this.#deps.clock.wall() + this.#deps.limits.callTimeoutSeconds * 1000;
    const { tool, argumentsText, observer } = live.call;
    const frame = `{"type":"call","id":"${callId}","tool":${JSON.stringify(tool.name)},"arguments":${argumentsText},"deadline":"${new Date(deadlineMs).toISOString()}"}`;
    live.sentMs = this.#now();
    observer.frame?.("to_app", frame);
    if (end.send(frame)) observer.sent();
    // What can't be queued ends at once: the socket is dropped, and its calls with it.
    else this.#events.push({ type: "disconnected", epoch });
  }

  #cancel(callId: CallId, epoch: number): void {
    const frame = `{"type":"cancel","id":"${callId}"}`;
    this.#live?.get(callId)?.call.observer.frame?.("to_app", frame);
    this.#endOf(epoch)?.send(frame);
  }

  #close(epoch: number, code: CloseCode): void {
    this.#endOf(epoch)?.close(code);
    if (this.#socket?.epoch === epoch) this.#socket = null;
  }

  #endOf(epoch: number): AppSocket | null {
    if (this.#socket?.epoch === epoch) return this.#socket.end;
    return this.#incoming?.epoch === epoch ? this.#incoming.end : null;
  }

  #finish(effect: Extract<LinkEffect, { type: "finish" }>): void {
    const live = this.#live?.get(effect.callId);
    if (live === undefined) return;
    this.#live?.delete(effect.callId);
    const end = this.#endFor(effect, live);
    const row = this.#rowFor(effect, live);
    live.call.observer.decided?.(effect.outcome);
    if (effect.sent) {
      const appMs = this.#now() - live.sentMs;
      this.#deps.settler.settle(row, () => {
        live.call.observer.ended(end);
        const wholeMs = this.#now() - live.startedMs;
        this.#deps.meter?.callAnswered(effect.outcome, { wholeMs, appMs });
      });
      return;
    }
    this.#deps.settler.note(row, !this.gate.keepsRefusedRow(this.#now(), this.#deps.limits));
    live.call.observer.ended(end);
  }

  #endFor(effect: Extract<LinkEffect, { type: "finish" }>, live: LiveCall): CallEnd {
    const { outcome } = effect;
    if (live.answer?.ok === true && (outcome === "ok" || outcome === "tool_error")) {
      const { contentText, structuredText, isError } = live.answer;
      return { outcome, contentText, structuredText, isError };
    }
    const reason = live.answer?.ok === false ? live.answer.reason : "";
    const text = endText(outcome, {
      app: this.appName,
      timeoutSeconds: this.#deps.limits.callTimeoutSeconds,
      waitSeconds: effect.waitSeconds ?? 1,
      reason,
    });
    return {
      outcome,
      contentText: `[{"type":"text","text":${JSON.stringify(text)}}]`,
      structuredText: null,
      isError: true,
    };
  }

  #rowFor(effect: Extract<LinkEffect, { type: "finish" }>, live: LiveCall): CallRow {
    const { call } = live;
    return {
      callId: call.callId,
      projectId: this.#link.projectId,
      linkId: this.linkId,
      tool: call.tool.name,
      toolKnown: true,
      client: call.client ?? this.#link.client,
      outcome: effect.outcome,
      counted: isCounted(effect.outcome, effect.sent),
      startedAt: live.startedAt,
      durationMs: Math.round(this.#now() - live.startedMs),
      requestBytes: call.argumentsBytes,
      resultBytes: live.answer?.bytes ?? 0,
      requestId: call.requestId,
    };
  }

  /** Keeps one timer, set for the earliest deadline or before; a call that ends leaves it running. */
  #arm(): void {
    const next = this.#core.nextDeadline;
    if (next === null || (this.#timer !== null && this.#timer.at <= next)) return;
    this.#timer?.cancel();
    const cancel = this.#deps.clock.after(Math.max(0, next - this.#now()), () => {
      this.#timer = null;
      this.#feed({ type: "tick" });
    });
    this.#timer = { at: next, cancel };
  }

  #now(): number {
    return this.#deps.clock.monotonic();
  }
}

type LiveCall = {
  readonly call: FittingCall;
  readonly startedAt: number;
  readonly startedMs: number;
  /** When the app was handed the call; 0 before. */
  sentMs: number;
  answer: Answer | null;
};
