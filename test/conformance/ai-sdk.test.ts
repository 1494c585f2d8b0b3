import assert from "node:assert/strict";
import { loadClient } from "./client-packages.ts";
import { clientTest } from "./client-test.ts";
import { promisesTo, readToolAnswer } from "./host-promises.ts";
import type { CallOptions, HostSession, ToolAnswer } from "./host-promises.ts";
import { connectNotes } from "./notes-app.ts";
import { RestartingRelay } from "./restarting-relay.ts";

promisesTo("AI SDK", {
  open: (mcpUrl) => openAiSdk(mcpUrl),
  clientName: /^ai-sdk-mcp-client$/,
  showsProgress: false,
});

clientTest("AI SDK settles on 2026-07-28 with its first request", async (opened) => {
  const relay = opened.use(await RestartingRelay.open());
  await connectNotes(relay.link);
  const asked: (string | null)[] = [];
  const noting: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    asked.push(headers.get("mcp-protocol-version"), headers.get("mcp-method"));
    return fetch(url, init);
  };
  const session = opened.use(await openAiSdk(relay.link.mcpUrl, noting));
  await session.listTools();
  assert.deepEqual(asked, ["2026-07-28", "server/discover", "2026-07-28", "tools/list"]);
});

async function openAiSdk(mcpUrl: string, ownFetch = fetch): Promise<AiSdkSession> {
  // A checked border: the package's types are not at hand, and these name what is used of it.
  const { createMCPClient } = loadClient("@ai-sdk/mcp") as AiSdk;
  const transport = { type: "http", url: mcpUrl, fetch: ownFetch };
  return new AiSdkSession(await createMCPClient({ transport }));
}

class AiSdkSession implements HostSession {
  readonly #client: AiSdkClient;

  constructor(client: AiSdkClient) {
    this.#client = client;
  }

  async listTools(): Promise<readonly string[]> {
    return Object.keys(await this.#client.tools());
  }

  async callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<ToolAnswer> {
    const tool = (await this.#client.tools())[name];
    assert.ok(tool !== undefined);
    return readToolAnswer(await tool.execute(args, { abortSignal: options.signal }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}

type AiSdk = { readonly createMCPClient: (config: object) => Promise<AiSdkClient> };

type AiSdkClient = {
  readonly tools: () => Promise<Readonly<Record<string, AiSdkTool>>>;
  readonly close: () => Promise<void>;
};

type AiSdkTool = { readonly execute: (args: object, options: object) => Promise<unknown> };
