import type { Config } from "./config.ts";

/** Where the outside world reaches this Relay; bases without a trailing slash. */
export type PublicUrls = {
  /** For apps and developers. */
  readonly public: string;
  /** For hosts: the base of MCP URLs. */
  readonly mcp: string;
};

/** The public URLs of a configuration, once the port is known that port 0 stands for. */
export function publicUrls(config: Config, port: number): PublicUrls {
  const withPort = (url: string): string =>
    url.replace(/^http:\/\/localhost:0$/, `http://localhost:${port}`);
  return { public: withPort(config.publicUrl), mcp: withPort(config.mcpPublicUrl) };
}
