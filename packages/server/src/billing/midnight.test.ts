/** A month's end, from a call's admission to its row, on a clock that a test moves (SPEC 10). */
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { defaultLimits } from "@relay/protocol";
import type { CallId, Outcome } from "@relay/protocol";
import { Toolbox } from "../core/toolbox.ts";
import { mintRequestId, mintToken } from "../ids.ts";
import { openLog } from "../observe/log.ts";
import type { CallEnd } from "../relay/call-end.ts";
import { LinkDriver } from "../relay/driver.ts";
import { ProjectState } from "../relay/project-state.ts";
import { Settler } from "../relay/settle.ts";
import { addLink, addProject, manifestOf } from "../store/contract/records.ts";
import { dataDirFor, openStore } from "../store/fixtures/sqlite-harness.ts";
import { inspect } from "../store/inspect.ts";
import { LedgerQuota } from "./ledger-quota.ts";
import { StillClock } from "./test/still-clock.ts";

const MIDNIGHT = Date.UTC(2026, 10, 1);
const FREE = 2;
const limits = { ...defaultLimits(), callsPerMinute: 600 };

/** A link of a project with two free calls a month and no credit, whose app answers when told to. */
async function openLink(t: TestContext, now: number) {
  const dataDir = dataDirFor(t);
  const store = await openStore(t, dataDir);
  const clock = new StillClock(now);
  const log = openLog("silent");
  await store.startBilling("prepaid", 0, now);
  const projectId = await addProject(store, { freeCallsPerMonth: FREE, callsPerMinute: 600 });
  const { linkId } = await addLink(store, projectId);
  const claim = { linkId, node: "n1", manifest: manifestOf("1"), at: now };
  const record = await store.claimLink(claim);
  assert.ok(record !== "gone");
  const quota = new LedgerQuota({ store, clock, log });
  const settler = new Settler({ store, quota, clock, log });
  const project = new ProjectState(record.project, limits);
  const driver = new LinkDriver({ clock, quota, settler, limits }, record.link, project);
  const sent: CallId[] = [];
  driver.connect(1, {
    send: (frame) => {
      const { type, id } = JSON.parse(frame) as { type: string; id: CallId };
      if (type === "call") sent.push(id);
      return true;
    },
    ping: () => undefined,
    close: () => undefined,
  });
  return { dataDir, store, clock, driver, sent, projectId, call: () => callOn(driver) };
}

/** Starts a call; resolves with its outcome. */
function callOn(driver: LinkDriver): Promise<Outcome> {
  const judged = Toolbox.judge([{ name: "search", inputSchema: { type: "object" } }], limits);
  const tool = judged.ok ? judged.toolbox.get("search") : undefined;
  assert.ok(tool !== undefined);
  return new Promise((resolve) => {
    driver.start({
      callId: mintToken("callId"),
      requestId: mintRequestId(MIDNIGHT),
      rpcKey: "1",
      tool,
      argumentsText: "{}",
      argumentsBytes: 2,
      client: null,
      observer: {
        sent: () => undefined,
        progressed: () => undefined,
        ended: (end: CallEnd) => resolve(end.outcome),
      },
    });
  });
}

test("a call of 23:59:59 that is answered after midnight counts in the old month alone", async (t) => {
  const relay = await openLink(t, MIDNIGHT - 1_000);
  const { clock, driver, sent, store, projectId } = relay;
  const late = [relay.call(), relay.call()];
  while (sent.length < FREE) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await relay.call(), "quota_exceeded");
  await clock.advance(2_000);
  // The new month has an allowance of its own, though the old one's calls still run.
  const early = [relay.call(), relay.call()];
  while (sent.length < 2 * FREE) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await relay.call(), "quota_exceeded");
  for (const id of sent) {
    const answer = { content: [], structuredContent: undefined, isError: undefined };
    const frame = { type: "result", id, ...answer } as const;
    const text = JSON.stringify(frame);
    assert.equal(driver.answer(1, frame, text, null), null);
  }
  assert.deepEqual(await Promise.all([...late, ...early]), ["ok", "ok", "ok", "ok"]);
  for (const month of ["2026-10", "2026-11"]) {
    const { counted, byOutcome } = await store.usage(projectId, month);
    assert.deepEqual(
      { counted, byOutcome },
      { counted: 2, byOutcome: { ok: 2, quota_exceeded: 1 } },
    );
    assert.equal((await store.getMoney(projectId, month))?.segment?.counted, 2);
  }
  assert.deepEqual(inspect(relay.dataDir)?.money.faults, []);
});

test("a call of the old month whose app goes away after midnight gives the new month nothing", async (t) => {
  const relay = await openLink(t, MIDNIGHT - 1_000);
  const { clock, driver, sent, store, projectId } = relay;
  const late = relay.call();
  while (sent.length < 1) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(2_000);
  driver.disconnect(1);
  assert.equal(await late, "disconnected");
  assert.equal((await store.usage(projectId, "2026-10")).counted, 0);
  assert.equal((await store.usage(projectId, "2026-10")).total, 1);
  assert.equal((await store.usage(projectId, "2026-11")).total, 0);
});
