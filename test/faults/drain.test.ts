/** A Relay is told to stop in the middle of load: every host gets an end of its call (SPEC 13). */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Random } from "../../packages/server/src/core/schema/test/random.ts";
import { callTool, connectApp, openRelay, textOf } from "../e2e/harness.ts";
import type { AppBehaviour, HostAnswer, TestLink, TestRelay } from "../e2e/harness.ts";
import { startChild } from "../e2e/drain-child.ts";

const LINKS = 12;
const HOSTS_PER_LINK = 3;
const LOAD_MS = 600;
const DRAIN_SECONDS = 1;
/** The drain, what closes after it, and a busy machine. */
const STOP_MS_MAX = 20_000;
const LOST = /^The relay lost the connection to Notes/;
const seed = Number(process.env["DRAIN_SEED"] ?? 7_151);

/** Outcomes that hosts have read, by request id. */
class Hosts {
  readonly read = new Map<string, "ok" | "disconnected" | "offline">();
  turnedAway = 0;
  #isStopped = false;

  /** Calls on and on, until Relay turns it away or is gone. */
  async call(link: TestLink): Promise<void> {
    for (;;) {
      let answer: HostAnswer;
      try {
        answer = await callTool(link.mcpUrl);
      } catch (error) {
        // A connection nobody accepts any more; before the stop there is no excuse.
        if (!this.#isStopped) throw error;
        return;
      }
      if (answer.status === 503) {
        assert.ok(this.#isStopped && Number(answer.headers.get("retry-after")) >= 1);
        this.turnedAway += 1;
        return;
      }
      this.#note(answer);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #note(answer: HostAnswer): void {
    const { status, messages, headers, text } = answer;
    assert.equal(status, 200);
    assert.equal(messages.length, 1, `a stream without an answer, or with two: ${text}`);
    const said = textOf(answer);
    const outcome = said === "done" ? "ok" : LOST.test(said) ? "disconnected" : "offline";
    this.read.set(headers.get("x-request-id") ?? "", outcome);
  }
}

/** Takes its time, and one call in ten it never answers. */
function unhurried(random: Random): AppBehaviour {
  return {
    onCall: ({ id }, app) => {
      if (random.chance(0.1)) return null;
      const answer = { type: "result", id, content: [{ type: "text", text: "done" }] };
      setTimeout(() => app.socket.readyState === 1 && app.send(answer), random.below(150));
      return null;
    },
  };
}

test(`SIGTERM under load ends every call with an answer and leaves each as its host read it (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const settings = { RELAY_DRAIN_SECONDS: String(DRAIN_SECONDS), RELAY_LOG_LEVEL: "error" };
  await using relay = await startChild(settings);
  const project = await relay.project({ callsPerMinute: 6_000 });
  const links = await Promise.all(Array.from({ length: LINKS }, () => project.link()));
  const apps = await Promise.all(links.map((link) => connectApp(link, unhurried(random))));
  const hosts = new Hosts();
  const calling = links.flatMap((link) =>
    Array.from({ length: HOSTS_PER_LINK }, () => hosts.call(link)),
  );
  await sleep(LOAD_MS);
  hosts.stop();
  const stoppedAt = performance.now();
  relay.signal("SIGTERM");
  await Promise.all(calling);
  assert.deepEqual(await relay.exited, { code: 0, signal: null });
  const tookMs = performance.now() - stoppedAt;
  assert.ok(tookMs < STOP_MS_MAX, `${tookMs} ms`);
  for (const app of apps) assert.equal((await app.closed).code, 1012);

  await using again = await openRelay({}, relay.dataDir);
  await compare(again, project.secretKey, hosts);
  const kinds = [...hosts.read.values()];
  const of = (kind: string): number => kinds.filter((outcome) => outcome === kind).length;
  t.diagnostic(
    `${of("ok")} answered, ${of("disconnected")} cut off, ${of("offline")} offline, ${hosts.turnedAway} turned away, stopped in ${tookMs.toFixed(0)} ms`,
  );
  assert.ok(of("ok") > 0 && of("disconnected") > 0);
});

/** Every row is a call whose end a host has read, and the other way round. */
async function compare(relay: TestRelay, secretKey: string, hosts: Hosts): Promise<void> {
  const rows = new Map<string, string>();
  for (let cursor = ""; ;) {
    const { body } = await relay.rest("GET", `/v1/calls?limit=200${cursor}`, secretKey);
    for (const row of body["items"]) rows.set(String(row.requestId), String(row.outcome));
    if (body["nextCursor"] === null) break;
    cursor = `&cursor=${encodeURIComponent(String(body["nextCursor"]))}`;
  }
  assert.deepEqual(
    [...rows].toSorted(([a], [b]) => a.localeCompare(b)),
    [...hosts.read].toSorted(([a], [b]) => a.localeCompare(b)),
  );
}
