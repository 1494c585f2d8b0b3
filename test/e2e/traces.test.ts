import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post } from "./harness.ts";
import { openCollector } from "./collector.ts";
import type { CollectedSpan, Collector } from "./collector.ts";

const loaded: string[] = [];
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier.startsWith("@opentelemetry/")) loaded.push(specifier);
    return next(specifier, context);
  },
});

const before = { ...process.env };
after(() => {
  process.env = before;
});

/** Sets the `OTEL_…` variables there are to these alone; the exporter reads the process's own. */
function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("OTEL_")) delete process.env[name];
  }
  Object.assign(process.env, variables);
}

test("without the OTEL_ variables, or with them off, nothing of OpenTelemetry is loaded", async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  for (const variables of [
    {},
    { OTEL_SERVICE_NAME: "relay" },
    { ...endpoint, OTEL_SDK_DISABLED: "true" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
  ]) {
    setVariables(variables);
    await using relay = await openRelay();
    await relay.rest("GET", "/healthz", null);
  }
  assert.deepEqual(loaded, []);
});

test("an exporter or protocol that Relay does not have is said in the log, and nothing is loaded", async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  for (const [name, value] of [
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"],
  ] as const) {
    setVariables({ ...endpoint, [name]: value });
    await using relay = await openRelay();
    const line = relay.log.find((entry) => entry.includes("traces are off"));
    assert.ok(line?.includes(name), name);
  }
  assert.deepEqual(loaded, []);
});

test("a call is a span with its route and outcome, and the app's part a span inside it", async () => {
  await using collector = await openCollector();
  const caller = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
  setVariables({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  });
  {
    await using relay = await openRelay();
    const link = await relay.link();
    const app = await connectApp(link, ECHO);
    const params = { name: "search_notes", arguments: { query: "invoices" } };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    await post(link.mcpUrl, message, { traceparent });
    await app.close();
  }
  const call = theSpan(
    collector,
    (span) => span.attributes["relay.outcome"] === "ok" && span.kind === 2,
  );
  assert.equal(call.name, "POST /v1/mcp/{urlToken}");
  assert.deepEqual(call.attributes, {
    "http.request.method": "POST",
    "http.route": "/v1/mcp/{urlToken}",
    "http.response.status_code": 200,
    "relay.outcome": "ok",
  });
  assert.equal(call.traceId, caller.traceId, "the caller's trace goes on");
  assert.equal(call.parentSpanId, caller.spanId);
  const part = theSpan(collector, (span) => span.name === "app");
  assert.deepEqual(part.attributes, { "relay.outcome": "ok" });
  assert.equal(part.kind, 3);
  assert.equal(part.traceId, caller.traceId);
  assert.equal(part.parentSpanId, call.spanId);
  assert.ok(part.startNanos >= call.startNanos && part.endNanos <= call.endNanos);
  assert.ok(loaded.includes("@opentelemetry/api"), "and now it is loaded");
  assert.deepEqual([...new Set(collector.paths)], ["/v1/traces"]);
  assert.equal(collector.resource["service.name"], "relay");
  assert.equal(collector.resource["deployment.environment.name"], "test");
});

