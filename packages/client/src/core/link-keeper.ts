import { isFinalClose, reconnectDelayMs } from "./reconnect.ts";

/** How long a new socket may take until `ready`. */
const OPENING_MS = 20_000;
/** After a take-over a socket must have been up this long before the waits start anew. */
const SETTLED_MS = 60_000;
/** Wake-ups may cut a wait short, but not try more often than this. */
const WAKE_GAP_MS = 1_000;
/** Changes of the tools within this time cause one reconnect. */
const TOOLS_WAIT_MS = 1_000;
/** How much longer a reconnect for new tools waits for running calls to end. */
const CALLS_WAIT_MS = 10_000;
/** How long a socket may be quiet before a ping; with the time to answer it a dead one lasts 35 s. */
const QUIET_MS = 25_000;
const ANSWER_MS = 10_000;
/** After a wake-up somebody may be looking, and the network may have changed. */
const WAKE_ANSWER_MS = 5_000;
/** Frames this fresh need no proof by a ping: so that pings never use up the minute's commands. */
const FRESH_MS = 5_000;
/** A tick later than this says that the timers slept, and the answer may be waiting to be read. */
const LATE_MS = 5_000;

const LOST = 1006;
const TAKEN_OVER = 4001;
const BAD_HELLO = 4400;

/**
 * Keeps an app on its link: when to connect, when to wait and how long, when to stand by for another
 * tab, when to stay away. `apply` takes one event at a time and returns what is to be done as plain
 * data; it never awaits and never reads a clock. Times are ms of a monotonic clock, `random` is in
 * [0, 1). It hears of one socket at a time: the one it opened last, until `lost`.
 */
export function linkKeeper({ elects, yields }: KeeperOptions): LinkKeeper {
  let phase: Phase = "idle";
  let effects: KeeperEffect[] = [];
  let leads = false;
  let isLinked = false;
  let wantsFresh = false;
  let attempt = 0;
  let triedAt = -Infinity;
  let readyAt = 0;
  let heardAt = 0;
  /** When the phase has lasted long enough: the wait, the opening, the quiet, the ping. */
  let until = 0;
  /** How many pings in a row have no answer yet. */
  let pings = 0;
  let wasTakenOver = false;
  let closeCode: Reason["code"] = 0;
  let runningCalls = 0;
  /** When the live hello's tools are to be replaced; infinite while they are the app's. */
  let reloadAt = Infinity;

  const enter = (next: Phase, facts?: object): void => {
    const status = CONNECTING[next] ?? next;
    const isNews = status !== CONNECTING[phase];
    phase = next;
    // The callers below give each status its facts.
    if (isNews) effects.push(["state", { status, ...facts } as KeeperState]);
  };

  const start = (steals: boolean): void => {
    attempt = 0;
    wasTakenOver = false;
    if (!elects || leads) return link();
    enter("electing");
    effects.push(["elect", steals]);
  };

  const link = (): void => {
    isLinked = false;
    enter("linking");
    effects.push(["link", wantsFresh]);
  };

  const open = (now: number): void => {
    triedAt = now;
    until = now + OPENING_MS;
    pings = 0;
    enter("opening");
    effects.push(["open"]);
  };

  const retry = (now: number): void => {
    triedAt = now;
    if (isLinked) open(now);
    else link();
  };

  const heard = (now: number): void => {
    heardAt = now;
    until = now + QUIET_MS;
    pings = 0;
  };

  const ping = (answerBy: number): void => {
    pings += 1;
    until = answerBy;
    effects.push(["ping"]);
  };

  const ready = (now: number): void => {
    readyAt = now;
    // Two copies of an app that evict each other would otherwise do so once a second for ever.
    if (!wasTakenOver) attempt = 0;
    heard(now);
    enter("online");
  };

  const closed = (reason: Reason, now: number, random: number): void => {
    if (phase === "online" && now - readyAt >= SETTLED_MS) {
      wasTakenOver = false;
      attempt = 0;
    }
    closeCode = reason.code;
    effects.push(["lost"]);
    if (isFinalClose(closeCode)) return leave("closed", { reason });
    if (closeCode === TAKEN_OVER) {
      wasTakenOver = true;
      if (yields && !leads) return enter("standby");
    }
    wait(reason, now, random, 0);
  };

  const wait = (reason: Reason, now: number, random: number, atLeastMs: number): void => {
    const waitMs = Math.max(atLeastMs, reconnectDelayMs(attempt, random));
    attempt += 1;
    until = now + waitMs;
    enter("waiting", { reason, waitMs, attempt });
  };

  const dropSocket = (): void => {
    if (phase === "opening" || phase === "online") effects.push(["lost"]);
  };

  const leave = (next: "idle" | "closed", facts?: object): void => {
    if (elects) effects.push(["resign"]);
    leads = wantsFresh = false;
    enter(next, facts);
  };

  const follow = (): void => {
    leads = false;
    if (phase === "idle" || phase === "closed" || phase === "standby") return;
    dropSocket();
    enter("standby");
  };

  const wake = (now: number): void => {
    if (phase === "waiting" && now - triedAt >= WAKE_GAP_MS) retry(now);
    // Without a lock nobody tells when the other tab is gone; the one that is looked at tries.
    else if (phase === "standby" && !elects) link();
    else if (phase === "online" && pings === 0 && now - heardAt >= FRESH_MS) {
      ping(now + WAKE_ANSWER_MS);
    }
  };

  /** When new tools are worth a reconnect; the next hello brings them anyway. */
  const reloadDue = (): number => {
    if (phase === "online") return reloadAt + (runningCalls > 0 ? CALLS_WAIT_MS : 0);
    // Other waits have reasons that new tools don't mend.
    return closeCode === BAD_HELLO ? reloadAt : Infinity;
  };

  const nextDeadline = (): number => {
    if (phase === "opening") return until;
    return phase === "waiting" || phase === "online" ? Math.min(until, reloadDue()) : Infinity;
  };

  const tick = (now: number, random: number): void => {
    if (now < nextDeadline()) return;
    if (phase === "waiting") return retry(now);
    if (phase === "online" && now >= reloadDue()) {
      dropSocket();
      return open(now);
    }
    const isFirst = phase === "online" && pings === 0;
    if (isFirst || (pings === 1 && now - until > LATE_MS)) return ping(now + ANSWER_MS);
    // A dead socket is left to itself: its own close may take minutes.
    closed({ code: LOST, message: "No answer from Relay." }, now, random);
  };

  const act = (event: KeeperEvent, now: number, random: number): void => {
    switch (event[0]) {
      case "start":
        if (phase === "idle" || phase === "closed") start(false);
        return;
      case "stop":
        if (phase === "idle") return;
        dropSocket();
        return leave("idle");
      case "relink":
        wantsFresh = true;
        dropSocket();
        return start(true);
      case "take_lead":
        if (phase === "standby") start(true);
        return;
      case "lead":
        leads = true;
        if (phase === "electing" || phase === "standby") link();
        return;
      case "follow":
        return follow();
      case "linked":
        if (phase !== "linking") return;
        isLinked = true;
        wantsFresh = false;
        return open(now);
      case "link_failed": {
        if (phase !== "linking") return;
        const [, reason, retryAfterMs] = event;
        if (retryAfterMs !== null) return wait(reason, now, random, retryAfterMs);
        return leave("closed", { reason });
      }
      case "greeted":
        reloadAt = Infinity;
        return;
      case "ready":
        if (phase === "opening") ready(now);
        return;
      case "heard":
        if (phase === "online") heard(now);
        return;
      case "closed":
        if (phase === "opening" || phase === "online") closed(event[1], now, random);
        return;
      case "wake":
        return wake(now);
      case "calls":
        runningCalls = event[1];
        return;
      case "tools_changed":
        reloadAt = Math.min(reloadAt, now + TOOLS_WAIT_MS);
        return;
      case "tick":
        return tick(now, random);
    }
  };

  return {
    apply: (event, now, random) => {
      effects = [];
      act(event, now, random);
      return effects;
    },
    nextDeadline,
  };
}

