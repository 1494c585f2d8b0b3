import assert from "node:assert/strict";
import { test } from "node:test";
import { NOON, newCall } from "../store/contract/records.ts";
import { mintLinkId, mintProjectId } from "../ids.ts";
import { LiveProjects } from "./live.ts";
import type { Watcher } from "./live.ts";

class Heard implements Watcher {
  readonly news: unknown[] = [];

  callEnded(call: Parameters<Watcher["callEnded"]>[0]): void {
    this.news.push(call.callId);
  }

  linkChanged(link: Parameters<Watcher["linkChanged"]>[0]): void {
    this.news.push(link);
  }

  ended(): void {
    this.news.push("ended");
  }
}

const projectId = mintProjectId(NOON);
const linkId = mintLinkId(NOON);
const LINK = { linkId, projectId, ownerNode: "n1", paused: false, revokedAt: null };
const call = newCall(projectId, linkId);

test("whoever watches a project hears of it until they stop, and of no other", () => {
  const live = new LiveProjects();
  const [one, two, other] = [new Heard(), new Heard(), new Heard()];
  const stop = live.watch(projectId, one);
  live.watch(projectId, two);
  live.watch(mintProjectId(NOON), other);
  live.callEnded(call);
  assert.ok(stop !== null);
  stop();
  stop();
  live.callEnded(call);
  assert.deepEqual(
    [one.news, two.news, other.news],
    [[call.callId], [call.callId, call.callId], []],
  );
});

test("a link is told as connected while it has an owner and is not revoked", () => {
  const live = new LiveProjects();
  const heard = new Heard();
  live.watch(projectId, heard);
  live.linkChanged(LINK);
  live.linkChanged({ ...LINK, ownerNode: null, paused: true });
  live.linkChanged({ ...LINK, revokedAt: NOON });
  assert.deepEqual(heard.news, [
    { linkId, connected: true, paused: false, revoked: false },
    { linkId, connected: false, paused: true, revoked: false },
    { linkId, connected: false, paused: false, revoked: true },
  ]);
});

test("all who watch a project are ended with it, though each stops as it is told", () => {
  const live = new LiveProjects();
  const ended: number[] = [];
  for (const number of [1, 2, 3]) {
    const stop = live.watch(projectId, {
      callEnded: () => undefined,
      linkChanged: () => undefined,
      ended: () => {
        ended.push(number);
        stop?.();
      },
    });
  }
  const kept = new Heard();
  live.watch(mintProjectId(NOON), kept);
  live.projectGone(projectId);
  assert.deepEqual([ended, kept.news], [[1, 2, 3], []]);
  live.close();
  assert.deepEqual(kept.news, ["ended"]);
});

test("10,000 watch at once at most; one that stops makes room", () => {
  const live = new LiveProjects();
  const heard = new Heard();
  const stops = Array.from({ length: 10_000 }, () => live.watch(mintProjectId(NOON), new Heard()));
  assert.ok(stops.every((stop) => stop !== null));
  assert.equal(live.watch(projectId, heard), null);
  live.callEnded(call);
  assert.deepEqual(heard.news, []);
  stops[0]?.();
  assert.notEqual(live.watch(projectId, heard), null);
});
