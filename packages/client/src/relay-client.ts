import { PROTOCOL_VERSION } from "@relay/protocol";
import type { LinkCommand, RelayFrame } from "@relay/protocol";
import { attempt, ignore } from "./attempt.ts";
import { callRunner } from "./call-runner.ts";
import { linkKeeper } from "./core/link-keeper.ts";
import type { KeeperEffect, KeeperEvent } from "./core/link-keeper.ts";
import { createLink } from "./create-link.ts";
import { election } from "./election.ts";
import { emitter } from "./emitter.ts";
import type { LinkRecord } from "./link-store.ts";
import { manifestFault } from "./manifest-fault.ts";
import { RelayError, messageOf } from "./relay-error.ts";
import type { Relay, RelayEvents, RelayOptions } from "./relay.ts";
import type { Runtime, Socket, SocketEvent } from "./runtime.ts";
import type { Tool } from "./tool.ts";

/** How long creating a link may take. */
const LINK_MS = 20_000;
const LOST = 1006;
const OPEN = 1;
const UNCONNECTED = "No connection to Relay.";

/** A socket, and what it said and was told that later frames need. */
type Line = {
  readonly socket: Socket;
  tools: readonly Tool[];
  limits: Extract<RelayFrame, { type: "ready" }>["limits"] | undefined;
  /** The last `error` frame that was about the socket itself. */
  complaint: string;
};

/** What does each effect of the keeper. */
type Performers = {
  readonly [Effect in KeeperEffect as Effect[0]]: (value: Effect[1]) => void | Promise<void>;
};

type Command = {
  readonly resolve: (mcpUrl: string) => void;
  readonly reject: (error: RelayError) => void;
};

/**
 * Performs what the link keeper decides, with sockets, timers, requests and stores. One closure,
 * whose variables are the state of one app on one link: a page pays for every byte of this.
 */
