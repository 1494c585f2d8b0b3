import type { UrlToken } from "@relay/protocol";
import { parseToken } from "@relay/protocol";
import { helloText } from "./hello.ts";
import type { SimRelay } from "./relay.ts";
import { SimCall } from "./sim-call.ts";
import type { SimLink, SimProject } from "./sim-link.ts";
import { SimSocket } from "./sim-socket.ts";

/** Everything that can happen to a simulated Relay from outside, by name, each one at random. */
export const ACTIONS = {
  call: (relay) => ask(relay, pickLink(relay)),
  burst: (relay) => {
    const link = pickLink(relay);
    for (let each = relay.world.random.whole(2, 12); each > 0; each -= 1) ask(relay, link);
  },
  connect: (relay) => connect(relay, pickLink(relay)),
  /** What most apps do most of the time: come back. */
  comeBack: (relay) => {
    for (const link of relay.links) if (link.newest?.isOpen !== true) connect(relay, link);
  },
  takeover: (relay) => {
    const link = pickLink(relay);
    for (let each = relay.world.random.whole(2, 3); each > 0; each -= 1) connect(relay, link);
  },
  drop: (relay) => relay.world.random.some(openSockets(relay))?.drop(),
  fill: (relay) => {
    const socket = relay.world.random.some(openSockets(relay));
    if (socket !== undefined) socket.isFull = true;
  },
  strayAnswer: (relay) => {
    const { random, calls, open } = relay.world;
    const call = random.some(random.chance(0.5) ? [...open] : calls.slice(-40));
    const socket = random.some(
      random.chance(0.7) ? (call?.link.sockets ?? []) : recentSockets(relay),
    );
    if (call !== undefined) socket?.answer(call);
  },
  strayProgress: (relay) => {
    const { random, calls, open } = relay.world;
    const call = random.some(random.chance(0.5) ? [...open] : calls.slice(-40));
    if (call !== undefined) random.some(recentSockets(relay))?.progress(call);
  },
  strayEnd: (relay) => strayEnd(relay, pickLink(relay)),
  leave: (relay) => relay.world.random.some(relay.world.calls.slice(-40))?.leave(),
  cancel: (relay) => cancelById(relay, pickLink(relay)),
  pause: (relay) => void setPaused(relay, pickLink(relay), true),
  resume: (relay) => void setPaused(relay, pickLink(relay), false),
  rotate: (relay) => void rotate(relay, pickLink(relay)),
  revoke: (relay) => void revoke(relay, pickLink(relay)),
  suspend: (relay) => void setDisabled(relay, pickProject(relay), true),
  restore: (relay) => void setDisabled(relay, pickProject(relay), false),
  settings: (relay) => void changeRate(relay, pickProject(relay)),
  quota: (relay) => {
    const { random } = relay.world;
    const { mood } = relay.quota;
    mood.late = random.pick([0, 0.2, 0.9]);
    mood.refusing = random.pick([0, 0.05, 0.7]);
    mood.silent = random.pick([0, 0.02, 0.3]);
  },
  disk: (relay) => {
    const { random, store, say, clock } = relay.world;
    store.trouble = random.pick(["none", "none", "none", "fails", "loses", "mixed"]);
    say(() => `store: trouble is ${store.trouble}`);
    clock.after(random.whole(500, 15_000), () => {
      say(() => "store: trouble is over");
      store.trouble = "none";
    });
  },
  hang: (relay) => {
    const { random, store, say } = relay.world;
    const ms = random.pick([200, 1_500, 5_000, random.whole(5_000, 100_000)]);
    say(() => `store: hangs for ${ms} ms`);
    store.hang(ms);
  },
  wallClock: (relay) => {
    const { random, clock, say } = relay.world;
    const ms = random.pick([3_600_000, -3_600_000]);
    say(() => `the wall clock jumps by ${ms} ms`);
    clock.jumpWall(ms);
  },
} as const satisfies Record<string, (relay: SimRelay) => void>;

export type ActionName = keyof typeof ACTIONS;

