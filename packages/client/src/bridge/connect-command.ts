import { createHash } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { fileStore } from "../file-store.ts";
import { hostWays } from "../hosts.ts";
import { messageOf } from "../relay-error.ts";
import type { Relay } from "../relay.ts";
import { loadMcpSdk } from "./mcp-sdk.ts";
import type { McpSdk, McpTransport } from "./mcp-sdk.ts";
import { openBridge } from "./open-bridge.ts";
import type { Bridge } from "./open-bridge.ts";

/** What the command has of its surroundings. */
export type ConnectSurroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For its user: the URL, how to use it, a line per call. */
  readonly print: (line: string) => void;
  /** For what went wrong. */
  readonly warn: (line: string) => void;
  /** Resolves when the user wants it to end. */
  readonly stopped: Promise<unknown>;
  readonly loadSdk?: () => Promise<McpSdk>;
};

const USAGE = `relay connect -- COMMAND ARGS…   make an MCP server that is a command into an app
relay connect --url URL          the same for one that speaks Streamable HTTP

  --relay URL    the Relay (RELAY_PUBLIC_URL, http://localhost:8787)
  --key pk_…     a project's publishable key (RELAY_PUBLISHABLE_KEY)
  --new-link     make a new link, and with it a new MCP URL`;

/**
 * `relay connect`: bridges an MCP server to a Relay until it is told to stop. The link is kept in a
 * file, so that the same server has the same MCP URL the next time. Returns the exit code.
 */
export async function connectCommand(
  argv: readonly string[],
  surroundings: ConnectSurroundings,
): Promise<number> {
  const { env, print, warn, loadSdk = loadMcpSdk } = surroundings;
  const wanted = readArguments(argv, env);
  if (typeof wanted === "string") {
    for (const line of [wanted, "", USAGE]) warn(line);
    return 1;
  }
  let bridge: Bridge;
  try {
    const sdk = await loadSdk();
    bridge = await openBridge({
      sdk,
      transport: () => transportOf(wanted, sdk, env),
      relayUrl: wanted.relayUrl,
      publishableKey: wanted.publishableKey,
      store: fileStore(linkFile(wanted, env)),
      onNote: (note) => warn(`note: ${note}`),
    });
  } catch (error) {
    warn(`relay: ${messageOf(error)}`);
    return 1;
  }
  const code = await keep(bridge.relay, wanted, surroundings);
  await bridge.stop();
  if (code === 0) print("stopped");
  return code;
}

type Wanted = {
  readonly relayUrl: string;
  readonly publishableKey: string;
  readonly newLink: boolean;
  /** A URL, or a command with its arguments. */
  readonly server: { readonly url: URL } | { readonly command: string; readonly args: string[] };
};

/** Reads the arguments; returns what is wrong with them if anything is. */
function readArguments(argv: readonly string[], env: ConnectSurroundings["env"]): Wanted | string {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  const [command, ...args] = end === -1 ? [] : argv.slice(end + 1);
  const flags = new Map<string, string>();
  let newLink = false;
  for (let at = 0; at < own.length; at += 1) {
    const [flag = "", inline] = (own[at] ?? "").split(/=(.*)/s);
    if (flag === "--new-link") {
      newLink = true;
      continue;
    }
    if (!["--relay", "--key", "--url"].includes(flag)) return `relay: unknown argument ${flag}`;
    if (inline === undefined) at += 1;
    flags.set(flag, inline ?? own[at] ?? "");
  }
  const relayUrl = flags.get("--relay") ?? env["RELAY_PUBLIC_URL"] ?? "http://localhost:8787";
  const publishableKey = flags.get("--key") ?? env["RELAY_PUBLISHABLE_KEY"] ?? "";
  const url = flags.get("--url");
  if (publishableKey === "") return "relay: a publishable key is missing: --key pk_…";
  if ((url === undefined) === (command === undefined)) {
    return "relay: say which server: --url URL, or -- COMMAND";
  }
  if (url !== undefined && !URL.canParse(url)) return `relay: ${url} is no URL`;
  const server = url === undefined ? { command: command ?? "", args } : { url: new URL(url) };
  return { relayUrl, publishableKey, newLink, server };
}

function transportOf(
  { server }: Wanted,
  sdk: McpSdk,
  env: ConnectSurroundings["env"],
): McpTransport {
  if ("url" in server) return new sdk.StreamableHTTPClientTransport(server.url);
  const whole = Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]);
  return new sdk.StdioClientTransport({
    ...server,
    env: Object.fromEntries(whole),
    stderr: "inherit",
  });
}

/** One file for each server at each Relay. */
function linkFile({ relayUrl, server }: Wanted, env: ConnectSurroundings["env"]): string {
  const state = env["XDG_STATE_HOME"] ?? join(env["HOME"] ?? process.cwd(), ".local", "state");
  const what = "url" in server ? server.url.href : [server.command, ...server.args];
  const hash = createHash("sha256")
    .update(JSON.stringify([relayUrl, what]))
    .digest("hex");
  return join(state, "relay", `${hash.slice(0, 16)}.json`);
}

/** Keeps the bridge online and shows what happens; returns the exit code when it ends. */
async function keep(
  relay: Relay,
  { newLink, relayUrl }: Wanted,
  { print, warn, stopped }: ConnectSurroundings,
): Promise<number> {
  let isShown = false;
  const closed = new Promise<"closed">((resolve) => {
    relay.on("state", (state) => {
      if (state.status === "waiting" || state.status === "closed") {
        warn(`${state.status}: ${state.reason.message}`);
      }
      if (state.status === "closed") {
        if (state.reason.code === 4401) warn("`relay connect --new-link …` makes a new link");
        resolve("closed");
      }
      if (state.status === "online" && !isShown) {
        isShown = true;
        for (const line of welcome(relay, relayUrl)) print(line);
      }
    });
  });
  relay.on("call", ({ tool, status, message = "" }) =>
    print(`${new Date().toISOString().slice(11, 19)}  ${tool} ${status} ${message}`.trimEnd()),
  );
  relay.on("error", ({ message }) => warn(`relay: ${message}`));
  (newLink ? relay.relink() : relay.start()).catch(() => undefined);
  return (await Promise.race([closed, stopped])) === "closed" ? 1 : 0;
}

function welcome(relay: Relay, relayUrl: string): string[] {
  const mcpUrl = String(relay.mcpUrl);
  const names = relay.tools.map(({ definition }) => definition.name);
  const ways = hostWays("mcp-server", mcpUrl).map(({ name, steps, command, link, reaches }) => {
    const how = reaches
      ? (command ?? steps ?? link ?? "")
      : "needs a Relay with a public https URL";
    return `  ${name.padEnd(12)} ${how}`;
  });
  return [
    `online at ${relayUrl} with ${names.length} tools: ${names.join(", ")}`,
    "",
    `  MCP URL      ${mcpUrl}`,
    "",
    ...ways,
    "",
    "Treat the URL like a password. Ctrl-C stops.",
    "",
  ];
}
