/**
 * A Relay for wire tests: in this process, on a free port, on a data folder of its own, with its
 * log in memory; and an app that says exactly what a test wants it to say.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { WebSocket } from "ws";
import { readConfig } from "../../packages/server/src/config.ts";
import { startRelay } from "../../packages/server/src/commands/serve.ts";
import type { RunningRelay } from "../../packages/server/src/commands/serve.ts";
import { operatorToken } from "../../packages/server/src/commands/secrets.ts";
import { openLog } from "../../packages/server/src/observe/log.ts";

/** JSON of any depth, as tests walk it: `any` here, and nowhere else, spares them a guard a step. */
/** How long a test waits for a frame that does not come. */
const PATIENCE_MS = 30_000;

export type JsonObject = { [key: string]: any };

export type TestLink = {
  readonly linkId: string;
  readonly linkToken: string;
  readonly mcpUrl: string;
  readonly socketUrl: string;
  readonly label: string | null;
};

/** Opens a Relay with these variables set; `dataDir` reuses an earlier one's folder. */
export async function openRelay(
  env: Readonly<Record<string, string>> = {},
  dataDir: string = mkdtempSync(join(tmpdir(), "relay-test-")),
): Promise<TestRelay> {
  const reading = readConfig({
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "debug",
    RELAY_DRAIN_SECONDS: "1",
    ...env,
  });
  if (!reading.ok) throw new Error(reading.faults.join("; "));
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const relay = await startRelay(reading.config, openLog(reading.config.logLevel, sink));
  return new TestRelay(relay, dataDir, lines, operatorToken(reading.config));
}

export class TestRelay {
  readonly relay: RunningRelay;
  readonly dataDir: string;
  /** Every line the Relay has logged. */
  readonly log: readonly string[];
  readonly operatorToken: string;

  constructor(relay: RunningRelay, dataDir: string, log: string[], token: string) {
    this.relay = relay;
    this.dataDir = dataDir;
    this.log = log;
    this.operatorToken = token;
  }

  get url(): string {
    return this.relay.urls.public;
  }

  get port(): number {
    return this.relay.port;
  }

  /** Stops; the data folder stays for another `openRelay`. */
  stop(): Promise<void> {
    return this.relay.stop();
  }

