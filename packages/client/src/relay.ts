import type { AppInfo, LintWarning } from "@relay/protocol";
import type { BeforeRun, CallEvent } from "./call-runner.ts";
import type { KeeperState } from "./core/link-keeper.ts";
import type { LinkFetch } from "./create-link.ts";
import type { LinkStore } from "./link-store.ts";
import { openRelay } from "./relay-client.ts";
import type { RelayError } from "./relay-error.ts";
import { systemRuntime } from "./runtime.ts";
import type { SocketConstructor, WakeUps } from "./runtime.ts";
import type { Tool } from "./tool.ts";

/**
 * Makes an app's place on its link; `start` connects it. Throws a `RelayError` with the code
 * `INVALID_MANIFEST`, in Relay's own words, when the tools break a limit.
 */
export function createRelay(options: RelayOptions): Relay {
  return openRelay(options, systemRuntime());
}

export type RelayOptions = {
  /** Relay's public URL, such as `https://api.example.com/relay`. */
  readonly relayUrl: string;
  /** The project's public key; it can create links and nothing else. */
  readonly publishableKey: string;
  readonly app: AppInfo;
  /** What a model should know of the app; at most 4,000 characters. */
  readonly instructions?: string;
  readonly tools: readonly Tool[];
  /** Where the link is kept: `localStore()` in a page; must be given everywhere else. */
  readonly store?: LinkStore;
  /** Names the link for the developer, such as the device's name; cut at 64 characters. */
  readonly label?: string | (() => string | Promise<string>);
  /** Asks before each call; without a `true` the tool does not run. */
  readonly beforeRun?: BeforeRun;
  /** For runtimes that have none of their own, or a better one. */
  readonly fetch?: LinkFetch;
  readonly WebSocket?: SocketConstructor;
  /** Tells when the network or the device is back; in a page it is known. */
  readonly wakeUps?: WakeUps;
};

/** An app's place on its link. */
export type Relay = {
  readonly app: AppInfo;
  readonly state: RelayState;
  /** What the person gives to their AI host; a credential. Null until the link is known. */
  readonly mcpUrl: string | null;
  readonly linkId: string | null;
  readonly paused: boolean;
  /** What some hosts will dislike about the tools, as Relay said in its last `ready`. */
  readonly warnings: readonly LintWarning[];
  readonly tools: readonly Tool[];

  /** Listens; returns how to stop that. */
  on<Name extends keyof RelayEvents>(
    name: Name,
    listener: (value: RelayEvents[Name]) => void,
  ): () => void;

  /**
   * Connects, and stays connected until `stop`; creates the link the first time. Resolves when the
   * app is online or stands by for another tab; rejects with a `RelayError` when it must stay away.
   */
  start(): Promise<void>;
  /** Leaves. Calls that run are lost; finish them first where that matters. */
  stop(): void;
  /** Tries again at once if it waits, and makes sure of the connection if it is online. */
  wake(): void;
  /** Takes the link over from the tab that leads; resolves when online. */
  lead(): Promise<void>;
  /**
   * Creates a new link in place of the one there is: the hosts' old URL is dead from the app's view.
   * For a person who asks for it after `closed` with 4401 or 4410; never done by itself.
   */
  relink(): Promise<void>;

  /** Replaces the tools; hosts see them after a short reconnect. Throws as `createRelay` does. */
  setTools(tools: readonly Tool[]): void;

  /** Gives the link a new MCP URL and returns it; the old one is dead at once. */
  rotate(): Promise<string>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the link for good. */
  revoke(): Promise<void>;
};

/** Where an app stands; `retryAt` is in ms since the epoch by this device's clock. */
export type RelayState =
  | Exclude<KeeperState, { readonly status: "waiting" }>
  | (Extract<KeeperState, { readonly status: "waiting" }> & { readonly retryAt: number });

export type RelayEvents = {
  readonly state: RelayState;
  /** A call changed its status. */
  readonly call: CallEvent;
  /** The MCP URL is known or has changed. */
  readonly url: string;
  readonly paused: boolean;
  readonly warnings: readonly LintWarning[];
  /** Something went wrong that no method could report: an `error` frame, a store that can't save. */
  readonly error: RelayError;
};
