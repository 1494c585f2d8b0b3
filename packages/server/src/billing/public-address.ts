import { BlockList, isIP } from "node:net";

/*
 * The addresses of the internet at large. Everything else is somebody's own machine or network, and
 * a webhook must not reach it: that is how a stranger would look around behind Relay's firewall.
 */

/** What of IPv4 is not public: this host, private and shared networks, tests, multicast, the rest. */
const NOT_PUBLIC_4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Of IPv6 only this is given out at all, and in it some is not public or hides another address. */
const GLOBAL_6 = ["2000::", 3] as const;
const NOT_PUBLIC_6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_4) notPublic.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of NOT_PUBLIC_6) notPublic.addSubnet(network, prefix, "ipv6");
const global6 = new BlockList();
global6.addSubnet(GLOBAL_6[0], GLOBAL_6[1], "ipv6");

/**
 * Whether an IP address is one of the public internet; what is no address is not. An IPv4 address
 * written as IPv6 is outside of what IPv6 gives out, and so not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, "ipv4");
    case 6:
      return global6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
    default:
      return false;
  }
}
