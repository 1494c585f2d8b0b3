import assert from "node:assert/strict";
import { test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, textOf } from "./harness.ts";

test("a host's call reaches the app and its answer comes back on the stream", async () => {
  await using relay = await openRelay();
  const link = await relay.link();
  const app = await connectApp(link, ECHO);
  const answer = await callTool(link.mcpUrl);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
  assert.equal(textOf(answer), '{"query":"invoices"}');
  await app.close();
});
