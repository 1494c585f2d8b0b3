/** The app's client against a real Relay: what the fake one can't show. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRelay, memoryStore, tool } from "@relay/client";
import type { Relay, RelayOptions } from "@relay/client";
import { WebSocket as WsWebSocket } from "ws";
import * as z from "zod";
import { openRelay as openClient } from "../../packages/client/src/relay-client.ts";
import { systemRuntime } from "../../packages/client/src/runtime.ts";
import type { SocketConstructor } from "../../packages/client/src/runtime.ts";
import { callTool, openRelay, post, textOf } from "../e2e/harness.ts";
import type { TestProject, TestRelay } from "../e2e/harness.ts";
import { DroppingProxy } from "./dropping-proxy.ts";

const APP = { name: "Notes", version: "1.4.2" };
/** How much faster than the world's the clock of a client under test runs. */
const HASTE = 20;

let server: TestRelay;
before(async () => {
  server = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "1000" });
});
after(() => server[Symbol.asyncDispose]());

const notes = ["Q3 invoices", "Tulips before the frost"];
const search = tool("search_notes", {
  description: "Full-text search of the person's notes",
  input: z.object({ query: z.string(), limit: z.number().int().max(50).default(10) }),
  output: z.object({ found: z.array(z.string()) }),
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  run: ({ query, limit }) => ({
    found: notes.filter((note) => note.toLowerCase().includes(query)).slice(0, limit),
  }),
});

type Wanted = Partial<RelayOptions> & { readonly project?: TestProject };

/** A client with its real clock. */
async function client({ project, ...options }: Wanted = {}): Promise<Relay> {
  const { publishableKey, relay } = project ?? (await server.project());
  return createRelay({
    relayUrl: relay.url,
    publishableKey,
    app: APP,
    tools: [search],
    store: memoryStore(),
    ...options,
  });
}

/** A client whose clock runs `HASTE` times as fast. */
async function hastyClient({ project, ...options }: Wanted = {}): Promise<Relay> {
  const { publishableKey, relay } = project ?? (await server.project());
  const system = systemRuntime();
  const base = { relayUrl: relay.url, publishableKey, app: APP, tools: [search] };
  const all = { ...base, store: memoryStore(), ...options };
  return openClient(all, {
    ...system,
    ...all,
    monotonic: () => system.monotonic() * HASTE,
    after: (ms, run) => system.after(ms / HASTE, run),
  });
}

/** Resolves when the state is `status`, with what the state is then. */
function until<Status extends Relay["state"]["status"]>(
  relay: Relay,
  status: Status,
): Promise<Extract<Relay["state"], { status: Status }>> {
  return new Promise((resolve) => {
    const look = (state: Relay["state"]): void => {
      if (state.status !== status) return;
      end();
      // Just compared.
      resolve(state as Extract<Relay["state"], { status: Status }>);
    };
    const end = relay.on("state", look);
    look(relay.state);
  });
}

test("a tool of an app is called by a host, with the schema's defaults and its checked result", async () => {
  const relay = await client();
  await relay.start();
  const answer = await callTool(String(relay.mcpUrl), "search_notes", { query: "tulips" });
  assert.deepEqual(answer.message["result"], {
    content: [{ type: "text", text: '{"found":["Tulips before the frost"]}' }],
    structuredContent: { found: ["Tulips before the frost"] },
    isError: false,
  });
  const refused = await callTool(String(relay.mcpUrl), "search_notes", { query: "a", limit: 51 });
  assert.match(refused.message["error"].message, /^Invalid arguments for tool search_notes/);
  assert.deepEqual(relay.warnings, []);
  relay.stop();
});

test("what some hosts will dislike about the tools is told at ready", async () => {
  const bare = tool("do", { description: "Does it", run: () => "" });
  const relay = await client({ tools: [bare] });
  await relay.start();
  assert.deepEqual(
    relay.warnings.map(({ path }) => path),
    ["tools[0].annotations"],
  );
  relay.stop();
});

test("the WebSocket of ws does as well as the runtime's own", async () => {
  const relay = await client({ WebSocket: WsWebSocket });
  await relay.start();
  assert.equal(
    textOf(await callTool(String(relay.mcpUrl))),
    '{"found":[]}'.replace("[]", '["Q3 invoices"]'),
  );
  await relay.pause();
  assert.equal(relay.paused, true);
  relay.stop();
});

test("progress and cancel go all the way", async () => {
  const signals: AbortSignal[] = [];
  const slow = tool("slow", {
    description: "Takes its time",
    run: (_, { signal, progress }) => {
      signals.push(signal);
      progress(1, { total: 2, message: "half" });
      return new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => resolve("never seen"));
      });
    },
  });
  const relay = await client({ tools: [slow] });
  await relay.start();
  const host = new AbortController();
  const statuses: string[] = [];
  const cancelled = new Promise<void>((resolve) => {
    relay.on("call", ({ status }) => {
      statuses.push(status);
      if (status === "running") host.abort();
      if (status === "cancelled") resolve();
    });
  });
  const params = { name: "slow", arguments: {}, _meta: { progressToken: 1 } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  await assert.rejects(post(String(relay.mcpUrl), body, {}, host.signal));
  await cancelled;
  assert.equal(signals[0]?.aborted, true);
  assert.deepEqual(statuses, ["running", "cancelled"]);
  relay.stop();
});

