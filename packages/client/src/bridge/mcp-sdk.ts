/**
 * The part of the official MCP client, `@modelcontextprotocol/client` 2, that the bridge uses. It is
 * an optional peer: whoever has a bridge installs it.
 */
import type { AppInfo } from "@relay/protocol";
import type { ToolDefinition } from "../tool.ts";

export type McpSdk = {
  readonly Client: new (info: AppInfo, options: McpClientOptions) => McpClient;
  readonly StdioClientTransport: new (options: StdioOptions) => McpTransport;
  readonly StreamableHTTPClientTransport: new (url: URL, options?: object) => McpTransport;
  readonly InMemoryTransport: { createLinkedPair(): [McpTransport, McpTransport] };
};

export type McpClientOptions = {
  readonly listChanged?: {
    readonly tools: {
      readonly onChanged: (error: Error | null, tools: readonly ToolDefinition[] | null) => void;
    };
  };
};

export type McpClient = {
  onclose?: (() => void) | undefined;
  connect(transport: McpTransport): Promise<void>;
  close(): Promise<void>;
  ping(): Promise<unknown>;
  getServerVersion(): AppInfo | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ readonly tools: readonly ToolDefinition[] }>;
  callTool(
    params: { readonly name: string; readonly arguments: Record<string, unknown> },
    options: McpCallOptions,
  ): Promise<object>;
};

export type McpCallOptions = {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly onprogress: (progress: {
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  }) => void;
};

export type StdioOptions = {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly stderr: "inherit";
};

/** What carries messages to a server and back; only the SDK looks inside. */
export type McpTransport = object;

/** Loads the SDK; throws a sentence that says what to install when it is missing. */
export async function loadMcpSdk(): Promise<McpSdk> {
  // Not known to the compiler: an optional peer.
  const load = async (specifier: string): Promise<object> => import(specifier) as Promise<object>;
  try {
    const root = await load("@modelcontextprotocol/client");
    const stdio = await load("@modelcontextprotocol/client/stdio");
    return { ...root, ...stdio } as McpSdk;
  } catch (cause) {
    throw new Error(
      "A bridge needs the official MCP client: npm install @modelcontextprotocol/client",
      { cause },
    );
  }
}
