import type { AppInfo } from "@relay/protocol";
import { APP_NAME_CHARS_MAX, INSTRUCTIONS_CHARS_MAX } from "@relay/protocol";
import { ignore } from "../attempt.ts";
import type { Reason } from "../core/link-keeper.ts";
import { reconnectDelayMs } from "../core/reconnect.ts";
import { messageOf } from "../relay-error.ts";
import { createRelay } from "../relay.ts";
import type { Relay, RelayOptions } from "../relay.ts";
import type { CallContext, Tool, ToolDefinition } from "../tool.ts";
import { carryTools } from "./carry-tools.ts";
import type { CarriedTool } from "./carry-tools.ts";
import type { McpClient, McpSdk, McpTransport } from "./mcp-sdk.ts";

export type BridgeOptions = Omit<RelayOptions, "app" | "instructions" | "tools"> & {
  readonly sdk: McpSdk;
  /** Makes a new transport to the server: called again each time the server has to be reached anew. */
  readonly transport: () => McpTransport | Promise<McpTransport>;
  /** The app's name and version for hosts; the server's own unless given. */
  readonly app?: AppInfo;
  /** Hears, a sentence each, what was changed for Relay and what becomes of the server. */
  readonly onNote?: (note: string) => void;
};

/** An MCP server that is an app of Relay. */
export type Bridge = {
  readonly relay: Relay;
  /** Leaves Relay and the server. */
  readonly stop: () => Promise<void>;
};

const VERSION = "0.1.0";
/** A server that ran this long has not crashed at its start: the waits begin anew. */
const SETTLED_MS = 60_000;

/**
 * Makes an MCP server into an app: initializes it with the official client, offers its tools, forwards
 * calls with their progress and cancellation, follows its list of tools, and reaches it anew with
 * growing waits when it is gone. Throws when the server can't be reached the first time.
 */
export async function openBridge(options: BridgeOptions): Promise<Bridge> {
  const server = new Server(options);
  const { info, instructions, tools } = await server.start();
  const relay = createRelay({
    ...options,
    app: options.app ?? info,
    ...(instructions === "" ? {} : { instructions }),
    tools,
  });
  server.onTools = (next) => relay.setTools(next);
  relay.on("state", (state) => {
    const refused = state.status === "waiting" ? refusedTool(relay, state.reason) : null;
    if (refused !== null) server.leaveOut(refused.name, refused.why);
  });
  return {
    relay,
    stop: async () => {
      relay.stop();
      await server.stop();
    },
  };
}

/** The tool for which Relay refused all of them, such as one whose schema it does not support. */
function refusedTool(
  relay: Relay,
  { code, message }: Reason,
): { readonly name: string; readonly why: string } | null {
  const [start, index] = code === 4400 ? (/^tools\[(\d+)\]\.?/.exec(message) ?? []) : [];
  const name = relay.tools[Number(index)]?.definition.name;
  return start === undefined || name === undefined
    ? null
    : { name, why: message.slice(start.length) };
}

type Greeting = {
  readonly info: AppInfo;
  readonly instructions: string;
  readonly tools: readonly Tool[];
};

