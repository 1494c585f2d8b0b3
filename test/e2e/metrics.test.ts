import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { METRICS } from "../../packages/server/src/observe/metric-table.ts";
import type { MetricRule } from "../../packages/server/src/observe/metric-table.ts";
import { ECHO, TestApp, callTool, connectApp, helloOf, openRelay, post } from "./harness.ts";
import type { TestRelay } from "./harness.ts";
import { scrape } from "./metrics-text.ts";
import type { Sample, Samples } from "./metrics-text.ts";

const FORWARDED = { "X-Forwarded-For": "127.0.0.1" };

test("/metrics answers this machine, and through a proxy the operator alone", async () => {
  for (const trusted of ["0", "1"]) {
    await using relay = await openRelay({ RELAY_TRUST_PROXY: trusted });
    const operator = { Authorization: `Bearer ${relay.operatorToken}` };
    const stranger = { Authorization: `Bearer op_${"0".repeat(32)}` };
    const project = await relay.project();
    const secret = { Authorization: `Bearer ${project.secretKey}` };
    assert.equal(await statusOf(relay, {}), 200);
    for (const header of ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"]) {
      const proxied = { [header]: "127.0.0.1" };
      assert.equal(await statusOf(relay, proxied), 401, header);
      assert.equal(await statusOf(relay, { ...proxied, ...operator }), 200, header);
    }
    assert.equal(await statusOf(relay, { ...FORWARDED, ...stranger }), 401);
    assert.equal(await statusOf(relay, { ...FORWARDED, ...secret }), 401);
  }
});

test("/metrics wants the operator's token from another address", async (t) => {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  if (own === undefined) return t.skip("this machine has no address but loopback");
  await using relay = await openRelay({ RELAY_HOST: "0.0.0.0" });
  const url = `http://${own.address}:${relay.port}/metrics`;
  const refused = await fetch(url);
  assert.equal(refused.status, 401);
  assert.equal(((await refused.json()) as { error: { code: string } }).error.code, "UNAUTHORIZED");
  const headers = { Authorization: `Bearer ${relay.operatorToken}` };
  assert.equal((await fetch(url, { headers })).status, 200);
});

test("with RELAY_METRICS off there is no /metrics, for the operator neither", async () => {
  await using relay = await openRelay({ RELAY_METRICS: "off" });
  const app = await connectApp(await relay.link(), ECHO);
  assert.equal(await statusOf(relay, {}), 404);
  assert.equal(await statusOf(relay, { Authorization: `Bearer ${relay.operatorToken}` }), 404);
  await app.close();
});

test("a socket's end is counted by its code and by who ended it", async () => {
  await using relay = await openRelay();
  const link = await relay.link();
  const first = await connectApp(link);
  const second = await connectApp(link);
  assert.equal((await first.closed).code, 4001);
  second.socket.close(4999);
  await second.closed;
  (await connectApp(link)).socket.close(1000);
  (await connectApp(link)).socket.terminate();
  const large = await connectApp(link);
  large.send("x".repeat(300 * 1024));
  assert.equal((await large.closed).code, 1006);
  const garbled = await connectApp(link);
  garbled.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  assert.equal((await garbled.closed).code, 1007);
  const unknown = new TestApp(link.socketUrl);
  await unknown.opened();
  unknown.send({ ...helloOf(link), token: `lt_${"0".repeat(32)}` });
  assert.equal((await unknown.closed).code, 4401);
  const rude = new TestApp(link.socketUrl);
  await rude.opened();
  rude.send({ type: "ping" });
  assert.equal((await rude.closed).code, 4400);

  const samples = await eventually(relay, (now) => now.sum("relay_sockets_open") === 0);
  const ends = samples.all
    .filter(({ name }) => name === "relay_sockets_closed_total")
    .map(({ labels, value }) => `${labels["code"]} ${labels["by"]} ${value}`);
  assert.deepEqual(ends.toSorted(), [
    "1000 app 1",
    "1006 network 1",
    "1006 relay 1",
    "1007 relay 1",
    "4001 relay 1",
    "4400 relay 1",
    "4401 relay 1",
    "other app 1",
  ]);
  assert.equal(samples.sum("relay_sockets_opened_total"), 8);
  assert.equal(samples.sum("relay_hellos_accepted_total"), 6);
  assert.equal(samples.sum("relay_hellos_refused_total"), 2);
  assert.equal(samples.sum("relay_hellos_refused_total", { code: "4401" }), 1);
  assert.equal(samples.sum("relay_hellos_refused_total", { code: "4400" }), 1);
});