/** How likely each is beside the others, before a run has its own taste. */
export const WEIGHTS: Readonly<Record<ActionName, number>> = {
  call: 60,
  burst: 4,
  connect: 2,
  comeBack: 12,
  takeover: 2,
  drop: 5,
  fill: 1,
  strayAnswer: 15,
  strayProgress: 5,
  strayEnd: 2,
  leave: 8,
  cancel: 6,
  pause: 1.5,
  resume: 5,
  rotate: 2,
  revoke: 0.05,
  suspend: 0.3,
  restore: 2,
  settings: 1,
  quota: 2,
  disk: 1,
  hang: 0.4,
  wallClock: 2,
};

export function openSockets(relay: SimRelay): SimSocket[] {
  return relay.links.flatMap((link) => link.sockets.filter((socket) => socket.isOpen));
}

function recentSockets(relay: SimRelay): SimSocket[] {
  return relay.links.flatMap((link) => link.sockets.slice(-6));
}

function pickLink(relay: SimRelay): SimLink {
  const { random } = relay.world;
  const alive = relay.links.filter((link) => link.revoked.value === false);
  return random.some(random.chance(0.9) && alive.length > 0 ? alive : relay.links) ?? missing();
}

function pickProject(relay: SimRelay): SimProject {
  return relay.world.random.some(relay.projects) ?? missing();
}

function missing(): never {
  throw new Error("a simulation has at least one project with a link");
}

function ask(relay: SimRelay, link: SimLink): void {
  const { world } = relay;
  const { random } = world;
  const newest = link.urls.at(-1);
  const url = random.chance(0.9) ? newest : random.some(link.urls);
  if (url === undefined) return;
  const kind = random.weighted({ good: 20, unknown: 1, invalid: 1 });
  const rpcId = random.chance(0.2) ? 1 : world.calls.length + 10;
  const call = new SimCall(world, { link, url, kind, rpcId });
  void call.post();
  if (random.chance(0.05)) world.clock.after(random.delay(), () => call.leave());
}

function connect(relay: SimRelay, link: SimLink): void {
  const { world } = relay;
  const { random, clock, node } = world;
  // As at the edge: a Relay that drains takes no upgrades.
  if (node.isDraining) return;
  const socket = new SimSocket(world, link);
  void socket.greet(helloText(link.linkToken, random.chance(0.2) ? random.whole(1, 9) : 0));
  if (random.chance(0.15)) clock.after(random.whole(0, 40), () => socket.drop());
}

/** News of the end of a socket that ended long ago, or never was: only its own epoch may matter. */
function strayEnd(relay: SimRelay, link: SimLink): void {
  const { node, random, judge, say, open } = relay.world;
  const driver = node.registry.find(link.linkId);
  const live = link.newest;
  if (driver === null || live?.isLive !== true || live.place === null) return;
  const epoch = live.place.epoch + random.pick([-2, -1, 1]);
  say(
    () => `${link.name}: the end of epoch ${epoch} is told, ${live.name} has ${live.place?.epoch}`,
  );
  const before = new Set(open);
  node.registry.disconnect(driver, epoch);
  const ended = [...before].filter((call) => !open.has(call));
  judge.check("oldEndNothing", driver.isConnected && live.isOpen && ended.length === 0, () => {
    return `the end of epoch ${epoch} of ${link.name} ended ${live.name} or ${ended.length} calls`;
  });
}

function cancelById(relay: SimRelay, link: SimLink): void {
  const { node, random, judge, open, say } = relay.world;
  const driver = node.registry.find(link.linkId);
  if (driver === null) return;
  const mine = [...open].filter((call) => call.driver === driver);
  const key = random.chance(0.3) ? "n1" : (random.some(mine)?.rpcKey ?? "n7");
  const named = mine.filter((call) => call.rpcKey === key);
  say(() => `${link.name}: host cancels ${key}, ${named.length} calls in flight`);
  driver.hostCancelled(key);
  const ended = mine.filter((call) => !open.has(call));
  const right = named.length === 1 ? named : [];
  judge.check("cancelEnds", ended.length === right.length && ended[0] === right[0], () => {
    return `a cancel of ${key} (${named.length} calls) ended ${ended.map((call) => call.name).join(", ")}`;
  });
}

