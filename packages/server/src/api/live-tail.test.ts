import assert from "node:assert/strict";
import { test } from "node:test";
import { mintLinkId, mintProjectId } from "../ids.ts";
import { openLog } from "../observe/log.ts";
import { LiveProjects } from "../relay/live.ts";
import { Refusals } from "../relay/refusals.ts";
import { NOON, newCall } from "../store/contract/records.ts";
import { Checklists } from "./checklists.ts";
import { LiveTail } from "./live-tail.ts";
import { HandClock } from "./test/hand-clock.ts";
import { OpenStream } from "./test/open-stream.ts";

test("a page that did not read is told how links and the checklist stand now, not what came between", async () => {
  using open = await OpenStream.open();
  const clock = new HandClock();
  const live = new LiveProjects();
  const projectId = mintProjectId(NOON);
  const linkId = mintLinkId(NOON);
  const start = { linkCreated: true, socketReady: false, toolsText: null };
  const checklists = new Checklists({
    store: { projectStart: async () => ({ ...start, firstHost: null, firstCall: null }) },
    live,
    refusals: new Refusals(clock),
    clock,
    log: openLog("silent"),
  });
  const tail = new LiveTail({ live, checklists }, open.stream);
  assert.ok(tail.start(projectId));
  await clock.pass(0);
  await open.fill();
  const link = { linkId, projectId, paused: false, revokedAt: null };
  live.linkChanged({ ...link, ownerNode: "n1" });
  live.hostNoted(projectId, { name: "between", version: "1" });
  live.callEnded(newCall(projectId, linkId, { outcome: "offline" }));
  await clock.pass(1_000);
  live.linkChanged({ ...link, ownerNode: null });
  live.callEnded(newCall(projectId, linkId, { outcome: "busy", startedAt: NOON + 1 }));
  await clock.pass(1_000);
  const reading = open.readUntil("event: call");
  while (open.stream.isBehind) await new Promise((resolve) => setImmediate(resolve));
  live.callEnded(newCall(projectId, linkId, { outcome: "ok" }));
  const text = await reading;
  assert.deepEqual(text.match(/event: \w+/g), [
    "event: checklist",
    "event: dropped",
    "event: link",
    "event: checklist",
    "event: call",
  ]);
  assert.match(text, /\{"calls":2\}/);
  assert.match(text, /"connected":false/);
  assert.match(text, /"between".*"outcome":"busy"/);
  tail.stop();
});