/** The server behind a bridge, through all of its lives. */
class Server {
  onTools: (tools: readonly Tool[]) => void = () => undefined;
  readonly #options: BridgeOptions;
  /** The client that is connected, null while the server is gone. */
  #client: McpClient | null = null;
  #attempt = 0;
  #upSince = 0;
  #cancelRestart: () => void = () => undefined;
  #instructions = "";
  #offered: readonly ToolDefinition[] = [];
  /** Names that Relay refused. */
  readonly #refused = new Set<string>();
  /** Notes about tools, each of which is news once. */
  readonly #told = new Set<string>();
  #hasStopped = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  async start(): Promise<Greeting> {
    const client = await this.#connect();
    const { name = "MCP server", version = "0" } = client.getServerVersion() ?? {};
    this.#instructions = cut(client.getInstructions() ?? "", INSTRUCTIONS_CHARS_MAX);
    try {
      this.#offered = (await client.listTools()).tools;
    } catch (error) {
      // Nobody will use the process that was started for it.
      await this.stop();
      throw error;
    }
    return {
      info: { name: cut(name, APP_NAME_CHARS_MAX), version: cut(version, APP_NAME_CHARS_MAX) },
      instructions: this.#instructions,
      tools: this.#carried(),
    };
  }

  /** Goes on without a tool that Relay refused. */
  leaveOut(name: string, why: string): void {
    this.#refused.add(name);
    this.#note(`${name} is left out: ${why}`);
    this.onTools(this.#carried());
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.#cancelRestart();
    await this.#client?.close();
  }

  async #connect(): Promise<McpClient> {
    const { sdk, transport } = this.#options;
    const client = new sdk.Client(
      { name: "relay-bridge", version: VERSION },
      {
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              if (tools !== null) this.#changed(tools);
              else this.#note(`its tools changed and could not be listed: ${messageOf(error)}`);
            },
          },
        },
      },
    );
    await client.connect(await transport());
    this.#client = client;
    this.#upSince = performance.now();
    Object.assign(client, { onclose: () => this.#lost(client, "it stopped") });
    return client;
  }

  /** The server is gone: it is reached anew after a wait, with the tools it has then. */
  #lost(client: McpClient, why: string): void {
    if (client !== this.#client) return;
    this.#client = null;
    // What it still tries, such as streams over HTTP, is over too.
    client.close().catch(ignore);
    if (this.#hasStopped) return;
    if (performance.now() - this.#upSince >= SETTLED_MS) this.#attempt = 0;
    this.#restartLater(why);
  }

  #restartLater(why: string): void {
    const waitMs = reconnectDelayMs(this.#attempt, Math.random());
    this.#attempt += 1;
    this.#note(`${why}; again in ${(waitMs / 1000).toFixed(1)} s`);
    const timer = setTimeout(() => void this.#restart(), waitMs);
    this.#cancelRestart = () => clearTimeout(timer);
  }

  async #restart(): Promise<void> {
    try {
      const client = await this.#connect();
      if (this.#hasStopped) return await client.close();
      this.#changed((await client.listTools()).tools);
      this.#note("it is back");
    } catch (error) {
      const client = this.#client;
      this.#client = null;
      // One that connected and then failed may still run.
      client?.close().catch(ignore);
      if (!this.#hasStopped) this.#restartLater(`it could not be reached: ${messageOf(error)}`);
    }
  }

  #changed(offered: readonly ToolDefinition[]): void {
    this.#offered = offered;
    this.onTools(this.#carried());
  }

  #carried(): readonly Tool[] {
    const { tools, notes } = carryTools(this.#offered, this.#instructions);
    for (const note of notes) {
      if (!this.#told.has(note)) this.#note(note);
      this.#told.add(note);
    }
    return tools
      .filter(({ definition }) => !this.#refused.has(definition.name))
      .map((tool) => this.#toolOf(tool));
  }

  #toolOf({ serverName, definition }: CarriedTool): Tool {
    return {
      definition,
      // The server checks its own arguments and results.
      readArguments: (args) => args,
      readResult: (result) => result,
      run: (args, context) => this.#call(serverName, args, context),
    };
  }

  async #call(name: string, args: unknown, context: CallContext): Promise<object> {
    const client = this.#client;
    if (client === null) {
      throw new Error("The MCP server behind this app is not running; it is being started again.");
    }
    const { signal, deadline, progress } = context;
    try {
      const { content, structuredContent, isError } = (await client.callTool(
        // Relay passes an object on.
        { name, arguments: args as Record<string, unknown> },
        {
          signal,
          timeout: Math.max(0, deadline - Date.now()),
          onprogress: (step) => progress(step.progress, step),
        },
      )) as Record<string, unknown>;
      return {
        content: content ?? [],
        ...(structuredContent === undefined ? {} : { structuredContent }),
        ...(isError === undefined ? {} : { isError }),
      };
    } catch (error) {
      if (client !== this.#client) {
        const message =
          "The MCP server behind this app stopped while it ran the tool; it may or may not have completed.";
        throw new Error(message, { cause: error });
      }
      await this.#probe(client, error);
      throw error;
    }
  }

  /** A server that is reached over HTTP does not say that it is gone: a ping that fails does. */
  async #probe(client: McpClient, error: unknown): Promise<void> {
    // The server's own refusals have a JSON-RPC code.
    if (typeof Object(error).code === "number") return;
    await client.ping().catch(() => this.#lost(client, "it does not answer"));
  }

  #note(note: string): void {
    this.#options.onNote?.(note);
  }
}

function cut(text: string, charsMax: number): string {
  return Array.from(text).slice(0, charsMax).join("");
}
