/**
 * From where an MCP URL can be called, by what its address says: `device` is this computer alone,
 * `network` the private network around it, `unencrypted` is public but without https, which hosts in
 * the cloud refuse.
 */
export type Reach = "internet" | "unencrypted" | "network" | "device";

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;
const PRIVATE =
  /^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2}|\[f[cd].*\]|\[fe[89ab].*\]|[^.:[\]]+|.*\.(local|internal|lan|home\.arpa))$/;

/** Tells from where the URL can be called; an address that is no URL is nobody's: `device`. */
export function reachOf(mcpUrl: string): Reach {
  if (!URL.canParse(mcpUrl)) return "device";
  const { protocol, hostname } = new URL(mcpUrl);
  if (LOOPBACK.test(hostname)) return "device";
  if (PRIVATE.test(hostname)) return "network";
  return protocol === "https:" ? "internet" : "unencrypted";
}
