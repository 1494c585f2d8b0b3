/** Hides the URL token in a text that holds the MCP URL: the URL itself, or a command. */
export function maskUrl(text: string, mcpUrl: string): string {
  const token = mcpUrl.slice(mcpUrl.lastIndexOf("/") + 1);
  return token === "" ? text : text.replaceAll(token, "••••••••");
}
