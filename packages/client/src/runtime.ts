import type { LinkFetch } from "./create-link.ts";
import type { LinkStore } from "./link-store.ts";
import { localStore } from "./local-store.ts";

/** What the client needs of the runtime it is in, so that a test can bring its own. */
export type Runtime = {
  /** Ms of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Ms since the epoch. */
  readonly wall: () => number;
  /** Calls back once after `ms`; returns how to prevent that. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** In [0, 1). */
  readonly random: () => number;
  readonly fetch: LinkFetch;
  readonly WebSocket: SocketConstructor;
  /** Web Locks, null where there are none. */
  readonly locks: Locks | null;
  /** Whether this is a page of a browser, of which there may be another. */
  readonly isPage: boolean;
  /** Calls back when the network or the device is back; returns how to end that. */
  readonly wakeUps: WakeUps;
  /** Where the link is kept unless the app says; null where it must say. */
  readonly store: LinkStore | null;
};

export type WakeUps = (wake: () => void) => () => void;

/** The class of WebSockets to use: a runtime's own, or the one of `ws`. */
export type SocketConstructor = new (url: string) => {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number): void;
  // Each library types its events in its own way; all of them are those of `Socket`.
  addEventListener(type: never, listener: never): unknown;
};

/** The part of a WebSocket that is used. */
export type Socket = InstanceType<SocketConstructor> & {
  addEventListener(type: SocketEvent["type"], listener: (event: SocketEvent) => void): void;
};

export type SocketEvent = {
  readonly type: "open" | "message" | "error" | "close";
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
};

/** The part of Web Locks that is used. */
export type Locks = {
  request(
    name: string,
    options: {
      readonly steal?: boolean;
      readonly ifAvailable?: boolean;
      readonly signal?: AbortSignal;
    },
    callback: (lock: unknown) => Promise<void> | void,
  ): Promise<unknown>;
};

/** The globals that only some runtimes have. */
type Globals = Partial<EventSource> & {
  readonly document?: EventSource & { readonly visibilityState: string };
  readonly navigator?: { readonly locks?: Locks };
  readonly WebSocket: SocketConstructor;
  readonly fetch: LinkFetch;
};

type EventSource = {
  addEventListener(
    type: string,
    listener: () => void,
    options: { readonly signal: AbortSignal },
  ): void;
};

/** The runtime that this code runs in. */
export function systemRuntime(): Runtime {
  // The globals of browsers are not among the types of every runtime; each is looked for below.
  const globals = globalThis as unknown as Globals;
  const { document } = globals;
  return {
    monotonic: () => performance.now(),
    wall: Date.now,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    fetch: (url, init) => globals.fetch(url, init),
    WebSocket: globals.WebSocket,
    locks: globals.navigator?.locks ?? null,
    isPage: document !== undefined,
    /** The network is back, or the page is looked at again. */
    wakeUps: (wake) => {
      const end = new AbortController();
      globals.addEventListener?.("online", wake, end);
      document?.addEventListener(
        "visibilitychange",
        () => document.visibilityState === "visible" && wake(),
        end,
      );
      return () => end.abort();
    },
    store: document ? localStore() : null,
  };
}
