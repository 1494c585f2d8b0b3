import assert from "node:assert/strict";
import { test } from "node:test";
import { addressKey, clientAddress } from "./client-address.ts";

const PEER = "10.0.0.1";

test("without a trusted proxy the header is ignored", () => {
  assert.equal(clientAddress(PEER, "203.0.113.1", 0), PEER);
  assert.equal(clientAddress(PEER, undefined, 0), PEER);
});

test("behind n proxies the client is the n-th from the right, whatever the client wrote itself", () => {
  const header = "1.1.1.1, 203.0.113.1 ,198.51.100.7";
  assert.equal(clientAddress(PEER, header, 1), "198.51.100.7");
  assert.equal(clientAddress(PEER, header, 2), "203.0.113.1");
  assert.equal(clientAddress(PEER, header, 3), "1.1.1.1");
  assert.equal(clientAddress(PEER, "2001:db8::1", 1), "2001:db8::1");
});

test("where the header is missing, too short or no address, the peer's own counts", () => {
  const cases: readonly (readonly [string | undefined, number])[] = [
    [undefined, 1],
    ["", 1],
    ["203.0.113.1", 2],
    ["203.0.113.1, ", 1],
    ["unknown", 1],
    ["203.0.113.1, evil", 1],
    ["203.0.113.1:4711", 1],
    ["203.0.113.256", 1],
  ];
  for (const [header, proxies] of cases) {
    assert.equal(clientAddress(PEER, header, proxies), PEER, header);
  }
});

test("limits count IPv4 by its address and IPv6 by its /64, however it is written", () => {
  const keys: readonly (readonly [string, string])[] = [
    ["203.0.113.1", "203.0.113.1"],
    ["::ffff:203.0.113.1", "203.0.113.1"],
    ["::FFFF:203.0.113.1", "203.0.113.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::ffff", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
    ["2001:db8::2:3:4:5:6", "2001:db8:0:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["64:ff9b::203.0.113.1", "64:ff9b:0:0::/64"],
    ["", ""],
  ];
  for (const [address, key] of keys) assert.equal(addressKey(address), key, address);
});