  /** Stops and removes the data folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** One REST request; `key` is a pk_, sk_ or op_ token. */
  async rest(
    method: string,
    path: string,
    key: string | null,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; headers: Headers; body: JsonObject }> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? {} : (JSON.parse(text) as JsonObject),
    };
  }

  async project(settings: JsonObject = {}): Promise<TestProject> {
    const made = await this.rest("POST", "/v1/operator/projects", this.operatorToken, {
      name: "Notes",
      ...settings,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return new TestProject(this, made.body as ProjectFacts);
  }

  /** A project with one link, for tests that need no more. */
  async link(settings: JsonObject = {}): Promise<TestLink> {
    return (await this.project(settings)).link();
  }
}

type ProjectFacts = {
  readonly projectId: string;
  readonly publishableKey: string;
  readonly secretKey: string;
};

export class TestProject {
  readonly relay: TestRelay;
  readonly projectId: string;
  readonly publishableKey: string;
  readonly secretKey: string;

  constructor(relay: TestRelay, facts: ProjectFacts) {
    this.relay = relay;
    this.projectId = facts.projectId;
    this.publishableKey = facts.publishableKey;
    this.secretKey = facts.secretKey;
  }

  async link(label?: string): Promise<TestLink> {
    const body = label === undefined ? {} : { label };
    const made = await this.relay.rest("POST", "/v1/links", this.publishableKey, body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body as TestLink;
  }

  async change(settings: JsonObject): Promise<JsonObject> {
    const path = `/v1/operator/projects/${this.projectId}`;
    return (await this.relay.rest("PATCH", path, this.relay.operatorToken, settings)).body;
  }

  /** The project's call rows, the newest first. */
  async calls(query = ""): Promise<JsonObject[]> {
    const answer = await this.relay.rest("GET", `/v1/calls${query}`, this.secretKey);
    return answer.body["items"] as JsonObject[];
  }
}

export const SEARCH_TOOL = {
  name: "search_notes",
  description: "Full-text search of the person's notes",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" } },
    required: ["query"],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
} as const;

export type AppBehaviour = {
  readonly tools?: readonly unknown[];
  readonly app?: JsonObject;
  readonly instructions?: string;
  /** Answers a call; returns the frame without its id, or null to say nothing. */
  readonly onCall?: (call: JsonObject, app: TestApp) => JsonObject | null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** An app on a raw socket: sends what it is told to, keeps every frame it got. */
export class TestApp {
  readonly socket: WebSocket;
  readonly frames: JsonObject[] = [];
  /** Raw texts of `frames`. */
  readonly texts: string[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(socketUrl: string, behaviour: AppBehaviour = {}) {
    this.socket = new WebSocket(socketUrl, { headers: behaviour.headers ?? {} });
    this.socket.on("error", () => undefined);
    this.socket.on("message", (data) => {
      const text = (data as Buffer).toString("utf8");
      const frame = JSON.parse(text) as JsonObject;
      this.texts.push(text);
      this.frames.push(frame);
      const answer = frame["type"] === "call" ? behaviour.onCall?.(frame, this) : null;
      if (answer !== null && answer !== undefined) this.send({ id: frame["id"], ...answer });
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code, reason) => {
        this.#isClosed = true;
        resolve({ code, reason: reason.toString() });
        this.#wake();
      });
    });
  }

  /** Resolves when the socket is open. */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once("open", () => resolve());
      this.socket.once("error", reject);
    });
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** Waits for a frame of `type` that no earlier `next` of the type has returned. */
  async next(type: string): Promise<JsonObject> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = this.frames.find((frame) => frame["type"] === type && !seen.has(frame));
      if (found !== undefined) {
        seen.add(found);
        return found;
      }
      if (this.#isClosed) throw new Error(`the socket closed before a frame of type ${type} came`);
      if (Date.now() > deadline) throw new Error(`no frame of type ${type} came`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  close(): Promise<{ code: number; reason: string }> {
    this.socket.close(1000);
    return this.closed;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

const seen = new WeakSet<JsonObject>();

/** The hello of a link's app. */
export function helloOf(link: TestLink, behaviour: AppBehaviour = {}): JsonObject {
  return {
    type: "hello",
    protocol: 1,
    token: link.linkToken,
    app: behaviour.app ?? { name: "Notes", version: "1.4.2" },
    ...(behaviour.instructions === undefined ? {} : { instructions: behaviour.instructions }),
    tools: behaviour.tools ?? [SEARCH_TOOL],
  };
}

/** Connects an app and waits for `ready`. */
export async function connectApp(link: TestLink, behaviour: AppBehaviour = {}): Promise<TestApp> {
  const app = new TestApp(link.socketUrl, behaviour);
  await app.opened();
  app.send(helloOf(link, behaviour));
  await app.next("ready");
  return app;
}

/** An app that answers every call with its arguments as text. */
export const ECHO: AppBehaviour = {
  onCall: (call) => ({
    type: "result",
    content: [{ type: "text", text: JSON.stringify(call["arguments"]) }],
  }),
};

export type HostAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body, or the last message of the stream. */
  readonly message: JsonObject;
  /** Every message of the stream. */
  readonly messages: readonly JsonObject[];
};

/** POSTs one message as a host does and waits for the whole answer. */
export async function post(
  mcpUrl: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<HostAnswer> {
  const response = await fetch(mcpUrl, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const messages = isStream
    ? text
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => JSON.parse(line.slice("data: ".length)) as JsonObject)
    : text === ""
      ? []
      : [parseOr(text)];
  return {
    status: response.status,
    headers: response.headers,
    text,
    messages,
    message: messages.at(-1) ?? {},
  };
}

/** Calls a tool as a legacy host does. */
export function callTool(
  mcpUrl: string,
  name = "search_notes",
  args: unknown = { query: "invoices" },
  more: JsonObject = {},
): Promise<HostAnswer> {
  const params = { name, arguments: args, ...more };
  return post(mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

/** The text of a tool result's first block. */
export function textOf(answer: HostAnswer): string {
  return String(answer.message["result"]?.content?.[0]?.text);
}

function parseOr(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