test("OTEL_SERVICE_NAME, the traces' own endpoint and the caller's choice not to record are kept", async () => {
  await using collector = await openCollector();
  setVariables({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
    OTEL_SERVICE_NAME: "relay-eu",
  });
  {
    await using relay = await openRelay();
    const headers = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-00` };
    await relay.rest("GET", "/readyz", null, undefined, headers);
    await relay.rest("GET", "/healthz", null, undefined, { traceparent: "00-not-one-01" });
  }
  assert.deepEqual([...new Set(collector.paths)], ["/own/path"]);
  assert.equal(collector.resource["service.name"], "relay-eu");
  const names = collector.spans.map(({ name }) => name);
  assert.ok(names.includes("GET /healthz"));
  assert.ok(!names.includes("GET /readyz"));
});

test("traces say how calls end, and no token, id, path or name that a stranger chose", async () => {
  await using collector = await openCollector();
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const secrets: string[] = [];
  {
    await using relay = await openRelay({ RELAY_CALL_TIMEOUT_SECONDS: "0.2" });
    const project = await relay.project({ name: "Secret Project" });
    const link = await project.link("Secret Label");
    const app = await connectApp(link);
    const leaving = new AbortController();
    const answers = [callTool(link.mcpUrl), callTool(link.mcpUrl, "secret_tool")];
    await app.next("call");
    const params = { name: "search_notes", arguments: { query: "secret words" } };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const gone = post(link.mcpUrl, message, {}, leaving.signal).catch(() => undefined);
    await app.next("call");
    leaving.abort();
    await app.next("cancel");
    await Promise.all([...answers, gone]);
    await relay.rest("POST", `/v1/links/${link.linkId}/pause`, project.secretKey);
    await callTool(link.mcpUrl);
    await app.close();
    await relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
    await relay.rest("GET", "/secret-path?secret=1", null, undefined, { "X-Secret": "secret" });
    const token = link.mcpUrl.split("/").at(-1) ?? "";
    secrets.push(token, link.linkToken, link.linkId, project.projectId, relay.operatorToken);
    secrets.push(project.secretKey, project.publishableKey);
    for (const line of relay.log) {
      const id = /"requestId":"(req_[0-9a-f]+)"/.exec(line)?.[1];
      if (id !== undefined) secrets.push(id);
    }
  }
  const outcomes = collector.spans
    .filter(({ kind, attributes }) => kind === 2 && attributes["relay.outcome"] !== undefined)
    .map(({ attributes }) => String(attributes["relay.outcome"]));
  assert.deepEqual(outcomes.toSorted(), ["cancelled", "paused", "timeout", "unknown_tool"]);
  const cancelled = theSpan(
    collector,
    ({ kind, attributes }) => kind === 2 && attributes["relay.outcome"] === "cancelled",
  );
  assert.equal(cancelled.attributes["relay.aborted"], true);
  const late = theSpan(
    collector,
    ({ name, attributes }) => name === "app" && attributes["relay.outcome"] === "timeout",
  );
  assert.ok(late.isError);
  const names = new Set(collector.spans.map(({ name }) => name));
  assert.ok(names.has("GET /v1/links/{linkId}") && names.has("GET other"), [...names].join());
  const everything = collector.bodies.join("\n");
  assert.ok(secrets.length > 10);
  for (const secret of secrets) assert.ok(!everything.includes(secret), secret);
  assert.doesNotMatch(everything, /secret|search_notes/i);
});

test("a collector that never answers does not hold up the end for as long as it is tried", async (t) => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => silent.close());
  // A TCP server's address is an AddressInfo.
  const { port } = silent.address() as AddressInfo;
  const dataDir = mkdtempSync(join(tmpdir(), "relay-traces-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const main = new URL("../../packages/server/src/main.ts", import.meta.url).pathname;
  const relay = spawn(process.execPath, ["-C", "relay-source", main, "serve"], {
    env: {
      ...before,
      RELAY_PORT: "0",
      RELAY_DATA_DIR: dataDir,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => relay.kill("SIGKILL"));
  const ended = once(relay, "exit");
  const [line] = (await once(relay.stdout, "data")) as [Buffer];
  await fetch(`${/http\S+/.exec(line.toString())?.[0]}/healthz`);
  relay.kill("SIGTERM");
  // The exporter by itself would try for ten seconds.
  const tooLate = setTimeout(() => relay.kill("SIGKILL"), 7_000);
  assert.deepEqual(await ended, [0, null]);
  clearTimeout(tooLate);
});

function theSpan({ spans }: Collector, isIt: (span: CollectedSpan) => boolean): CollectedSpan {
  const found = spans.filter(isIt);
  assert.equal(found.length, 1, JSON.stringify(spans.map(({ name }) => name)));
  const [span] = found;
  assert.ok(span);
  return span;
}