test("new tools are listed and called after the reconnect that setTools makes", async () => {
  const relay = await hastyClient();
  await relay.start();
  relay.setTools([search, tool("now", { description: "The time", run: () => "noon" })]);
  await until(relay, "connecting");
  await until(relay, "online");
  assert.equal(textOf(await callTool(String(relay.mcpUrl), "now", {})), "noon");
  relay.stop();
});

test("rotate gives a URL that works and kills the old one; revoke ends it", async () => {
  const relay = await client();
  await relay.start();
  const old = String(relay.mcpUrl);
  const url = await relay.rotate();
  assert.equal((await callTool(old)).status, 404);
  assert.equal((await callTool(url)).status, 200);
  await relay.revoke();
  const { reason } = await until(relay, "closed");
  assert.equal(reason.code, 4410);
  await assert.rejects(relay.start(), { code: 4401 });
  await relay.relink();
  assert.equal((await callTool(String(relay.mcpUrl))).status, 200);
  relay.stop();
});

test("an app survives a Relay that is stopped and started again under it", async () => {
  const first = await openRelay();
  const project = await first.project();
  const relay = await hastyClient({ project });
  await relay.start();
  await first.stop();
  await until(relay, "waiting");
  const second = await openRelay({ RELAY_PORT: String(first.port) }, first.dataDir);
  await until(relay, "online");
  assert.equal((await callTool(String(relay.mcpUrl))).status, 200);
  relay.stop();
  await second[Symbol.asyncDispose]();
});

test("an app whose connection is cut by a proxy is back, and the call under way is lost for both", async () => {
  const proxy = await DroppingProxy.open(server.port);
  const hang = tool("hang", { description: "", run: () => new Promise<string>(() => undefined) });
  const relay = await hastyClient({ relayUrl: proxy.url, tools: [search, hang] });
  await relay.start();
  const statuses: string[] = [];
  relay.on("call", ({ status }) => {
    statuses.push(status);
    if (status === "running") proxy.drop();
  });
  const lost = await callTool(String(relay.mcpUrl), "hang", {});
  assert.match(textOf(lost), /^The relay lost the connection to Notes/);
  await until(relay, "waiting");
  await until(relay, "online");
  assert.deepEqual(statuses, ["running", "lost"]);
  assert.equal((await callTool(String(relay.mcpUrl))).status, 200);
  relay.stop();
  await proxy.close();
});

test("a Relay that is silent for a minute is noticed, and found again when it speaks", async () => {
  const proxy = await DroppingProxy.open(server.port);
  const relay = await hastyClient({ relayUrl: proxy.url });
  await relay.start();
  proxy.isSilent = true;
  const { reason } = await until(relay, "waiting");
  assert.deepEqual(reason, { code: 1006, message: "No answer from Relay." });
  await until(relay, "connecting");
  proxy.isSilent = false;
  await until(relay, "online");
  assert.equal((await callTool(String(relay.mcpUrl))).status, 200);
  relay.stop();
  await proxy.close();
});

test("4001: two copies of an app on one link slow down and never spin", async () => {
  const project = await server.project();
  const store = memoryStore();
  const one = await hastyClient({ project, store });
  await one.start();
  const other = await hastyClient({ project, store });
  const waits: number[] = [];
  for (const relay of [one, other]) {
    relay.on("state", (state) => {
      if (state.status === "waiting") waits.push(state.waitMs);
    });
  }
  await other.start();
  while (waits.length < 6) await until(one, "waiting").then(() => until(one, "online"));
  assert.ok(Math.max(...waits) >= 2_000, waits.join(" "));
  one.stop();
  other.stop();
});

test("4400: what Relay says about the tools is the reason for waiting", async () => {
  const bad = tool("bad", {
    description: "",
    input: { type: "object", properties: { a: { type: "string", pattern: "(?<=a)b" } } },
    run: () => "",
  });
  const relay = await hastyClient({ tools: [bad] });
  void relay.start();
  const { reason } = await until(relay, "waiting");
  assert.equal(reason.code, 4400);
  assert.match(reason.message, /^tools\[0\]\.inputSchema/);
  relay.setTools([search]);
  await until(relay, "online");
  relay.stop();
});

test("4403: an origin that the project does not allow stays away", async () => {
  const project = await server.project({ allowedOrigins: ["https://notes.example"] });
  const from = (origin: string): SocketConstructor =>
    class extends WsWebSocket {
      constructor(url: string) {
        super(url, { origin });
      }
    };
  const stranger = await client({ project, WebSocket: from("https://evil.example") });
  await assert.rejects(stranger.start(), { code: 4403 });
  const friend = await client({ project, WebSocket: from("https://notes.example") });
  await friend.start();
  friend.stop();
});

test("4423: a project that is suspended is waited for", async () => {
  const project = await server.project();
  const relay = await hastyClient({ project });
  await relay.start();
  await project.change({ suspended: true });
  assert.equal((await until(relay, "waiting")).reason.code, 4423);
  await project.change({ suspended: false });
  await until(relay, "online");
  relay.stop();
});

test("4429: an app that finds its project full is in when there is room", async () => {
  const full = await openRelay({ RELAY_SOCKETS_PER_PROJECT: "1" });
  const project = await full.project();
  const first = await client({ project });
  await first.start();
  const second = await hastyClient({ project });
  void second.start();
  assert.equal((await until(second, "waiting")).reason.code, 4429);
  first.stop();
  await until(second, "online");
  second.stop();
  await full[Symbol.asyncDispose]();
});
