import { loadClient } from "./client-packages.ts";
import { readToolAnswer } from "./host-promises.ts";
import type { CallOptions, HostSession, ToolAnswer } from "./host-promises.ts";

/** Opens a conversation of the official SDK v1's client over one of its transports. */
export async function openSdkV1(transport: object): Promise<SdkV1Session> {
  // A checked border: the SDK's types are not at hand, and these name what is used of it.
  const { Client } = loadClient("@modelcontextprotocol/sdk/client/index.js") as SdkV1;
  const client = new Client({ name: "sdk-v1-test", version: "1" });
  await client.connect(transport);
  return new SdkV1Session(client);
}

/** A transport of SDK v1 to an MCP URL. */
export function sdkV1Http(mcpUrl: string): object {
  const module = loadClient("@modelcontextprotocol/sdk/client/streamableHttp.js") as {
    readonly StreamableHTTPClientTransport: new (url: URL) => object;
  };
  return new module.StreamableHTTPClientTransport(new URL(mcpUrl));
}

/** A transport of SDK v1 to a server that it starts as a process. */
export function sdkV1Stdio(process: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): object {
  const module = loadClient("@modelcontextprotocol/sdk/client/stdio.js") as {
    readonly StdioClientTransport: new (parameters: object) => object;
  };
  return new module.StdioClientTransport({ ...process, stderr: "ignore" });
}

export class SdkV1Session implements HostSession {
  readonly client: SdkV1Client;

  constructor(client: SdkV1Client) {
    this.client = client;
  }

  async listTools(): Promise<readonly string[]> {
    return (await this.client.listTools()).tools.map((tool) => tool.name);
  }

  async callTool(name: string, args: object = {}, options: CallOptions = {}): Promise<ToolAnswer> {
    const result = await this.client.callTool({ name, arguments: args }, undefined, {
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

type SdkV1 = { readonly Client: new (info: object) => SdkV1Client };

type SdkV1Client = {
  readonly connect: (transport: object) => Promise<void>;
  readonly listTools: () => Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readonly callTool: (params: object, schema: undefined, options: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
};
