/** Which of several things wrong with a POST is the one that is answered, and the limits by address. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, TestLink, TestRelay } from "./harness.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

const unknownUrl = (link: TestLink): string => `${link.mcpUrl.slice(0, -32)}${"x".repeat(32)}`;

test("the first thing wrong decides: token, Origin, type, size, JSON, shape, version, suspension, method", async () => {
  await using relay = await openRelay({ RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1" });
  const project = await relay.project();
  const link = await project.link();
  await project.change({ suspended: true });
  const evil = { Origin: "http://evil.example" };
  const text = { "Content-Type": "text/plain" };
  const version = { "MCP-Protocol-Version": "1999-01-01" };
  const huge = "x".repeat(90_000);
  const everything = { ...evil, ...text, ...version };
  const unknownMethod = '{"jsonrpc":"2.0","id":1,"method":"resources/list"}';
  const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const steps: [string, () => Promise<HostAnswer>, number, number | null][] = [
    ["token", () => post(unknownUrl(link), huge, everything), 404, -32600],
    ["its limit", () => post(unknownUrl(link), huge, everything), 429, -32600],
    ["Origin", () => post(link.mcpUrl, huge, everything), 403, -32600],
    ["type", () => post(link.mcpUrl, huge, { ...text, ...version }), 415, -32600],
    ["size", () => post(link.mcpUrl, huge, version), 413, -32600],
    ["JSON", () => post(link.mcpUrl, "x", version), 400, -32700],
    ["shape", () => post(link.mcpUrl, "[]", version), 400, -32600],
    ["version", () => post(link.mcpUrl, unknownMethod, version), 400, -32600],
    ["one way", () => post(link.mcpUrl, notification), 202, null],
    ["suspension", () => post(link.mcpUrl, unknownMethod), 200, -32000],
  ];
  for (const [what, ask, status, code] of steps) {
    const answer = await ask();
    assert.equal(answer.status, status, what);
    assert.equal(answer.message["error"]?.code ?? null, code, what);
  }
  assert.match((await post(link.mcpUrl, "[]", version)).text, /batch/);
  assert.match((await post(link.mcpUrl, unknownMethod, version)).text, /Supported versions/);
  await project.change({ suspended: false });
  assert.equal((await post(link.mcpUrl, unknownMethod)).message["error"].code, -32601);
});

test("past the unknown tokens of a minute an address gets 429 for them, and still its own answers", async () => {
  await using relay = await openRelay({ RELAY_UNKNOWN_TOKENS_PER_MINUTE: "3" });
  const link = await relay.link();
  const app = await connectApp(link, ECHO);
  // Known tokens use nothing up, whatever is wrong with their requests.
  for (let n = 0; n < 5; n += 1) assert.equal((await post(link.mcpUrl, "{")).status, 400);
  for (let n = 0; n < 3; n += 1) assert.equal((await post(unknownUrl(link), PING)).status, 404);
  for (let n = 0; n < 3; n += 1) {
    const answer = await post(unknownUrl(link), PING);
    assert.equal(answer.status, 429);
    assert.equal(answer.message["error"].code, -32600);
    const wait = answer.headers.get("retry-after") ?? "";
    assert.match(wait, /^([1-9]|[1-5]\d|60)$/);
    assert.match(answer.message["error"].message, new RegExp(`in ${wait} s`));
  }
  assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  assert.equal((await fetch(unknownUrl(link))).status, 405);
  await app.close();
});

/** Statuses of requests with an unknown token, one for each `X-Forwarded-For`, in order. */
async function statusesFor(relay: TestRelay, forwarded: readonly string[]): Promise<number[]> {
  const url = `${relay.url}/v1/mcp/ut_${"x".repeat(32)}`;
  const statuses: number[] = [];
  for (const header of forwarded) {
    statuses.push((await post(url, PING, { "X-Forwarded-For": header })).status);
  }
  return statuses;
}

test("without a trusted proxy X-Forwarded-For is ignored", async () => {
  await using relay = await openRelay({ RELAY_UNKNOWN_TOKENS_PER_MINUTE: "2" });
  assert.deepEqual(
    await statusesFor(relay, ["198.51.100.1", "198.51.100.2", "198.51.100.3"]),
    [404, 404, 429],
  );
});

test("behind one proxy the last address of X-Forwarded-For counts; IPv6 counts by its /64", async () => {
  await using relay = await openRelay({
    RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1",
    RELAY_TRUST_PROXY: "1",
  });
  const told: [string, number][] = [
    ["198.51.100.1", 404],
    ["198.51.100.1", 429],
    ["203.0.113.9, 198.51.100.1", 429],
    ["198.51.100.1, 203.0.113.9", 404],
    ["::ffff:198.51.100.1", 429],
    ["2001:db8:1:2::1", 404],
    ["2001:db8:1:2:ffff:ffff:ffff:ffff", 429],
    ["2001:0DB8:0001:0002::9", 429],
    ["2001:db8:1:3::1", 404],
    ["2001:db8::1", 404],
    ["2001:db8:0:0:1::", 429],
    // No address: the peer's own counts.
    ["unknown", 404],
    ["", 429],
  ];
  const statuses = await statusesFor(
    relay,
    told.map(([header]) => header),
  );
  assert.deepEqual(
    told.map(([header], at) => [header, statuses[at]]),
    told,
  );
});

test("behind two proxies the last but one address counts, and the peer's where there is none", async () => {
  await using relay = await openRelay({
    RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1",
    RELAY_TRUST_PROXY: "2",
  });
  const told = [
    "198.51.100.1, 10.0.0.1",
    "198.51.100.1, 10.0.0.2",
    "9.9.9.9, 198.51.100.1, 10.0.0.1",
  ];
  assert.deepEqual(await statusesFor(relay, told), [404, 429, 429]);
  assert.deepEqual(await statusesFor(relay, ["198.51.100.7", "198.51.100.8"]), [404, 429]);
});
