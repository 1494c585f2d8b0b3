import { defaultLimits } from "@relay/protocol";
import type { AccountId, CallId, Limits, ProjectId } from "@relay/protocol";
import { InProcessHub } from "../../packages/server/src/cluster/in-process.ts";
import { mintLinkId, mintProjectId, mintToken, hashToken } from "../../packages/server/src/ids.ts";
import { openLog } from "../../packages/server/src/observe/log.ts";
import type { Log } from "../../packages/server/src/observe/log.ts";
import type { Meter } from "../../packages/server/src/observe/meter.ts";
import { RelayNode } from "../../packages/server/src/relay/node.ts";
import type { Quota } from "../../packages/server/src/relay/quota.ts";
import { Seal } from "../../packages/server/src/relay/seal.ts";
import type { Link, Project, Store } from "../../packages/server/src/store/store.ts";
import { Judge } from "./judge.ts";
import type { Random } from "./random.ts";
import type { SimCall } from "./sim-call.ts";
import { SimClock } from "./sim-clock.ts";
import { SimLink, SimProject } from "./sim-link.ts";
import { SimQuota } from "./sim-quota.ts";
import type { QuotaMood } from "./sim-quota.ts";
import { SimStore } from "./sim-store.ts";
import type { World } from "./world.ts";

/** One simulated Relay: the real node, with everything around it made up. */
export type SimRelay = {
  readonly world: World;
  readonly quota: SimQuota;
  readonly projects: readonly SimProject[];
  readonly links: readonly SimLink[];
  /** How many calls the relay has told its meter of. */
  readonly told: { calls: number };
};

export type Shape = {
  readonly seed: number;
  readonly random: Random;
  readonly limits: Partial<Limits>;
  readonly projects: number;
  readonly linksEach: number;
  readonly callsPerMinute: number;
  readonly mood: QuotaMood;
  readonly say: (line: () => string) => void;
};

/** Builds the node on a virtual clock; nothing has happened yet. */
export function buildRelay(shape: Shape): SimRelay {
  const { seed, random, say } = shape;
  const clock = new SimClock();
  const judge = new Judge(say);
  const store = new SimStore({ clock, random, judge, say });
  const limits = { ...defaultLimits(), ...shape.limits };
  const told = { calls: 0 };
  const calls: SimCall[] = [];
  const open = new Set<SimCall>();
  // The node is given its quota before the world that the quota speaks to is whole.
  const late: { quota: SimQuota | null; world: World | null } = { quota: null, world: null };
  const names = new Map<CallId, string>();
  const nameOf = (callId: CallId): string => {
    const name = names.get(callId) ?? late.world?.starting?.name;
    const known = name ?? calls.find((call) => call.callId === callId)?.name ?? "an unknown call";
    names.set(callId, known);
    return known;
  };
  const node = new RelayNode({
    store: storeOf(store),
    bus: new InProcessHub().bus("local"),
    quota: quotaOf(() => late.quota),
    seal: new Seal(Buffer.alloc(32, 7)),
    clock,
    limits,
    log: logTo((line) => {
      say(() => `log: ${line}`);
      judge.check("quiet", store.hadTrouble, () => line);
    }),
    urls: { public: "http://relay.test", mcp: "http://relay.test" },
    meter: { ...SILENT_METER, callEnded: () => (told.calls += 1) },
  });
  const parts = { seed, random, clock, judge, limits, store, node, calls, open, say, nameOf };
  const world: World = { ...parts, starting: null, step: 0, answers: 0 };
  const quota = new SimQuota(world, shape.mood);
  late.world = world;
  late.quota = quota;
  return { world, quota, told, ...addProjects(store, shape, clock.wall()) };
}

function addProjects(
  store: SimStore,
  shape: Shape,
  now: number,
): { readonly projects: readonly SimProject[]; readonly links: readonly SimLink[] } {
  const projects: SimProject[] = [];
  const links: SimLink[] = [];
  for (let number = 1; number <= shape.projects; number += 1) {
    const project = new SimProject(mintProjectId(now), `P${number}`);
    projects.push(project);
    store.addProject(projectRecord(project.projectId, shape.callsPerMinute));
    for (let each = 1; each <= shape.linksEach; each += 1) {
      links.push(addLink(store, project, `L${links.length + 1}`, now));
    }
  }
  return { projects, links };
}

function quotaOf(built: () => SimQuota | null): Quota {
  const quota = (): SimQuota => {
    const there = built();
    if (there === null) throw new Error("the quota was asked before it was built");
    return there;
  };
  return {
    reserve: (projectId, callId) => quota().reserve(projectId, callId),
    release: (projectId, callId) => quota().release(projectId, callId),
    spend: (projectId, callId) => quota().spend(projectId, callId),
  };
}

const SILENT_METER: Meter = {
  exchangeEnded: () => undefined,
  upgradeRefused: () => undefined,
  socketOpened: () => undefined,
  socketClosed: () => undefined,
  helloAccepted: () => undefined,
  helloRefused: () => undefined,
  callEnded: () => undefined,
  callAnswered: () => undefined,
  rowWritten: () => undefined,
};

function addLink(store: SimStore, project: SimProject, name: string, now: number): SimLink {
  const linkId = mintLinkId(now);
  const urlToken = mintToken("urlToken");
  const link = new SimLink(name, project, { linkId, urlToken, linkToken: mintToken("linkToken") });
  const record: Link = {
    linkId,
    projectId: project.projectId,
    label: name,
    paused: false,
    createdAt: now,
    revokedAt: null,
    lastSeenAt: null,
    lastCallAt: null,
    urlTokenHash: hashToken(urlToken),
    madeWithSecretKey: false,
    trial: false,
    sealedUrl: null,
    ownerNode: null,
    ownerEpoch: 0,
    manifestHash: null,
    app: null,
    toolCount: 0,
    client: null,
  };
  store.addLink(record, link.linkToken);
  return link;
}

function projectRecord(projectId: ProjectId, callsPerMinute: number): Project {
  return {
    projectId,
    accountId: "account" as AccountId,
    name: "Simulated",
    callsPerMinute,
    allowedOrigins: [],
    suspended: false,
    stopped: false,
    freeCallsPerMonth: null,
    priceMicrosPerCall: 0,
    spendCapMicros: null,
    createdAt: 0,
  };
}

/** A store with no more than the node needs: what else is asked of it ends the simulation. */
function storeOf(store: SimStore): Store {
  const whole = new Proxy(store, {
    get(target, verb) {
      // The store's own verbs, and nothing of what it inherits.
      const held: unknown = Reflect.get(target, verb, target);
      if (typeof held === "function") return held.bind(target) as unknown;
      if (held !== undefined) return held;
      throw new Error(`the simulated store has no ${String(verb)}`);
    },
  });
  // A checked border: what is missing throws, as above.
  return whole as unknown as Store;
}

/** A log that keeps nothing; what is a fault is told. */
function logTo(tell: (line: string) => void): Log {
  return openLog("warn", {
    write: (line) => {
      const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
      tell(err === undefined ? msg : `${msg}: ${err.message}`);
    },
  });
}