export function openRelay(options: RelayOptions, system: Runtime): Relay {
  const { monotonic, wall, after, random, locks, isPage } = system;
  const { app, instructions, publishableKey, label } = options;
  const { fetch, WebSocket, wakeUps, store } = { ...system, ...options };
  if (!store) throw new RelayError("STORE", "store is missing");
  const baseUrl = options.relayUrl.replace(/\/+$/, "");
  const { on, emit } = emitter<RelayEvents>();
  /** What waits for the keeper, while it is at something that caused it. */
  const queue: KeeperEvent[] = [];
  let isActing = false;
  /** The person's commands that Relay has not answered. */
  const commands = new Map<string | null, Command>();
  let commandsSent = 0;
  let cancelTimer: (() => void) | undefined;
  let endListening: (() => void) | undefined;
  let linking: AbortController | undefined;
  let line: Line | undefined;
  let record: LinkRecord | undefined;

  const feed = (event: KeeperEvent): void => {
    queue.push(event);
    if (isActing) return;
    isActing = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      for (const [type, value] of keeper.apply(next, monotonic(), random())) {
        // `perform` has each effect's own value under its name.
        (perform[type] as (value: unknown) => void)(value);
      }
    }
    isActing = false;
    cancelTimer?.();
    const waitMs = keeper.nextDeadline() - monotonic();
    if (waitMs < Infinity) cancelTimer = after(Math.max(0, waitMs), () => feed(["tick"]));
  };

  const perform: Performers = {
    elect: (steals) => lock?.run(steals),
    resign: () => lock?.resign(),
    /** Loads the link, or creates it and keeps it before it is used. */
    link: async (fresh) => {
      linking?.abort();
      const mine = new AbortController();
      linking = mine;
      const cancel = after(LINK_MS, () => mine.abort());
      let event: KeeperEvent = ["linked"];
      try {
        let next = fresh ? null : await store.load();
        if (!next) {
          // A name that can't be had is no reason to stay away.
          const name = () => (typeof label === "function" ? label() : label);
          const text = await attempt(name).catch(ignore);
          next = await createLink(fetch, baseUrl, publishableKey, text, mine.signal);
          if (fresh || !store.add) await store.save(next);
          else next = await store.add(next);
        }
        setRecord(next);
      } catch (cause) {
        const { code, message, retryAfterMs } = storeError(cause);
        event = ["link_failed", { code, message }, retryAfterMs];
      }
      cancel();
      // A stop, or a newer try, has made this one nobody's.
      if (linking === mine) feed(event);
    },
    open: () => {
      try {
        // Every WebSocket has these events.
        const socket = new WebSocket(`${baseUrl.replace(/^http/, "ws")}/v1/socket`) as Socket;
        const mine: Line = { socket, tools: relay.tools, limits: undefined, complaint: "" };
        line = mine;
        const listen = (type: SocketEvent["type"], act: (event: SocketEvent) => void): void =>
          socket.addEventListener(type, (event) => {
            // What an older socket still says changes nothing.
            if (line === mine) act(event);
          });
        listen("open", () => hello(mine));
        listen("message", ({ data }) => receive(String(data), mine));
        // A close follows every error and says more.
        listen("error", ignore);
        listen("close", ({ code = LOST, reason }) =>
          closed(code, (code !== LOST && mine.complaint) || reason || UNCONNECTED),
        );
      } catch (error) {
        closed(LOST, messageOf(error));
      }
    },
    ping: () => send({ type: "ping" }),
    /** Leaves the socket, and gives up on whatever was under way on it. */
    lost: () => {
      line?.socket.close(1000);
      line = undefined;
      calls.loseAll();
      for (const id of commands.keys()) {
        settle(id)?.reject(new RelayError("CONNECTION_LOST", UNCONNECTED));
      }
    },
    state: (state) => {
      const { status } = state;
      relay.state = status === "waiting" ? { ...state, retryAt: wall() + state.waitMs } : state;
      if (status === "idle" || status === "closed") {
        linking?.abort();
        endListening?.();
        endListening = undefined;
      }
      if (status === "standby") void readAgain();
      emit("state", relay.state);
    },
  };

  const connect = (type: "start" | "relink" | "take_lead"): Promise<void> => {
    if (!endListening) {
      const endWakeUps = wakeUps(relay.wake);
      const endWatch = store.watch?.(() => void readAgain());
      endListening = () => {
        endWakeUps();
        endWatch?.();
      };
    }
    const outcome = new Promise<void>((resolve, reject) => {
      const judge = (): void => {
        const { state } = relay;
        if (state.status === "closed") {
          reject(new RelayError(state.reason.code, state.reason.message));
        } else if (state.status === "idle") reject(new RelayError("STOPPED", "Stopped."));
        else if (state.status === "online" || state.status === "standby") resolve();
        else return;
        stopListening();
      };
      const stopListening = on("state", judge);
      feed([type]);
      // A listener asked: what it asked for comes after what it was told.
      if (!isActing) judge();
    });
    // Whoever does not wait for it hears of it by the state.
    outcome.catch(ignore);
    return outcome;
  };

  /** Takes up what another copy of the app has changed about the link. */
  const readAgain = async (): Promise<void> => {
    const next = await attempt(() => store.load()).catch(report);
    if (next && relay.state.status === "standby") setRecord(next);
  };

  /** A rotation is done when the new URL is kept: a restart must not bring the old one back. */
  const rotated = async (id: string | null, mcpUrl: string): Promise<void> => {
    if (!record) return;
    const next = { ...record, mcpUrl };
    setRecord(next);
    await attempt(() => store.save(next)).catch(report);
    settle(id)?.resolve(mcpUrl);
  };

  const report = (cause: unknown): void => emit("error", storeError(cause));

  const setRecord = (next: LinkRecord): void => {
    record = next;
    relay.linkId = next.linkId;
    if (next.mcpUrl === relay.mcpUrl) return;
    relay.mcpUrl = next.mcpUrl;
    emit("url", next.mcpUrl);
  };

  const send = (frame: object): void => sendText(JSON.stringify(frame));

  /** A socket that was left is not open: an answer to a call of an older one is nobody's. */
  const sendText = (text: string, to = line): void => {
    if (to?.socket.readyState === OPEN) to.socket.send(text);
  };

  const closed = (code: number, message: string): void => feed(["closed", { code, message }]);

  const hello = (to: Line): void => {
    to.tools = relay.tools;
    const tools = definitionsOf(to.tools);
    const token = record?.linkToken;
    send({ type: "hello", protocol: PROTOCOL_VERSION, token, app, instructions, tools });
    feed(["greeted"]);
  };

  const receive = (text: string, from: Line): void => {
    // Relay is the one peer of this socket; its frames are those of the protocol package.
    const frame = JSON.parse(text) as RelayFrame;
    feed(["heard"]);
    switch (frame.type) {
      case "ready":
        from.limits = frame.limits;
        relay.warnings = frame.warnings ?? [];
        emit("warnings", relay.warnings);
        setPaused(frame.paused);
        return feed(["ready"]);
      case "call":
        return answer(frame, from);
      case "cancel":
        return calls.cancel(frame.id);
      case "link.rotated":
        return void rotated(frame.id, frame.mcpUrl);
      case "link.state":
        setPaused(frame.paused);
        return settle(frame.id)?.resolve("");
      case "link.revoked":
        return settle(frame.id)?.resolve("");
      case "error":
        return failed(frame, from);
      case "pong":
    }
  };

  const answer = (call: Extract<RelayFrame, { type: "call" }>, from: Line): void => {
    const tool = from.tools.find(({ definition }) => definition.name === call.tool);
    if (from.limits) void calls.run(call, tool, from.limits, (text) => sendText(text, from));
  };

  const failed = (frame: Extract<RelayFrame, { type: "error" }>, from: Line): void => {
    const error = new RelayError(frame.code, frame.message);
    const command = settle(frame.id);
    if (command) return command.reject(error);
    if (frame.id === null) from.complaint = frame.message;
    emit("error", error);
  };

  const setPaused = (paused: boolean): void => {
    if (paused === relay.paused) return;
    relay.paused = paused;
    emit("paused", paused);
  };

  const command = (type: LinkCommand): Promise<string> =>
    new Promise((resolve, reject) => {
      if (relay.state.status !== "online") {
        return reject(new RelayError("NOT_ONLINE", UNCONNECTED));
      }
      commandsSent += 1;
      const id = `r${commandsSent}`;
      commands.set(id, { resolve, reject });
      send({ type, id });
    });

  const settle = (id: string | null): Command | undefined => {
    const answered = commands.get(id);
    commands.delete(id);
    return answered;
  };

  const check = (tools: readonly Tool[]): void => {
    const fault = manifestFault({ app, instructions, tools: definitionsOf(tools) });
    if (fault) throw new RelayError("INVALID_MANIFEST", fault);
  };

  const calls = callRunner(system, options.beforeRun, (event, running) => {
    emit("call", event);
    feed(["calls", running]);
  });
  const lock =
    store.name && locks
      ? election(locks, `relay:${store.name}`, (outcome) => feed([outcome]))
      : undefined;
  const keeper = linkKeeper({ elects: lock !== undefined, yields: isPage });

  const relay: { -readonly [Name in keyof Relay]: Relay[Name] } = {
    app,
    state: { status: "idle" },
    mcpUrl: null,
    linkId: null,
    paused: false,
    warnings: [],
    tools: options.tools,
    on,
    start: () => connect("start"),
    relink: () => connect("relink"),
    lead: () => connect("take_lead"),
    stop: () => feed(["stop"]),
    wake: () => feed(["wake"]),
    setTools: (tools) => {
      check(tools);
      const isNews =
        JSON.stringify(definitionsOf(tools)) !== JSON.stringify(definitionsOf(relay.tools));
      relay.tools = tools;
      if (isNews) feed(["tools_changed"]);
      // Hosts would see no difference: only the handlers are new.
      else if (line) line.tools = tools;
    },
    rotate: () => command("link.rotate"),
    pause: async () => void (await command("link.pause")),
    resume: async () => void (await command("link.resume")),
    revoke: async () => void (await command("link.revoke")),
  };
  check(options.tools);
  return relay;
}

function definitionsOf(tools: readonly Tool[]): Tool["definition"][] {
  return tools.map((tool) => tool.definition);
}

/** Without its store an app must not go on: it would create a link that nobody finds again. */
function storeError(cause: unknown): RelayError {
  return cause instanceof RelayError ? cause : new RelayError("STORE", messageOf(cause));
}
