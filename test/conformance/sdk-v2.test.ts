import assert from "node:assert/strict";
import { loadClient } from "./client-packages.ts";
import { clientTest } from "./client-test.ts";
import { promisesTo, promisesToSdk, readToolAnswer } from "./host-promises.ts";
import type { CallOptions, Host, HostSession, ToolAnswer } from "./host-promises.ts";
import { connectNotes } from "./notes-app.ts";
import { RestartingRelay } from "./restarting-relay.ts";

/** The ways of SDK v2 to settle on a version, and the version that each settles on with Relay. */
const NEGOTIATIONS = [
  { name: "SDK v2", options: {}, era: "legacy", version: "2025-11-25" },
  { name: "SDK v2, auto", options: mode("auto"), era: "modern", version: "2026-07-28" },
  {
    name: "SDK v2, pinned",
    options: mode({ pin: "2026-07-28" }),
    era: "modern",
    version: "2026-07-28",
  },
] as const;

for (const { name, options, era, version } of NEGOTIATIONS) {
  const open = (mcpUrl: string): Promise<SdkV2Session> => openSdkV2(mcpUrl, options);
  const host: Host = { open, clientName: /^sdk-v2-test$/, showsProgress: true };

  promisesTo(name, host);
  promisesToSdk(name, host, era);

  clientTest(`${name} settles on ${version}`, async (opened) => {
    const relay = opened.use(await RestartingRelay.open());
    await connectNotes(relay.link);
    const session = opened.use(await open(relay.link.mcpUrl));
    assert.equal(session.client.getNegotiatedProtocolVersion(), version);
  });
}

function mode(value: unknown): object {
  return { versionNegotiation: { mode: value } };
}

async function openSdkV2(mcpUrl: string, options: object): Promise<SdkV2Session> {
  // A checked border: the SDK's types are not at hand, and these name what is used of it.
  const { Client, StreamableHTTPClientTransport } = loadClient(
    "@modelcontextprotocol/client",
  ) as SdkV2;
  const client = new Client({ name: "sdk-v2-test", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  return new SdkV2Session(client);
}

class SdkV2Session implements HostSession {
  readonly client: SdkV2Client;

  constructor(client: SdkV2Client) {
    this.client = client;
  }

  /** Asks Relay each time; left alone, the client would answer from its cache for a while. */
  async listTools(): Promise<readonly string[]> {
    const { tools } = await this.client.listTools({}, { cacheMode: "refresh" });
    return tools.map((tool) => tool.name);
  }

  async callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<ToolAnswer> {
    const params = { name, arguments: args };
    const result = await this.client.callTool(params, {
      onprogress: options.onProgress,
      signal: options.signal,
      timeout: options.silenceMs,
      resetTimeoutOnProgress: true,
    });
    return readToolAnswer(result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

type SdkV2 = {
  readonly Client: new (info: object, options: object) => SdkV2Client;
  readonly StreamableHTTPClientTransport: new (url: URL) => object;
};

type SdkV2Client = {
  readonly connect: (transport: object) => Promise<void>;
  readonly getNegotiatedProtocolVersion: () => string | undefined;
  readonly listTools: (
    params: object,
    options: object,
  ) => Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readonly callTool: (params: object, options: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
};
