import type { CallId, CloseCode, Outcome } from "@relay/protocol";
import type { Admission } from "./ledger.ts";
import { MinuteWindow } from "./rate.ts";

/**
 * The life of all calls of one link (SPEC 7). `apply` takes one event at a time and returns what is
 * to be done about it as plain data; it never awaits and never reads a clock. Times are ms of a
 * monotonic clock. Sockets are named by the epoch of the hello that made them the link's.
 */
export class LinkCalls {
  #socket: number | null = null;
  #paused: boolean;
  #settings: LinkSettings;
  #calls: Map<CallId, LiveCall> = NO_CALLS;
  readonly #window = new MinuteWindow();

  constructor(settings: LinkSettings, paused: boolean) {
    this.#settings = settings;
    this.#paused = paused;
  }

  /** The epoch of the live socket, or null while the app is not connected. */
  get socket(): number | null {
    return this.#socket;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  /** When `apply` wants a `tick` at the latest, or null when nothing is waiting. */
  get nextDeadline(): number | null {
    let next: number | null = null;
    for (const call of this.#calls.values()) {
      if (next === null || call.deadline < next) next = call.deadline;
    }
    return next;
  }

  /** Whether forgetting this link's state would change nothing. */
  isIdle(now: number): boolean {
    return this.#socket === null && this.#calls.size === 0 && this.#window.isOver(now);
  }

  /** Whether `callId` was sent to the socket `epoch` and is not over: only then may it be answered. */
  isAnswerable(callId: CallId, epoch: number): boolean {
    const call = this.#calls.get(callId);
    return call !== undefined && call.sentTo === epoch && epoch === this.#socket;
  }

  apply(event: LinkEvent, now: number): readonly LinkEffect[] {
    switch (event.type) {
      case "call":
        return this.#admit(event, now);
      case "reserved":
        return this.#reserved(event.callId, event.verdict, now);
      case "answered":
        return this.#answered(event);
      case "host_gone":
        return this.#cancel(event.callId);
      case "host_cancelled":
        return this.#cancelByKey(event.rpcKey);
      case "connected":
        return this.#connected(event.epoch);
      case "disconnected":
        return event.epoch === this.#socket ? this.#loseSocket() : [];
      case "close":
        return this.#close(event.code);
      case "paused":
        this.#paused = event.paused;
        return [];
      case "settings":
        this.#settings = event.settings;
        return [];
      case "tick":
        return this.#expire(now);
      case "give_up":
        return this.#giveUp();
    }
  }

  #admit(event: CallEvent, now: number): readonly LinkEffect[] {
    const { callId } = event;
    const wait = this.#window.wait(now, this.#settings.callsPerMinute);
    if (wait > 0) return [refuse(callId, "rate_limited", wait)];
    if (this.#paused) return [refuse(callId, "paused")];
    if (this.#socket === null) return [refuse(callId, "offline")];
    if (this.#calls.size >= this.#settings.callsInFlight) return [refuse(callId, "busy")];
    this.#window.add(now);
    if (this.#calls === NO_CALLS) this.#calls = new Map();
    const deadline = now + this.#settings.callTimeoutMs;
    this.#calls.set(callId, { rpcKey: event.rpcKey, sentTo: null, deadline });
    return [{ type: "reserve", callId }];
  }

  #reserved(callId: CallId, verdict: Reservation, now: number): readonly LinkEffect[] {
    const call = this.#calls.get(callId);
    if (call === undefined) {
      // It ended while it waited: what was reserved for it is nobody's.
      return verdict === "admitted" ? [{ type: "release", callId }] : [];
    }
    if (verdict !== "admitted") {
      this.#calls.delete(callId);
      this.#window.giveBack();
      return [refuse(callId, verdict)];
    }
    if (this.#socket === null) {
      this.#calls.delete(callId);
      return [{ type: "release", callId }, refuse(callId, "offline")];
    }
    call.sentTo = this.#socket;
    call.deadline = now + this.#settings.callTimeoutMs;
    return [{ type: "send", callId, epoch: this.#socket }];
  }

  #answered(event: AnswerEvent): readonly LinkEffect[] {
    if (!this.isAnswerable(event.callId, event.epoch)) return [];
    this.#calls.delete(event.callId);
    return [{ type: "finish", callId: event.callId, outcome: event.outcome, sent: true }];
  }

  #cancel(callId: CallId): readonly LinkEffect[] {
    const call = this.#calls.get(callId);
    if (call === undefined) return [];
    this.#calls.delete(callId);
    const { sentTo } = call;
    const finish = { type: "finish", callId, outcome: "cancelled", sent: sentTo !== null } as const;
    return sentTo === null ? [finish] : [{ type: "cancel", callId, epoch: sentTo }, finish];
  }

  /** Acts only on a key that exactly one call carries: some hosts give every request the id 1. */
  #cancelByKey(rpcKey: string): readonly LinkEffect[] {
    const matches = [...this.#calls].filter(([, call]) => call.rpcKey === rpcKey);
    const [match] = matches;
    return match !== undefined && matches.length === 1 ? this.#cancel(match[0]) : [];
  }

  #connected(epoch: number): readonly LinkEffect[] {
    const older = this.#socket;
    if (older !== null && older >= epoch) return [{ type: "close", epoch, code: 4001 }];
    const effects: LinkEffect[] =
      older === null ? [] : [{ type: "close", epoch: older, code: 4001 }, ...this.#loseSocket()];
    this.#socket = epoch;
    return effects;
  }

  #close(code: CloseCode): readonly LinkEffect[] {
    if (this.#socket === null) return [];
    return [{ type: "close", epoch: this.#socket, code }, ...this.#loseSocket()];
  }

  /** Ends what was sent to the live socket; calls that were not sent yet wait for the next one. */
  #loseSocket(): LinkEffect[] {
    const lost = this.#socket;
    this.#socket = null;
    const effects: LinkEffect[] = [];
    for (const [callId, call] of this.#calls) {
      if (call.sentTo === null || call.sentTo !== lost) continue;
      this.#calls.delete(callId);
      effects.push(
        { type: "release", callId },
        { type: "finish", callId, outcome: "disconnected", sent: true },
      );
    }
    return effects;
  }

  #giveUp(): readonly LinkEffect[] {
    const waiting = [...this.#calls].filter(([, call]) => call.sentTo === null);
    for (const [callId] of waiting) this.#calls.delete(callId);
    return waiting.map(([callId]) => refuse(callId, "busy"));
  }

  #expire(now: number): readonly LinkEffect[] {
    const effects: LinkEffect[] = [];
    for (const [callId, call] of this.#calls) {
      if (call.deadline > now) continue;
      this.#calls.delete(callId);
      if (call.sentTo === null) {
        // No quota decision came: the app never saw the call, so it must not count as a time-out.
        effects.push(refuse(callId, "busy"));
        continue;
      }
      effects.push(
        { type: "cancel", callId, epoch: call.sentTo },
        { type: "finish", callId, outcome: "timeout", sent: true },
      );
    }
    return effects;
  }
}

export type LinkSettings = {
  readonly callsPerMinute: number;
  readonly callsInFlight: number;
  readonly callTimeoutMs: number;
};

/** What the account and the project's cap say of one more call; `busy` where they could not be asked. */
export type Reservation = Admission | "busy";

/** `rpcKey` is the type and value of the host's JSON-RPC id. */
type CallEvent = { readonly type: "call"; readonly callId: CallId; readonly rpcKey: string };
type AnswerEvent = {
  readonly type: "answered";
  readonly callId: CallId;
  readonly epoch: number;
  readonly outcome: "ok" | "tool_error";
};

export type LinkEvent =
  | CallEvent
  | { readonly type: "reserved"; readonly callId: CallId; readonly verdict: Reservation }
  | AnswerEvent
  | { readonly type: "host_gone"; readonly callId: CallId }
  | { readonly type: "host_cancelled"; readonly rpcKey: string }
  | { readonly type: "connected"; readonly epoch: number }
  | { readonly type: "disconnected"; readonly epoch: number }
  | { readonly type: "close"; readonly code: CloseCode }
  | { readonly type: "paused"; readonly paused: boolean }
  | { readonly type: "settings"; readonly settings: LinkSettings }
  | { readonly type: "tick" }
  /** Nobody will decide any more what still waits for its quota. */
  | { readonly type: "give_up" };

export type LinkEffect =
  /** Ask whether the call may use allowance or credit; answer with `reserved`. */
  | { readonly type: "reserve"; readonly callId: CallId }
  /** Give back what was reserved; the call will not count. */
  | { readonly type: "release"; readonly callId: CallId }
  /** Hand the call's frame to the socket `epoch`. */
  | { readonly type: "send"; readonly callId: CallId; readonly epoch: number }
  /** Tell the app to stop; what it still answers is dropped. */
  | { readonly type: "cancel"; readonly callId: CallId; readonly epoch: number }
  | { readonly type: "close"; readonly epoch: number; readonly code: CloseCode }
  /** The call's one outcome. `waitSeconds` is set for `rate_limited` only. */
  | {
      readonly type: "finish";
      readonly callId: CallId;
      readonly outcome: Outcome;
      /** Whether the call's frame was handed to the app's socket. */
      readonly sent: boolean;
      readonly waitSeconds?: number;
    };

/** `sentTo` is the epoch of the socket that got the frame, null while the quota decision is awaited. */
type LiveCall = { readonly rpcKey: string; sentTo: number | null; deadline: number };

/** Shared by every link without calls, since most links are idle most of the time. Never written. */
const NO_CALLS: Map<CallId, LiveCall> = new Map();

function refuse(callId: CallId, outcome: Outcome, waitSeconds?: number): LinkEffect {
  const finish = { type: "finish", callId, outcome, sent: false } as const;
  return waitSeconds === undefined ? finish : { ...finish, waitSeconds };
}
