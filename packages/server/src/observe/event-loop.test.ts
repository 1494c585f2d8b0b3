import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { EventLoop } from "./event-loop.ts";

test("a block of the event loop right after a reading is the next reading's worst delay", async () => {
  const loop = new EventLoop();
  await wait(50);
  loop.read();
  const until = performance.now() + 150;
  while (performance.now() < until);
  await wait(50);
  const { max, p50, busy } = loop.read();
  assert.ok(max >= 0.12, `max ${max}`);
  assert.ok(p50 <= max && busy > 0 && busy <= 1);
  assert.equal(loop.read().max, 0, "and is not in the one after");
  loop.close();
});