test("what waits in an unfinished message shows as buffered bytes", async () => {
  await using relay = await openRelay();
  const link = await relay.link();
  const app = await connectApp(link);
  app.socket.send("x".repeat(10_000), { fin: false });
  await eventually(relay, (now) => now.sum("relay_receive_buffer_bytes") >= 10_000);
  app.socket.terminate();
  await eventually(relay, (now) => now.sum("relay_receive_buffer_bytes") === 0);
});

test("every label has a value of the table, whatever strangers send", async () => {
  await using relay = await openRelay({ RELAY_PENDING_SOCKETS_PER_IP: "2" });
  const project = await relay.project({ name: "Secret Project" });
  const link = await project.link("Secret Label");
  const app = await connectApp(link, { ...ECHO, app: { name: "SecretApp", version: "9.9.9" } });
  await callTool(link.mcpUrl);
  await callTool(link.mcpUrl, "secret_tool");
  await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "secret/method" });
  await post(`${relay.url}/v1/mcp/ut_${"0".repeat(32)}`, {});
  await post(`${relay.url}/v1/mcp/secret-path`, {});
  await fetch(link.mcpUrl, { method: "PURGE" });
  for (const path of ["/secret-path", `/v1/links/${link.linkId}`, "/v1/links/secret-path"]) {
    await relay.rest("GET", path, project.secretKey);
    await relay.rest("DELETE", path, project.secretKey);
  }
  await relay.rest("GET", `/v1/operator/projects/${project.projectId}`, relay.operatorToken);
  await refusedUpgrades(relay);
  app.socket.close(4321, "secret reason");
  await app.closed;

  const samples = await eventually(relay, (now) => now.sum("relay_upgrades_refused_total") >= 1);
  const routes = await routesOf(relay);
  for (const sample of samples.all) checkLabels(sample, routes);
  const answered = samples.all.filter(({ name }) => name === "relay_http_requests_total");
  const seen = new Set(answered.map(({ labels }) => labels["route"]));
  for (const route of ["/v1/mcp/{urlToken}", "/v1/links/{linkId}", "/v1/links", "other"]) {
    assert.ok(seen.has(route), route);
  }
  const token = link.mcpUrl.split("/").at(-1) ?? "";
  const secrets = [token, link.linkToken, link.linkId, project.projectId, project.secretKey];
  for (const secret of [...secrets, project.publishableKey, relay.operatorToken]) {
    assert.ok(!samples.text.includes(secret), secret);
  }
  assert.doesNotMatch(samples.text, /secret|search_notes|9\.9\.9|PURGE|4321/i);
});

/** Each label is one of the metric's own, and its value one of those the table lists. */
function checkLabels({ name, labels }: Sample, routes: ReadonlySet<string>): void {
  const table: Readonly<Record<string, MetricRule>> = METRICS;
  const rule = table[name] ?? table[name.replace(/_(bucket|sum|count)$/, "")];
  assert.ok(rule, name);
  for (const [label, value] of Object.entries(labels)) {
    if (label === "le" && rule.type === "histogram") continue;
    const values = rule.labels[label];
    assert.ok(values, `${name} has no label ${label}`);
    if (typeof values !== "string") assert.ok(values.includes(value), `${name} ${label}=${value}`);
    else if (label === "route") assert.ok(routes.has(value), `${name} ${label}=${value}`);
    else assert.equal(label, "version");
  }
}

/** The templates that REST describes, and those of what it does not. */
async function routesOf(relay: TestRelay): Promise<ReadonlySet<string>> {
  const { body } = await relay.rest("GET", "/openapi.json", null);
  return new Set([...Object.keys(body["paths"] as object), "/v1/mcp/{urlToken}", "other"]);
}

/** Opens sockets that say nothing until one more is refused. */
async function refusedUpgrades(relay: TestRelay): Promise<void> {
  const url = `ws://localhost:${relay.port}/v1/socket`;
  for (let left = 4; left > 0; left -= 1) {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve) => {
      socket.on("open", () => resolve());
      socket.on("error", () => resolve());
    });
  }
}

async function statusOf(
  relay: TestRelay,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const response = await fetch(`${relay.url}/metrics`, { headers });
  await response.text();
  return response.status;
}

/** Scrapes until it says what is waited for. */
async function eventually(relay: TestRelay, isSo: (samples: Samples) => boolean): Promise<Samples> {
  for (const until = performance.now() + 10_000; ; await wait(20)) {
    const samples = await scrape(relay);
    if (isSo(samples)) return samples;
    assert.ok(performance.now() < until, samples.text);
  }
}
