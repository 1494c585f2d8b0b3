import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeRelay } from "../testing.ts";
import { createRelay, tool } from "../index.ts";
import { CallLog, keepCalls } from "./call-log.ts";
import { maskUrl } from "./mask-url.ts";

test("a call is one entry through all its statuses, with the time it came at", () => {
  let now = 1_000;
  const log = new CallLog(() => now);
  const call = { id: "c_1", tool: "search", arguments: { query: "secret" } };
  log.add({ ...call, status: "asking" });
  now = 2_000;
  log.add({ ...call, status: "running" });
  log.add({ ...call, status: "failed", message: "secret" });
  assert.deepEqual(log.calls, [{ id: "c_1", tool: "search", status: "failed", at: 1_000 }]);
});

test("the newest call is first, and more than 20 are not kept", () => {
  const log = new CallLog(() => 0);
  for (let at = 1; at <= 50; at += 1) {
    log.add({ id: `c_${at}`, tool: "search", arguments: {}, status: "done" });
  }
  assert.equal(log.calls.length, 20);
  assert.equal(log.calls[0]?.id, "c_50");
  assert.equal(log.calls.at(-1)?.id, "c_31");
});

test("a relay has one log, whoever asks for it, from the first time on", async () => {
  const fake = new FakeRelay();
  const search = tool("search", { description: "", run: () => "found" });
  const relay = createRelay({
    ...fake.app(),
    app: { name: "Notes", version: "1" },
    tools: [search],
  });
  await relay.start();
  const log = keepCalls(relay);
  await fake.link.call("search");
  assert.equal(keepCalls(relay), log);
  assert.deepEqual(
    log.calls.map((call) => [call.tool, call.status]),
    [["search", "done"]],
  );
  relay.stop();
});

test("a URL's token is hidden wherever the URL is in a text", () => {
  const url = "https://api.example.com/relay/v1/mcp/ut_8Hq3Lm2Vx7";
  assert.equal(maskUrl(url, url), "https://api.example.com/relay/v1/mcp/••••••••");
  const command = `claude mcp add notes ${url} # ${url}`;
  assert.doesNotMatch(maskUrl(command, url), /ut_|8Hq3/);
  assert.equal(maskUrl("nothing of it", url), "nothing of it");
});
