import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectApp } from "@relay/client";
import type { ConnectedApp } from "@relay/client";
import type { Config } from "../config.ts";
import { DEMO_APP, DEMO_INSTRUCTIONS, DEMO_TOOLS } from "./demo-app.ts";
import { RelayApi } from "./relay-api.ts";

/** What the sample app keeps from one run to the next, in `demo.json` (0600). */
type DemoLink = {
  readonly publishableKey: string;
  readonly linkToken: string;
  readonly mcpUrl: string;
};

type Frame = Readonly<Record<string, unknown>>;

/** Starts the sample app inside `relay serve --demo` and prints how to call it. */
export async function startDemo(config: Config, port: number): Promise<ConnectedApp> {
  const localUrl = `http://127.0.0.1:${port}`;
  const link = await demoLink(config, new RelayApi(localUrl));
  const app = connectDemo(localUrl, link, () => undefined);
  await app.ready;
  process.stdout.write(welcome(link));
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
    const arrow = direction === "sent" ? "app   →  relay" : "relay →  app  ";
    process.stdout.write(`${arrow}  ${shown(frame)}\n`);
  });
  try {
    await app.ready;
    const call = callBody();
    process.stdout.write(`host  →  relay  ${call}\n`);
    const response = await fetch(link.mcpUrl, {
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
    app.close();
  }
}

const HOST_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
} as const;

function connectDemo(
  baseUrl: string,
  link: DemoLink,
  onFrame: (direction: "sent" | "received", frame: Frame) => void,
): ConnectedApp {
  return connectApp({
    socketUrl: `${baseUrl.replace(/^http/, "ws")}/v1/socket`,
    linkToken: link.linkToken,
    app: DEMO_APP,
    instructions: DEMO_INSTRUCTIONS,
    tools: DEMO_TOOLS,
    onFrame,
    onClose: (code, reason, retryInMs) => {
      const next = retryInMs === null ? "" : `; again in ${(retryInMs / 1000).toFixed(1)} s`;
      process.stderr.write(`demo app: closed with ${code} ${reason}${next}\n`);
    },
  });
}

/** The demo's project and link, made at the first run and used again while they are valid. */
async function demoLink(config: Config, api: RelayApi): Promise<DemoLink> {
  const file = join(config.dataDir, "demo.json");
  const kept = readDemoFile(file);
  if (kept !== null) return kept;
  const project = await api.createProject(config, "Notes");
  const link = await api.createLink(project.publishableKey, "Demo");
  const made = {
    publishableKey: project.publishableKey,
    linkToken: link.linkToken,
    mcpUrl: link.mcpUrl,
  };
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return made;
}

function readDemoFile(file: string): DemoLink | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    // Written by `demoLink` above.
    return kept as DemoLink;
  } catch {
    return null;
  }
}

function welcome(link: DemoLink): string {
  const headers = Object.entries(HOST_HEADERS).map(([name, value]) => `-H '${name}: ${value}'`);
  return `
  Publishable key   ${link.publishableKey}
  MCP URL           ${link.mcpUrl}

The sample app Notes is connected. Call its tool as an AI host would:

curl -N ${link.mcpUrl} ${headers.join(" ")} -d '${callBody()}'

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
