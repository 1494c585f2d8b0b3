import { isIP, isIPv6 } from "node:net";

/**
 * Returns the client's address. Behind `trustProxy` proxies it is the one that many from the right
 * of `X-Forwarded-For`; without them, or where the header is too short, it is the peer's own.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trustProxy: number,
): string {
  if (trustProxy === 0 || forwardedFor === undefined) return peer;
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  const hop = hops.at(-trustProxy) ?? "";
  return isIP(hop) === 0 ? peer : hop;
}

/** Returns what limits count an address by: IPv4 as it is, IPv6 by its /64 (SPEC 4). */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!isIPv6(address)) return address;
  const [withoutZone = ""] = address.split("%");
  const [head = "", tail] = withoutZone.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  const groups = tail === undefined ? left : [...left, ...zeros, ...right];
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(":")}::/64`;
}