/** The command of the link's app, by its live socket, or of its developer. */
function commandOf(relay: SimRelay, link: SimLink): { epoch: number; id: string } | null {
  const place = link.newest?.isLive === true ? link.newest.place : null;
  if (place === null || !relay.world.random.chance(0.5)) return null;
  return { epoch: place.epoch, id: "command" };
}

async function setPaused(relay: SimRelay, link: SimLink, paused: boolean): Promise<void> {
  const { node, say } = relay.world;
  const done = link.paused.begin();
  say(() => `${link.name}: ${paused ? "pause" : "resume"}`);
  const isSet = await node.actions
    .setPaused(link.linkId, paused, commandOf(relay, link))
    .catch((error: unknown) => failed(relay, error));
  done(isSet === true ? paused : null);
  say(
    () => `${link.name}: ${paused ? "pause" : "resume"} is ${isSet === true ? "done" : "not done"}`,
  );
}

async function rotate(relay: SimRelay, link: SimLink): Promise<void> {
  const { node, say } = relay.world;
  const before = link.url.value;
  const done = link.url.begin();
  say(() => `${link.name}: rotate`);
  const rotated = await node.actions
    .rotate(link.linkId, commandOf(relay, link))
    .catch((error: unknown) => failed(relay, error));
  const token = rotated === null || rotated === "gone" ? null : tokenOf(rotated.mcpUrl);
  done(token);
  say(() => `${link.name}: rotate is ${token === null ? "not done" : "done"}`);
  if (token === null) return;
  link.urls.push(token);
  if (before !== null) link.deadUrls.add(before);
}

async function revoke(relay: SimRelay, link: SimLink): Promise<void> {
  const { node, say, judge } = relay.world;
  const done = link.revoked.begin();
  say(() => `${link.name}: revoke`);
  const isRevoked = await node.actions
    .revoke(link.linkId, commandOf(relay, link))
    .catch((error: unknown) => failed(relay, error));
  done(isRevoked === true ? true : null);
  say(() => `${link.name}: revoke is ${isRevoked === true ? "done" : "not done"}`);
  if (link.revoked.value !== true) return;
  judge.check("stopsCalls", link.newest?.isLive !== true, () => {
    return `${link.name} is revoked, and ${link.newest?.name} is still its live socket`;
  });
}

async function setDisabled(relay: SimRelay, project: SimProject, disabled: boolean): Promise<void> {
  const { node, random, say, judge } = relay.world;
  const done = project.disabled.begin();
  say(() => `${project.name}: ${disabled ? "suspend" : "restore"}`);
  const changes = disabled
    ? { [random.pick(["suspended", "stopped"])]: true }
    : { suspended: false, stopped: false };
  const changed = await node
    .changeProject(project.projectId, changes)
    .catch((error: unknown) => failed(relay, error));
  done(changed === null ? null : disabled);
  say(
    () =>
      `${project.name}: ${disabled ? "suspend" : "restore"} is ${changed === null ? "not " : ""}done`,
  );
  if (project.disabled.value !== true) return;
  const live = relay.links.filter(
    (link) => link.project === project && link.newest?.isLive === true,
  );
  judge.check("stopsCalls", live.length === 0, () => {
    return `${project.name} is disabled, and ${live.map((link) => link.name).join(", ")} has a live socket`;
  });
}

async function changeRate(relay: SimRelay, project: SimProject): Promise<void> {
  const callsPerMinute = relay.world.random.pick([3, 60, 6_000]);
  relay.world.say(() => `${project.name}: ${callsPerMinute} calls a minute`);
  await relay.world.node
    .changeProject(project.projectId, { callsPerMinute })
    .catch((error: unknown) => failed(relay, error));
}

/** An action may fail with the store; another failure is a fault of Relay's. */
function failed(relay: SimRelay, error: unknown): null {
  if (!relay.world.store.hadTrouble) throw error;
  return null;
}

function tokenOf(mcpUrl: string): UrlToken | null {
  return parseToken("urlToken", mcpUrl.slice(mcpUrl.lastIndexOf("/") + 1));
}
