import assert from "node:assert/strict";
import { test } from "node:test";
import { openLog } from "../observe/log.ts";
import { HealthFeed } from "./health-feed.ts";
import { HandClock } from "./test/hand-clock.ts";

function open() {
  const clock = new HandClock();
  const taken = { readings: 0, isAway: false };
  const read = async () => {
    taken.readings += 1;
    if (taken.isAway) throw new Error("away");
    return `reading ${taken.readings}`;
  };
  const feed = new HealthFeed({ read, clock, log: openLog("silent") });
  const watch = () => {
    const heard: string[] = [];
    const stop = feed.watch({
      told: (text) => heard.push(text),
      ended: () => heard.push("ended"),
    });
    assert.ok(stop !== null);
    return { heard, stop };
  };
  return { clock, taken, feed, watch };
}

test("all who look get the same reading at once and every two seconds; for nobody none is taken", async () => {
  const { clock, taken, watch } = open();
  await clock.pass(10_000);
  assert.deepEqual([taken.readings, clock.timers], [0, 0]);
  const [one, two] = [watch(), watch()];
  await clock.pass(3_000);
  const late = watch();
  assert.deepEqual(late.heard, ["reading 2"]);
  await clock.pass(1_000);
  const three = ["reading 1", "reading 2", "reading 3"];
  assert.deepEqual([one.heard, two.heard, late.heard], [three, three, three.slice(1)]);
  for (const { stop } of [one, two, late]) stop();
  await clock.pass(10_000);
  assert.deepEqual([taken.readings, clock.timers], [3, 0]);
});

test("who comes back is told a new reading, never an old one", async () => {
  const { clock, watch } = open();
  watch().stop();
  const { heard } = watch();
  await clock.pass(0);
  assert.deepEqual(heard, ["reading 1"]);
  const again = open();
  const first = again.watch();
  await again.clock.pass(0);
  first.stop();
  await again.clock.pass(60_000);
  const second = again.watch();
  await again.clock.pass(0);
  assert.deepEqual(second.heard, ["reading 2"]);
});

test("a reading that fails is left out, and the next one is taken all the same", async () => {
  const { clock, taken, watch } = open();
  taken.isAway = true;
  const { heard } = watch();
  await clock.pass(3_000);
  taken.isAway = false;
  await clock.pass(1_000);
  assert.deepEqual(heard, ["reading 3"]);
});

test("100 look at once at most, and all are ended together", async () => {
  const { clock, feed, watch } = open();
  const all = Array.from({ length: 100 }, watch);
  const nobody = { told: () => undefined, ended: () => undefined };
  assert.equal(feed.watch(nobody), null);
  all.pop()?.stop();
  assert.notEqual(feed.watch(nobody), null);
  await clock.pass(0);
  feed.close();
  assert.ok(all.every(({ heard }) => heard.join() === "reading 1,ended"));
});
