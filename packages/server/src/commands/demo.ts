import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRelay, memoryStore } from "@relay/client";
import type { Relay } from "@relay/client";
import { parseToken } from "@relay/protocol";
import type { LinkToken, PublishableKey, UrlToken } from "@relay/protocol";
import type { Config } from "../config.ts";
import { publicUrls } from "../public-urls.ts";
import { DEMO_APP, DEMO_INSTRUCTIONS, DEMO_TOOLS } from "./demo-app.ts";
import { RelayApi } from "./relay-api.ts";

/** What the sample app keeps from one run to the next, in `demo.json` (0600). */
type DemoLink = {
  readonly publishableKey: PublishableKey;
  readonly linkToken: LinkToken;
  readonly urlToken: UrlToken;
};

type Frame = Readonly<Record<string, unknown>>;

/** Starts the sample app inside `relay serve --demo` and prints how to call it. */
export async function startDemo(config: Config, port: number): Promise<Relay> {
  const localUrl = `http://127.0.0.1:${port}`;
  const link = await demoLink(config, new RelayApi(localUrl));
  const app = connectDemo(localUrl, link, (_direction, frame) => noteRotation(config, link, frame));
  await app.start();
  const mcpUrl = `${publicUrls(config, port).mcp}/v1/mcp/${link.urlToken}`;
  process.stdout.write(welcome(link.publishableKey, mcpUrl));
  return app;
}

/**
 * `relay demo`: runs the sample app against a running Relay, calls one of its tools as a host
 * would, and shows each frame on the way. Returns the exit code.
 */
export async function demo(config: Config): Promise<number> {
  const api = new RelayApi(config.publicUrl);
  if (!(await api.isRunning())) {
    process.stderr.write(
      `relay: no Relay answers at ${config.publicUrl}; \`relay serve\` starts one\n`,
    );
    return 1;
  }
  const link = await demoLink(config, api);
  const app = connectDemo(config.publicUrl, link, (direction, frame) => {
    noteRotation(config, link, frame);
    const arrow = direction === "sent" ? "app   →  relay" : "relay →  app  ";
    process.stdout.write(`${arrow}  ${shown(frame)}\n`);
  });
  try {
    await app.start();
    const call = callBody();
    process.stdout.write(`host  →  relay  ${call}\n`);
    const response = await fetch(`${config.mcpPublicUrl}/v1/mcp/${link.urlToken}`, {
      method: "POST",
      headers: HOST_HEADERS,
      body: call,
    });
    const events = (await response.text()).split("\n").filter((line) => line.startsWith("data:"));
    for (const event of events) process.stdout.write(`relay →  host   ${event}\n`);
    return events.length > 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`relay: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    app.stop();
  }
}

const HOST_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
} as const;

function connectDemo(
  relayUrl: string,
  { publishableKey, linkToken, urlToken }: DemoLink,
  onFrame: (direction: "sent" | "received", frame: Frame) => void,
): Relay {
  const relay = createRelay({
    relayUrl,
    publishableKey,
    app: DEMO_APP,
    instructions: DEMO_INSTRUCTIONS,
    tools: DEMO_TOOLS,
    store: memoryStore({ linkId: "", linkToken, mcpUrl: `${relayUrl}/v1/mcp/${urlToken}` }),
    WebSocket: watchedSocket(onFrame),
  });
  relay.on("state", (state) => {
    if (state.status === "closed" || state.status === "waiting") {
      const { code, message } = state.reason;
      const next =
        state.status === "waiting" ? `; again in ${(state.waitMs / 1000).toFixed(1)} s` : "";
      process.stderr.write(`demo app: closed with ${code} ${message}${next}\n`);
    }
  });
  return relay;
}

/** A WebSocket that shows each frame right before it is acted on, or right after it is sent. */
function watchedSocket(
  onFrame: (direction: "sent" | "received", frame: Frame) => void,
): typeof WebSocket {
  return class extends WebSocket {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("message", ({ data }) => onFrame("received", JSON.parse(String(data))));
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      super.send(data);
      // An app's frames are text.
      onFrame("sent", JSON.parse(data as string));
    }
  };
}

/** The demo's link, made with a project at the first run and used again while it is valid. */
async function demoLink(config: Config, api: RelayApi): Promise<DemoLink> {
  const kept = readDemoFile(config);
  if (kept !== null && (await api.knowsUrlToken(kept.urlToken))) return kept;
  const project = await api.createProject(config, "Notes");
  const link = await api.createLink(project.publishableKey, "Demo");
  const made = demoLinkOf({
    publishableKey: project.publishableKey,
    linkToken: link.linkToken,
    urlToken: link.mcpUrl.split("/").at(-1),
  });
  if (made === null) throw new Error("the relay made a link that this demo does not understand");
  writeDemoFile(config, made);
  return made;
}

/** The link's URL was replaced: the next run calls the new one. */
function noteRotation(config: Config, link: DemoLink, frame: Frame): void {
  if (frame["type"] !== "link.rotated") return;
  const urlToken = String(frame["mcpUrl"]).split("/").at(-1);
  const rotated = demoLinkOf({ ...link, urlToken });
  if (rotated !== null) writeDemoFile(config, rotated);
}

function demoFile(config: Config): string {
  return join(config.dataDir, "demo.json");
}

function writeDemoFile(config: Config, link: DemoLink): void {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(demoFile(config), `${JSON.stringify(link, null, 2)}\n`, { mode: 0o600 });
}

function readDemoFile(config: Config): DemoLink | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(demoFile(config), "utf8"));
    return typeof kept === "object" && kept !== null ? demoLinkOf({ ...kept }) : null;
  } catch {
    return null;
  }
}

function demoLinkOf(fields: Readonly<Record<string, unknown>>): DemoLink | null {
  const publishableKey = parseToken("publishableKey", String(fields["publishableKey"]));
  const linkToken = parseToken("linkToken", String(fields["linkToken"]));
  const urlToken = parseToken("urlToken", String(fields["urlToken"]));
  if (publishableKey === null || linkToken === null || urlToken === null) return null;
  return { publishableKey, linkToken, urlToken };
}

function welcome(publishableKey: string, mcpUrl: string): string {
  const headers = Object.entries(HOST_HEADERS).map(([name, value]) => `-H '${name}: ${value}'`);
  return `
  Publishable key   ${publishableKey}
  MCP URL           ${mcpUrl}

The sample app Notes is connected. Call its tool as an AI host would:

curl -N ${mcpUrl} ${headers.join(" ")} -d '${callBody()}'

Ctrl-C lets running calls finish, then stops.
`;
}

function callBody(): string {
  const params = { name: "search_notes", arguments: { query: "invoices" } };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

/** A frame as a person may see it on a terminal: the link token is not for the eyes of others. */
function shown(frame: Frame): string {
  const token = frame["token"];
  return JSON.stringify(typeof token === "string" ? { ...frame, token: "lt_…" } : frame);
}
