const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["Windows", "Windows"],
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Mac OS X", "Mac"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

/** `Firefox on Linux`, as far as a browser says who it is. */
export function browserWords(userAgent: string | null): string {
  const find = (table: readonly (readonly [string, string])[]): string | undefined =>
    table.find(([mark]) => userAgent?.includes(mark) === true)?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (browser === undefined) return userAgent?.split(" ")[0]?.slice(0, 32) || "Unknown program";
  return system === undefined ? browser : `${browser} on ${system}`;
}
