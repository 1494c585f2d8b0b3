import assert from "node:assert/strict";
import { test } from "node:test";
import type { LinkId, ProjectId } from "@relay/protocol";
import type { BusHandlers, LinkOrder } from "./bus.ts";
import { InProcessHub } from "./in-process.ts";

const ORDER: LinkOrder = {
  type: "revoked",
  linkId: "l" as LinkId,
  epoch: 3,
  command: null,
};

function node(log: string[], name: string): BusHandlers {
  return {
    order: (order) => {
      log.push(`${name} order ${order.type} ${order.epoch}`);
      return true;
    },
    notice: async (notice) => {
      log.push(`${name} notice ${notice.projectId}`);
    },
    peerLost: (lost) => log.push(`${name} lost ${lost}`),
  };
}

test("an order reaches the node it names, and only that one", async () => {
  const hub = new InProcessHub();
  const log: string[] = [];
  const [a, b] = [hub.bus("a"), hub.bus("b")];
  a.join(node(log, "a"));
  b.join(node(log, "b"));
  assert.equal(await a.request("b", ORDER), true);
  assert.equal(await a.request("nobody", ORDER), false);
  assert.deepEqual(log, ["b order revoked 3"]);
});

test("a notice reaches every node, the one that publishes too, before it resolves", async () => {
  const hub = new InProcessHub();
  const log: string[] = [];
  const [a, b] = [hub.bus("a"), hub.bus("b")];
  a.join(node(log, "a"));
  b.join(node(log, "b"));
  await a.publish({ type: "project_changed", projectId: "p" as ProjectId });
  assert.deepEqual(log, ["a notice p", "b notice p"]);
});

test("when a node leaves, the others hear of it once", async () => {
  const hub = new InProcessHub();
  const log: string[] = [];
  const [a, b] = [hub.bus("a"), hub.bus("b")];
  a.join(node(log, "a"));
  b.join(node(log, "b"));
  await b.close();
  await b.close();
  assert.deepEqual(log, ["a lost b"]);
  assert.equal(a.isUp(), true);
  assert.equal(b.isUp(), false);
});

test("a name is held once at a time", () => {
  const hub = new InProcessHub();
  hub.bus("a").join(node([], "a"));
  assert.throws(() => hub.bus("a").join(node([], "a")), /the node name a is taken/);
});
