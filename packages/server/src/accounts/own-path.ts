/**
 * Whether a text leads to one of this Relay's own pages and nowhere else: a path from the root, as
 * every browser reads it. No host, no scheme, no backslash, no control character.
 */
export function isOwnPath(text: string): boolean {
  return text.length <= 1_024 && /^\/(?!\/)[\w\-./~%?&=#+:,@]*$/.test(text) && !text.includes("//");
}
