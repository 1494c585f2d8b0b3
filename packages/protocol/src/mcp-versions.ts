/** The MCP revisions of the first generation, oldest first: `initialize`, then plain requests. */
export const LEGACY_VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
export type LegacyVersion = (typeof LEGACY_VERSIONS)[number];

/** What a request without an `MCP-Protocol-Version` header speaks. */
export const LEGACY_DEFAULT_VERSION: LegacyVersion = "2025-03-26";
/** What `initialize` answers when the client asks for a version Relay does not speak. */
export const LEGACY_LATEST_VERSION: LegacyVersion = "2025-11-25";

/** The MCP revisions of the second generation: every request carries its version in `_meta`. */
export const MODERN_VERSIONS = ["2026-07-28"] as const;
export type ModernVersion = (typeof MODERN_VERSIONS)[number];

/** The `_meta` keys of a modern request. */
export const META_KEYS = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;
