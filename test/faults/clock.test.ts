/** The wall clock jumps an hour, both ways: no call ends by it, and no window opens or lasts (SPEC 5). */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import type { TestContext } from "node:test";
import { inspect } from "../../packages/server/src/store/inspect.ts";
import { callTool, connectApp, openRelay, post, textOf } from "../e2e/harness.ts";
import type { TestApp, TestLink } from "../e2e/harness.ts";

const HOUR_MS = 3_600_000;
const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** Moves what this process, and the Relay in it, takes for the time of day; the monotonic clock runs on. */
class WallClock {
  #offsetMs = 0;

  constructor(t: TestContext) {
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
    t.after(() => mock.timers.reset());
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
    mock.timers.setTime(performance.timeOrigin + performance.now() + this.#offsetMs);
  }
}

/** Begins a call and waits until the app has it. */
async function begin(link: TestLink, app: TestApp) {
  const answer = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  return { answer, id: String(id) };
}

for (const [name, jumpMs] of [
  ["forward", HOUR_MS],
  ["back", -HOUR_MS],
] as const) {
  test(`an hour ${name} under a call ends neither the call nor the socket, and its duration is what it took`, async (t) => {
    await using relay = await openRelay({ RELAY_SILENCE_SECONDS: "60" });
    const clock = new WallClock(t);
    const project = await relay.project();
    const link = await project.link();
    const app = await connectApp(link);
    const { answer, id } = await begin(link, app);
    clock.jump(jumpMs);
    // Whatever looks at the clock has its turn: a request, a row, a timer or two.
    assert.equal((await post(link.mcpUrl, PING)).status, 200);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(app.frames.filter(({ type }) => type === "cancel").length, 0);
    app.send({ type: "result", id, content: [{ type: "text", text: "still here" }] });
    assert.equal(textOf(await answer), "still here");
    const [row] = await project.calls();
    assert.equal(row?.["outcome"], "ok");
    const tookMs = Number(row?.["durationMs"]);
    assert.ok(tookMs >= 300 && tookMs < 60_000, `${tookMs} ms`);
    await app.close();
    const found = inspect(relay.dataDir);
    assert.deepEqual([found?.damage, found?.countFaults, found?.money.faults], [[], [], []]);
  });

  test(`an hour ${name} leaves the deadline of a call where it was`, async (t) => {
    await using relay = await openRelay({ RELAY_CALL_TIMEOUT_SECONDS: "1.5" });
    const clock = new WallClock(t);
    const link = await relay.link();
    const app = await connectApp(link);
    const startedAt = performance.now();
    const { answer } = await begin(link, app);
    clock.jump(jumpMs);
    assert.equal(textOf(await answer), "Notes did not answer within 1.5 seconds.");
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs >= 1_400 && tookMs < 30_000, `${tookMs} ms`);
    await app.close();
  });

  test(`an hour ${name} neither opens a minute's window nor makes it longer`, async (t) => {
    await using relay = await openRelay({
      RELAY_META_REQUESTS_PER_MINUTE: "2",
      RELAY_UNKNOWN_TOKENS_PER_MINUTE: "2",
      RELAY_LINKS_PER_IP_PER_MINUTE: "1",
    });
    const clock = new WallClock(t);
    const project = await relay.project({ callsPerMinute: 1 });
    const link = await project.link();
    const unknown = link.mcpUrl.replace(/ut_\w+$/, `ut_${"x".repeat(32)}`);
    const app = await connectApp(link, { onCall: () => ({ type: "result", content: [] }) });
    await callTool(link.mcpUrl);
    for (const url of [link.mcpUrl, unknown]) {
      for (let left = 2; left > 0; left -= 1) await post(url, PING);
    }
    clock.jump(jumpMs);
    const [, seconds] =
      /Try again in (\d+) seconds?\.$/.exec(textOf(await callTool(link.mcpUrl))) ?? [];
    assertWait(seconds);
    for (const url of [link.mcpUrl, unknown]) {
      const refused = await post(url, PING);
      assert.equal(refused.status, 429);
      assertWait(refused.headers.get("retry-after"));
    }
    const creation = await relay.rest("POST", "/v1/links", project.publishableKey, {});
    assert.equal(creation.status, 429);
    assertWait(creation.headers.get("retry-after"));
    await app.close();
  });
}

/** A wait is what is left of the minute on the monotonic clock. */
function assertWait(seconds: string | null | undefined): void {
  const wait = Number(seconds);
  assert.ok(wait >= 1 && wait <= 60, `${seconds} s`);
}
