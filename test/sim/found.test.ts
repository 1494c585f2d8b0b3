/** What the simulation has found, each in the fewest steps that show it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS } from "./actions.ts";
import type { ActionName } from "./actions.ts";
import { helloText } from "./hello.ts";
import { settleAll } from "./microtasks.ts";
import { Random } from "./random.ts";
import { buildRelay } from "./relay.ts";
import { SimCall } from "./sim-call.ts";
import type { SimLink } from "./sim-link.ts";
import { SimSocket } from "./sim-socket.ts";
import { advance, until } from "./time.ts";
import type { World } from "./world.ts";

/** Chance that does the expected: no accident, the first of every choice, the end of a socket in 50 ms. */
class Steady extends Random {
  /** How long the news of a socket's end takes. */
  endMs = 50;

  override chance(probability: number): boolean {
    return probability === 1;
  }

  override whole(least: number): number {
    return least;
  }

  override pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[0];
  }

  override some<Item>(items: readonly Item[]): Item | undefined {
    return items[0];
  }

  override delay(): number {
    return this.endMs;
  }
}

type Scene = {
  readonly world: World;
  readonly link: SimLink;
  readonly act: (name: ActionName) => Promise<void>;
};

async function open({ silent = 0, endMs = 50 } = {}): Promise<Scene> {
  const random = new Steady(0);
  random.endMs = endMs;
  const relay = buildRelay({
    seed: 0,
    random,
    limits: {},
    projects: 1,
    linksEach: 1,
    callsPerMinute: 6_000,
    mood: { late: 0, refusing: 0, silent },
    say: () => undefined,
  });
  const { world } = relay;
  const [link] = relay.links;
  assert.ok(link);
  await until(world, world.node.start());
  const act = async (name: ActionName): Promise<void> => {
    ACTIONS[name](relay);
    await pass(world, 5);
  };
  return { world, link, act };
}

/** Lets `ms` go by with everything that was begun before. */
async function pass(world: World, ms: number): Promise<void> {
  await settleAll();
  await advance(world, ms);
}

async function connect({ world, link }: Scene): Promise<SimSocket> {
  const socket = new SimSocket(world, link);
  void socket.greet(helloText(link.linkToken, 0));
  await pass(world, 5);
  return socket;
}

async function call({ world, link }: Scene, ms: number): Promise<SimCall> {
  const url = link.urls.at(-1);
  assert.ok(url !== undefined);
  const asked = new SimCall(world, { link, url, kind: "good", rpcId: world.calls.length + 2 });
  void asked.post();
  await pass(world, ms);
  return asked;
}

test("a hello whose socket left while it was stored has still taken over: the link can be paused", async () => {
  const scene = await open();
  const older = await connect(scene);
  const newer = new SimSocket(scene.world, scene.link);
  void newer.greet(helloText(scene.link.linkToken, 0));
  await settleAll();
  newer.drop();
  await pass(scene.world, 5);
  assert.equal(older.isOpen, false);
  await scene.act("pause");
  assert.equal(scene.link.paused.value, true);
  const asked = await call(scene, 500);
  assert.equal(asked.outcome, "paused");
  assert.equal(asked.sentTo, null);
});

test("a claim whose answer was lost leaves the older socket within reach: a revocation closes it", async () => {
  const scene = await open();
  const older = await connect(scene);
  scene.world.store.trouble = "loses";
  await connect(scene);
  scene.world.store.trouble = "none";
  assert.equal(older.isOpen, true);
  await scene.act("pause");
  const asked = await call(scene, 500);
  assert.equal(asked.outcome, "paused");
  await scene.act("revoke");
  assert.equal(scene.link.revoked.value, true);
  assert.equal(older.isOpen, false);
});

test("a hello that the store kept for minutes gets its link's calls, and may answer them", async () => {
  const scene = await open();
  const first = await connect(scene);
  first.drop();
  await pass(scene.world, 200);
  scene.world.store.hang(200_000);
  const socket = await connect(scene);
  await pass(scene.world, 201_000);
  assert.equal(socket.isLive, true);
  const asked = await call(scene, 2_000);
  assert.equal(asked.sentTo, socket);
  assert.equal(asked.outcome, "ok");
});

test("a drain answers the calls that still wait for their quota, before it is over", async () => {
  const scene = await open({ silent: 1 });
  await connect(scene);
  const asked = await call(scene, 1_000);
  assert.equal(asked.outcome, null);
  await until(scene.world, scene.world.node.drain(2_000));
  assert.equal(asked.outcome, "busy");
  assert.equal(asked.hasEnded, true);
});

test("a URL that was rotated away while its socket was ending leads nowhere, for ever", async () => {
  const scene = await open();
  const { world, link } = scene;
  const [old] = link.urls;
  assert.ok(old !== undefined);
  const socket = await connect(scene);
  // The frame of this call can't be sent, and the news of the socket's end takes 50 ms.
  socket.isFull = true;
  await call(scene, 1);
  await scene.act("rotate");
  assert.equal(link.deadUrls.has(old), true);
  assert.equal(await world.node.router.open(old), null);
  const fresh = link.urls.at(-1);
  assert.ok(fresh !== undefined);
  assert.notEqual(await world.node.router.open(fresh), null);
  await pass(world, 200);
  await connect(scene);
  assert.equal(await world.node.router.open(old), null);
  assert.notEqual(await world.node.router.open(fresh), null);
});

test("the late end of a socket whose link was forgotten leaves its successor on the list", async () => {
  const scene = await open({ endMs: 200_000 });
  const { world, link } = scene;
  const first = await connect(scene);
  // Suspended and restored, so that the link is forgotten while nobody has heard of its socket's end.
  await scene.act("suspend");
  assert.equal(first.isOpen, false);
  await scene.act("restore");
  await pass(world, 150_000);
  assert.equal(world.node.registry.find(link.linkId), null);
  const second = await connect(scene);
  await pass(world, 60_000);
  assert.equal(second.isLive, true);
  assert.equal(world.node.registry.connectedCount, 1);
});
