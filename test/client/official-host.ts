import type { JsonObject } from "../e2e/harness.ts";
import { loadPackage } from "./test-packages.ts";

/** The part of an official MCP client that hosts use here; each generation has its own way to call. */
type HostClient = {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: object, second?: object, third?: object): Promise<JsonObject>;
};
type HostSdk = {
  readonly Client: new (info: object) => HostClient;
  readonly StreamableHTTPClientTransport: new (url: URL) => object;
};

/** The official client of a generation, connected to a link. */
export async function officialHost(generation: "v1" | "v2", mcpUrl: string) {
  const v1 = "@modelcontextprotocol/sdk/client";
  const { Client, StreamableHTTPClientTransport } = (
    generation === "v1"
      ? {
          ...(loadPackage(`${v1}/index.js`) as object),
          ...(loadPackage(`${v1}/streamableHttp.js`) as object),
        }
      : loadPackage("@modelcontextprotocol/client")
  ) as HostSdk;
  const client = new Client({ name: "host", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  const call = (params: object, how: object = {}): Promise<JsonObject> =>
    generation === "v1" ? client.callTool(params, undefined, how) : client.callTool(params, how);
  return { client, call };
}
