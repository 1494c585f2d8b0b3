import assert from "node:assert/strict";
import { test } from "node:test";
import { reachOf } from "./reach.ts";

const REACHES = {
  device: [
    "http://localhost:8787/v1/mcp/ut_x",
    "https://localhost/x",
    "http://relay.localhost/x",
    "http://127.0.0.1:1/x",
    "http://[::1]:8787/x",
    "no URL",
  ],
  network: [
    "http://192.168.1.20:8787/x",
    "https://10.0.0.3/x",
    "http://172.16.0.1/x",
    "http://172.31.255.255/x",
    "http://169.254.7.7/x",
    "http://[fd12::1]/x",
    "http://[fe80::1]/x",
    "http://nas/x",
    "https://relay.local/x",
    "https://relay.internal/x",
  ],
  unencrypted: ["http://relay.example.com/x", "http://172.32.0.1/x", "http://8.8.8.8/x"],
  internet: [
    "https://relay.example.com/relay/v1/mcp/ut_x",
    "https://10.example.com/x",
    "https://[2001:db8::1]/x",
    "https://localhost.example.com/x",
  ],
} as const;

for (const [reach, urls] of Object.entries(REACHES)) {
  test(`addresses that are reached from: ${reach}`, () => {
    for (const url of urls) assert.equal(reachOf(url), reach, url);
  });
}
