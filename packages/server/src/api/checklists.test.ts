import assert from "node:assert/strict";
import { test } from "node:test";
import { mintLinkId, mintProjectId } from "../ids.ts";
import { openLog } from "../observe/log.ts";
import { LiveProjects } from "../relay/live.ts";
import { Refusals } from "../relay/refusals.ts";
import { NOON, newCall } from "../store/contract/records.ts";
import type { ProjectStart } from "../store/store.ts";
import { Checklists } from "./checklists.ts";
import { HandClock } from "./test/hand-clock.ts";

const projectId = mintProjectId(NOON);
const linkId = mintLinkId(NOON);
const LINK = { linkId, projectId, ownerNode: "n1", paused: false, revokedAt: null };
const HOST = { name: "claude-ai", version: "3" };
const NOTHING: ProjectStart = {
  linkCreated: false,
  socketReady: false,
  toolsText: null,
  firstHost: null,
  firstCall: null,
};
const CONNECTED = {
  ...NOTHING,
  linkCreated: true,
  socketReady: true,
  toolsText: '[{"name":"search_notes"}]',
};
const DONE: ProjectStart = {
  ...CONNECTED,
  firstHost: HOST,
  firstCall: { outcome: "ok", at: NOON },
};

/** Checklists of a store that says what it is told to say, and counts how often it was asked. */
function open(start: ProjectStart) {
  const clock = new HandClock();
  const live = new LiveProjects();
  const refusals = new Refusals(clock);
  const stored = { start, reads: 0, isAway: false };
  const store = {
    projectStart: async () => {
      stored.reads += 1;
      if (stored.isAway) throw new Error("away");
      return stored.start;
    },
  };
  const log = openLog("silent");
  const checklists = new Checklists({ store, live, refusals, clock, log });
  const told: Record<string, unknown>[] = [];
  const watch = () => {
    const stop = checklists.watch(projectId, (text) => {
      // Written by the code under test, an object each time.
      told.push(JSON.parse(text) as Record<string, unknown>);
    });
    assert.ok(stop !== null);
    return stop;
  };
  return { clock, live, refusals, stored, told, watch };
}

test("a checklist is told at once, and again only when a step of it has changed", async () => {
  const { clock, live, stored, told, watch } = open(NOTHING);
  watch();
  await clock.pass(10_000);
  assert.deepEqual(
    told.map(({ linkCreated }) => linkCreated),
    [false],
  );
  stored.start = CONNECTED;
  live.linkChanged(LINK);
  live.linkChanged({ ...LINK, paused: true });
  await clock.pass(1_000);
  assert.deepEqual(
    told.map(({ tools }) => tools),
    [[], ["search_notes"]],
  );
});

test("calls and hosts show before the store has them, and cost no reading however many", async () => {
  const { clock, live, stored, told, watch } = open(CONNECTED);
  watch();
  await clock.pass(5_000);
  const { reads } = stored;
  live.hostNoted(projectId, HOST);
  for (let count = 0; count < 1_000; count += 1) {
    live.callEnded(newCall(projectId, linkId, { outcome: "offline", startedAt: NOON + count }));
  }
  await clock.pass(1_000);
  const at = new Date(NOON + 999).toISOString();
  assert.deepEqual(
    told.slice(1).map(({ firstHost, firstCall }) => [firstHost, firstCall]),
    [[HOST, { outcome: "offline", at }]],
  );
  assert.equal(stored.reads, reads);
});

test("once every step is done nothing is read or told, whatever is called", async () => {
  const { clock, live, stored, told, watch } = open(CONNECTED);
  watch();
  await clock.pass(5_000);
  live.callEnded(newCall(projectId, linkId, { outcome: "ok" }));
  await clock.pass(1_000);
  assert.equal(told.length, 2);
  const { reads } = stored;
  for (let count = 0; count < 10; count += 1) {
    live.callEnded(newCall(projectId, linkId, { outcome: "ok" }));
    live.linkChanged(LINK);
    live.hostNoted(projectId, HOST);
    await clock.pass(1_000);
  }
  assert.deepEqual([told.length, stored.reads, clock.timers], [2, reads, 0]);
});

test("links that come and go all the time cost one reading a second, however many look", async () => {
  const { clock, live, stored, told, watch } = open(NOTHING);
  for (let count = 0; count < 50; count += 1) watch();
  await clock.pass(0);
  assert.deepEqual([told.length, stored.reads], [50, 1]);
  for (let tenth = 0; tenth < 100; tenth += 1) {
    live.linkChanged(LINK);
    await clock.pass(100);
  }
  assert.ok(stored.reads <= 11, `${stored.reads} readings in ten seconds`);
});

test("what had happened just before somebody looked shows, though the store had it late", async () => {
  const { clock, stored, told, watch } = open(CONNECTED);
  watch();
  await clock.pass(1_500);
  stored.start = { ...CONNECTED, firstHost: HOST };
  await clock.pass(1_500);
  assert.deepEqual(
    told.map(({ firstHost }) => firstHost),
    [null, HOST],
  );
});

test("why an app could not connect shows without a reading, and goes after its hour", async () => {
  const { clock, refusals, stored, told, watch } = open(NOTHING);
  watch();
  await clock.pass(5_000);
  const { reads } = stored;
  refusals.originRefused(projectId, "https://a.example");
  await clock.pass(3_700_000);
  assert.deepEqual(
    told.map(({ lastFault }) => lastFault !== null),
    [false, true, false],
  );
  assert.equal(stored.reads, reads);
});

test("one who comes later is told the checklist as it is then", async () => {
  const { clock, stored, told, watch } = open(DONE);
  watch();
  await clock.pass(60_000);
  stored.start = { ...DONE, toolsText: "[]" };
  watch();
  await clock.pass(0);
  assert.deepEqual(
    told.map(({ tools }) => tools),
    [["search_notes"], [], []],
  );
});

test("a store that is away is asked again until it answers", async () => {
  const { clock, stored, told, watch } = open(DONE);
  stored.isAway = true;
  watch();
  await clock.pass(2_000);
  assert.deepEqual([told.length, stored.reads], [0, 3]);
  stored.isAway = false;
  await clock.pass(1_000);
  assert.deepEqual([told.length, clock.timers], [1, 0]);
});

test("when the last one leaves, or the project is gone, nothing goes on", async () => {
  for (const isGone of [false, true]) {
    const { clock, live, stored, told, watch } = open(NOTHING);
    const stops = [watch(), watch()];
    await clock.pass(5_000);
    const { reads } = stored;
    if (isGone) live.projectGone(projectId);
    else for (const stop of stops) stop();
    live.linkChanged(LINK);
    await clock.pass(5_000);
    assert.deepEqual([told.length, stored.reads, clock.timers], [2, reads, 0]);
    for (const stop of stops) stop();
    watch();
    await clock.pass(0);
    assert.equal(told.length, 3);
  }
});