export type LinkKeeper = {
  readonly apply: (event: KeeperEvent, now: number, random: number) => readonly KeeperEffect[];
  /** When `apply` wants a `tick` at the latest; infinite when nothing is waiting. */
  readonly nextDeadline: () => number;
};

export type KeeperOptions = {
  /** Whether tabs elect the one that connects, by a lock. */
  readonly elects: boolean;
  /** Whether a copy of the app that is taken over leaves the link to the newer one. */
  readonly yields: boolean;
};

/** Why the app is not connected. */
export type Reason = {
  /**
   * The close code of the socket (1006 when it was lost), or the error code of a link that could not
   * be created or stored.
   */
  readonly code: number | string;
  /** A sentence for a developer or a log. */
  readonly message: string;
};

export type KeeperState =
  | { readonly status: "idle" | "connecting" | "online" }
  | {
      readonly status: "waiting";
      readonly reason: Reason;
      readonly waitMs: number;
      /** How often in a row connecting has failed. */
      readonly attempt: number;
    }
  /** Another copy of the app has the link. */
  | { readonly status: "standby" }
  | { readonly status: "closed"; readonly reason: Reason };

type Phase =
  | "idle"
  | "electing"
  | "standby"
  | "linking"
  | "opening"
  | "online"
  | "waiting"
  | "closed";

/** The phases that are one and the same to the app. */
const CONNECTING: { readonly [phase in Phase]?: "connecting" } = {
  electing: "connecting",
  linking: "connecting",
  opening: "connecting",
};

export type KeeperEvent =
  | readonly ["start"]
  | readonly ["stop"]
  /** Replace the link by a new one. */
  | readonly ["relink"]
  /** Take the link over from the tab that leads. */
  | readonly ["take_lead"]
  /** The lock was won. */
  | readonly ["lead"]
  /** Another tab has the lock. */
  | readonly ["follow"]
  | readonly ["linked"]
  /** `retryAfterMs` is null when trying again won't help. */
  | readonly ["link_failed", reason: Reason, retryAfterMs: number | null]
  /** The hello was sent. */
  | readonly ["greeted"]
  /** The hello was accepted. */
  | readonly ["ready"]
  /** Any frame came. */
  | readonly ["heard"]
  | readonly ["closed", reason: Reason]
  /** The network or the device is back. */
  | readonly ["wake"]
  | readonly ["calls", running: number]
  | readonly ["tools_changed"]
  | readonly ["tick"];

export type KeeperEffect =
  /** Try for the lock and answer with `lead` or `follow`, then keep waiting for it. */
  | readonly ["elect", steals: boolean]
  /** Give the lock up, or stop waiting for it. */
  | readonly ["resign"]
  /** Load the link, or create one (`fresh`: in any case); answer `linked` or `link_failed`. */
  | readonly ["link", fresh: boolean]
  /** Open a socket and say hello; what it does comes back as events. */
  | readonly ["open"]
  | readonly ["ping"]
  /** Leave the socket, if it is still there; whatever was under way on it is over. */
  | readonly ["lost"]
  | readonly ["state", KeeperState];
