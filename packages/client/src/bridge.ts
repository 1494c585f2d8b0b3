/**
 * Existing MCP servers as apps of Relay: a command, a URL, or an `McpServer` in the same process. Needs
 * the official client, `@modelcontextprotocol/client` 2, which is an optional peer.
 */
export { connectCommand } from "./bridge/connect-command.ts";
export type { ConnectSurroundings } from "./bridge/connect-command.ts";
export { fromMcpServer } from "./bridge/from-mcp-server.ts";
export type { McpServerLike } from "./bridge/from-mcp-server.ts";
export { loadMcpSdk } from "./bridge/mcp-sdk.ts";
export type { McpSdk } from "./bridge/mcp-sdk.ts";
export { openBridge } from "./bridge/open-bridge.ts";
export type { Bridge, BridgeOptions } from "./bridge/open-bridge.ts";
