import { ACTIONS, openSockets, WEIGHTS } from "./actions.ts";
import type { ActionName } from "./actions.ts";
import { audit } from "./audit.ts";
import type { InvariantName } from "./judge.ts";
import { settle, settleAll } from "./microtasks.ts";
import { Random } from "./random.ts";
import { buildRelay } from "./relay.ts";
import type { SimRelay } from "./relay.ts";
import { advance, until } from "./time.ts";
import { judgeTheEnd } from "./verdict.ts";

/** What one run came to. */
export type Report = {
  readonly seed: number;
  readonly broken: ReadonlyMap<InvariantName, string>;
  /** How many calls began, and how each of them ended. */
  readonly calls: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly steps: number;
};

export type RunOptions = {
  /** Gets every line of the transcript; without it none is written. */
  readonly transcript?: ((line: string) => void) | undefined;
};

const STEPS = 400;
const DRAIN_MS = 20_000;

/** Runs one simulation from its seed to a quiet end. The same seed does the same every time. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<Report> {
  const random = new Random(seed);
  const { transcript } = options;
  const now = { ms: (): number => 0 };
  const say = (line: () => string): void => {
    transcript?.(`${now.ms().toFixed(0).padStart(9)} ${line()}`);
  };
  const relay = buildRelay({
    seed,
    random,
    say,
    limits: {
      callTimeoutSeconds: random.pick([180, 180, 5]),
      callsInFlight: random.pick([8, 8, 8, 2]),
      socketsPerProject: random.pick([10_000, 3]),
    },
    projects: random.whole(1, 2),
    linksEach: random.whole(1, 3),
    callsPerMinute: random.pick([60, 6_000, 6_000]),
    mood: { late: random.pick([0, 0, 0.3]), refusing: 0.02, silent: random.pick([0, 0.01]) },
  });
  const { world } = relay;
  now.ms = () => world.clock.monotonic();
  await until(world, world.node.start());
  const taste = tasteOf(random);
  for (let each = 0; each < STEPS; each += 1) {
    await advance(world, gap(random));
    const action = random.weighted(taste);
    world.step += 1;
    ACTIONS[action](relay);
    await breathe(random);
    audit(relay);
  }
  await finish(relay);
  const outcomes = new Map<string, number>();
  for (const { outcome } of world.calls) {
    const name = outcome ?? "turned away";
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  }
  const calls = world.calls.filter((call) => call.hasStarted).length;
  return { seed, broken: world.judge.broken, calls, outcomes, steps: world.step };
}

/** Each run likes some actions and leaves others out: together they reach further than one mixture. */
function tasteOf(random: Random): Record<ActionName, number> {
  const taste: Record<ActionName, number> = { ...WEIGHTS };
  // The record's own keys.
  for (const name of Object.keys(taste) as ActionName[]) {
    taste[name] *= random.pick([0, 0.3, 1, 1, 1, 4]);
  }
  taste.call = Math.max(taste.call, WEIGHTS.call / 2);
  taste.comeBack = Math.max(taste.comeBack, WEIGHTS.comeBack / 2);
  return taste;
}

/** Time to the next action: mostly the same moment or a few ms, now and then minutes. */
function gap(random: Random): number {
  const kind = random.next();
  if (kind < 0.4) return 0;
  if (kind < 0.9) return random.whole(1, 40);
  if (kind < 0.985) return random.whole(40, 4_000);
  return random.whole(4_000, 200_000);
}

/** Lets the promises go on: all of them, or as few as when two things come in one packet. */
async function breathe(random: Random): Promise<void> {
  if (random.chance(0.25)) return settle(random.whole(0, 3));
  return settleAll();
}

/** Makes the world well again, drains or closes everything, and judges what is left. */
async function finish(relay: SimRelay): Promise<void> {
  const { world, quota } = relay;
  const { random, clock, node, judge, limits, say } = world;
  const drains = random.chance(0.3);
  if (drains) {
    // Calls that wait for a quota that never decides must be answered too.
    quota.mood.silent = random.pick([0, 0.5]);
    ACTIONS.burst(relay);
    await advance(world, 50);
    say(() => "drain");
    const began = clock.monotonic();
    const isHealthy = world.store.isWell && !node.settler.isLate;
    await until(world, node.drain(DRAIN_MS));
    const took = clock.monotonic() - began;
    say(() => `drained after ${took} ms`);
    // What is unwritten gets 5 s more, and closing goes in steps of 20 ms.
    judge.check("drained", took <= DRAIN_MS + 5_100, () => `the drain took ${took} ms`);
    judge.check("drained", node.inFlight === 0, () => {
      return `${node.inFlight} calls are in flight after the drain`;
    });
    judge.check("drained", world.open.size === 0, () => {
      return `${[...world.open].map((call) => call.name).join(", ")} has no answer after the drain`;
    });
    const late = world.calls.filter(
      (call) => call.wasSent && !world.store.rows.has(call.requestId),
    );
    judge.check("drained", !isHealthy || late.length === 0 || took > DRAIN_MS, () => {
      return `the rows of ${late.map((call) => call.name).join(", ")} are unwritten after the drain`;
    });
  }
  say(() => "the world gets well");
  world.store.trouble = "none";
  quota.mood.late = 0;
  quota.mood.silent = 0;
  await advance(world, 2 * limits.callTimeoutSeconds * 1000 + 130_000);
  for (const socket of openSockets(relay)) socket.drop();
  await advance(world, 240_000);
  judgeTheEnd(relay);
  await until(world, node.close());
}
