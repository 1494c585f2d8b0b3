import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isPublicAddress } from "./public-address.ts";
import { webhookUrlFault } from "./webhook-post.ts";

test("an address of the internet at large is public", () => {
  for (const address of [
    "8.8.8.8",
    "1.1.1.1",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.0.1",
    "100.128.0.1",
  ]) {
    assert.ok(isPublicAddress(address), address);
  }
  for (const address of ["2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888"]) {
    assert.ok(isPublicAddress(address), address);
  }
});

test("no address of a machine, a private network, a test or a tunnel is", () => {
  const addresses = [
    ["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254"],
    ["172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1"],
    ["198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ["::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "100::1", "fc00::1"],
    ["fd12::1", "fe80::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1"],
    ["", "localhost", "8.8.8", "8.8.8.8.8"],
  ].flat();
  for (const address of addresses) assert.ok(!isPublicAddress(address), address);
});

test("a webhook's URL is https to a host of the internet, or what the operator allows", () => {
  assert.equal(webhookUrlFault("https://example.com:8443/relay?x=1", false), null);
  assert.equal(webhookUrlFault("https://8.8.8.8/", false), null);
  for (const host of ["127.0.0.1", "2130706433", "0177.0.0.1", "127.1", "[::1]", "[fd00::1]"]) {
    assert.match(webhookUrlFault(`https://${host}/`, false) ?? "", /private network/, host);
    assert.equal(webhookUrlFault(`http://${host}/`, true), null, host);
  }
  assert.match(webhookUrlFault("http://example.com/", false) ?? "", /https/);
  assert.match(webhookUrlFault("ftp://example.com/", true) ?? "", /https:\/\/ or http:/);
  assert.match(webhookUrlFault(`https://example.com/${"x".repeat(2_000)}`, false) ?? "", /2,000/);
  assert.match(webhookUrlFault("https://example.com/#a", false) ?? "", /fragment/);
});
