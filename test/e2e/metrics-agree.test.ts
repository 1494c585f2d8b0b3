import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { callTool, connectApp, openRelay, post } from "./harness.ts";
import type { AppBehaviour, TestLink, TestProject, TestRelay } from "./harness.ts";
import { scrape } from "./metrics-text.ts";
import type { Samples } from "./metrics-text.ts";

const CALLS = 1_000;
/** Refused calls of one link within a minute: the last of them leave no row, and still count. */
const FLOOD = 320;
const CALLERS = 25;

/** Hosts that go away as soon as the app has their call, by the call's query. */
const leaving = new Map<string, AbortController>();

/** Does what the call's query says. */
const OBEDIENT: AppBehaviour = {
  onCall: (call) => {
    const query = String(call["arguments"].query);
    switch (query) {
      case "fail":
        return { type: "error", message: "No such note" };
      case "lie":
        return { type: "result", content: "not a list" };
      case "notes":
        return { type: "result", content: [{ type: "text", text: "3 notes" }] };
      default:
        leaving.get(query)?.abort();
        return null;
    }
  },
};

test("after 1,000 mixed calls /metrics agrees with /v1/usage to the call", async (t) => {
  const seed = randomInt(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const random = generator(seed);
  await using relay = await openRelay({
    RELAY_CALL_TIMEOUT_SECONDS: "0.3",
    RELAY_LINKS_PER_IP_PER_MINUTE: "1000",
  });
  const wide = await relay.project({ callsPerMinute: 6_000 });
  const narrow = await relay.project({ callsPerMinute: 5 });
  const links = await Promise.all([1, 2, 3, 4].map(() => wide.link()));
  const [offline, paused, limited] = [await wide.link(), await wide.link(), await narrow.link()];
  const apps = await Promise.all(
    [...links, paused, limited].map((link) => connectApp(link, OBEDIENT)),
  );
  await (await connectApp(offline)).close();
  await relay.rest("POST", `/v1/links/${paused.linkId}/pause`, wide.secretKey);

  const anyLink = (): TestLink => links[Math.floor(random() * links.length)] ?? offline;
  const calls: readonly (readonly [number, () => Promise<unknown>])[] = [
    [60, () => callTool(anyLink().mcpUrl, "search_notes", { query: "notes" })],
    [8, () => callTool(anyLink().mcpUrl, "search_notes", { query: "fail" })],
    [5, () => callTool(anyLink().mcpUrl, "search_notes", { query: "lie" })],
    [3, () => callTool(anyLink().mcpUrl, "search_notes", { query: "silence" })],
    [4, () => leave(anyLink())],
    [5, () => callTool(anyLink().mcpUrl, `tool_${Math.floor(random() * 1e6)}`)],
    [5, () => callTool(anyLink().mcpUrl, "search_notes", { query: 7 })],
    [4, () => callTool(offline.mcpUrl)],
    [3, () => callTool(paused.mcpUrl)],
    [3, () => callTool(limited.mcpUrl, "search_notes", { query: "notes" })],
  ];
  let left = CALLS - FLOOD - 8;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await pick(calls, random())();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  for (let flood = FLOOD; flood > 0; flood -= CALLERS) {
    const some = Math.min(flood, CALLERS);
    await Promise.all(Array.from({ length: some }, () => callTool(offline.mcpUrl, "flood")));
  }
  await loseAnApp(wide, 8);

  const samples = await whenSettled(relay, CALLS);
  const used = await usageOf(relay, [wide, narrow]);
  const byOutcome = new Map<string, number>();
  for (const { name, labels, value } of samples.all) {
    if (name !== "relay_calls_total" || value === 0) continue;
    const outcome = labels["outcome"] ?? "";
    byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + value);
  }
  assert.deepEqual(Object.fromEntries(byOutcome), used.byOutcome);
  assert.equal(samples.sum("relay_calls_total", { counted: "true" }), used.counted);
  assert.equal(used.total, CALLS);
  const kinds = "ok tool_error timeout cancelled disconnected offline paused rate_limited";
  for (const kind of `${kinds} invalid_input unknown_tool`.split(" ")) {
    assert.ok(
      (byOutcome.get(kind) ?? 0) > 0,
      `no ${kind} among ${[...byOutcome.keys()].join(" ")}`,
    );
  }

  // Every call has its row, and each that reached an app is timed once.
  assert.equal(samples.sum("relay_settle_delay_seconds_count"), CALLS);
  const reached = ["ok", "tool_error", "timeout", "disconnected"].reduce(
    (sum, outcome) => sum + samples.sum("relay_calls_total", { outcome }),
    samples.sum("relay_calls_total", { outcome: "cancelled", counted: "true" }),
  );
  assert.equal(samples.sum("relay_call_duration_seconds_count"), reached);
  assert.equal(samples.sum("relay_call_app_duration_seconds_count"), reached);
  const posts = { route: "/v1/mcp/{urlToken}" };
  assert.equal(samples.sum("relay_http_requests_total", posts), CALLS);
  assert.equal(samples.sum("relay_links_connected"), apps.length);
  for (const app of apps) await app.close();
});

/** A call whose host goes away while the app has it. */
async function leave(link: TestLink): Promise<void> {
  const query = `leaving ${leaving.size}`;
  const host = new AbortController();
  leaving.set(query, host);
  const params = { name: "search_notes", arguments: { query } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  await post(link.mcpUrl, message, {}, host.signal).catch((error: unknown) => {
    if (!host.signal.aborted) throw error;
  });
}

/** Calls whose app goes away under them. */
async function loseAnApp(project: TestProject, calls: number): Promise<void> {
  const link = await project.link();
  const app = await connectApp(link);
  const answers = Array.from({ length: calls }, () => callTool(link.mcpUrl));
  for (let index = 0; index < calls; index += 1) await app.next("call");
  app.socket.terminate();
  await Promise.all(answers);
}

/** Waits until `calls` calls are over and written down. */
async function whenSettled(relay: TestRelay, calls: number): Promise<Samples> {
  for (const until = performance.now() + 10_000; ; await wait(20)) {
    const samples = await scrape(relay);
    const open = samples.sum("relay_calls_in_flight") + samples.sum("relay_store_unwritten_rows");
    if (open === 0 && samples.sum("relay_calls_total") === calls) return samples;
    assert.ok(performance.now() < until, `${samples.sum("relay_calls_total")} calls, ${open} open`);
  }
}

async function usageOf(
  relay: TestRelay,
  projects: readonly TestProject[],
): Promise<{ byOutcome: Record<string, number>; counted: number; total: number }> {
  const sum = { byOutcome: {} as Record<string, number>, counted: 0, total: 0 };
  for (const { secretKey } of projects) {
    const { body } = await relay.rest("GET", "/v1/usage", secretKey);
    sum.counted += Number(body["counted"]);
    sum.total += Number(body["total"]);
    for (const [outcome, calls] of Object.entries(body["byOutcome"] as Record<string, number>)) {
      if (calls > 0) sum.byOutcome[outcome] = (sum.byOutcome[outcome] ?? 0) + calls;
    }
  }
  return sum;
}

function pick<Item>(weighted: readonly (readonly [number, Item])[], at: number): Item {
  let left = at * weighted.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, item] of weighted) {
    left -= weight;
    if (left < 0) return item;
  }
  throw new Error("nothing to pick from");
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
