import type { Bridge, BridgeOptions } from "./open-bridge.ts";
import { openBridge } from "./open-bridge.ts";
import type { McpTransport } from "./mcp-sdk.ts";

/** An `McpServer` or `Server` of the official SDK, of either generation. */
export type McpServerLike = { connect(transport: never): Promise<void> };

/** Makes an MCP server of the same process into an app, with nothing in between but memory. */
export function fromMcpServer(
  server: McpServerLike,
  options: Omit<BridgeOptions, "transport">,
): Promise<Bridge> {
  return openBridge({
    ...options,
    transport: async (): Promise<McpTransport> => {
      const [near, far] = options.sdk.InMemoryTransport.createLinkedPair();
      // The SDK's own transports fit its own servers.
      await server.connect(far as never);
      return near;
    },
  });
}
