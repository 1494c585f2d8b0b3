/** Whether Relay is there, and whether a call could pass (SPEC 3 and 13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { connectApp, callTool, openRelay, textOf } from "./harness.ts";
import { RawApp } from "./socket-client.ts";

test("healthz says that the process is up, readyz that a call could pass", async () => {
  await using relay = await openRelay();
  const health = await relay.rest("GET", "/healthz", null);
  assert.deepEqual([health.status, health.body], [200, { status: "ok" }]);
  const ready = await relay.rest("GET", "/readyz", null);
  assert.deepEqual([ready.status, ready.body], [200, { status: "ready" }]);
});

test("while it drains Relay is up but not ready, and takes no sockets", async () => {
  const relay = await openRelay({ RELAY_DRAIN_SECONDS: "20" });
  const link = await relay.link();
  const app = await connectApp(link);
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  const stopped = relay[Symbol.asyncDispose]();
  const ready = await relay.rest("GET", "/readyz", null);
  assert.equal(ready.status, 503);
  const { error } = ready.body;
  assert.deepEqual([error.code, error.message], ["UNAVAILABLE", "draining"]);
  assert.equal(ready.headers.get("retry-after"), "5");
  assert.equal((await relay.rest("GET", "/healthz", null)).status, 200);
  const late = await new RawApp(link.socketUrl).answered();
  assert.deepEqual([late.status, late.headers.get("retry-after")], [503, "5"]);
  app.send({ type: "result", id, content: [{ type: "text", text: "in time" }] });
  assert.equal(textOf(await waiting), "in time");
  assert.deepEqual(await app.closed, { code: 1012, reason: "relay is restarting" });
  await stopped;
});
