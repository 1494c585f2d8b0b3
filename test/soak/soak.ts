import { Random } from "../../packages/server/src/core/schema/test/random.ts";
import type { LinkFacts } from "./app-socket.ts";
import { checkAfterwards } from "./afterwards.ts";
import type { Totals } from "./afterwards.ts";
import { Book } from "./book.ts";
import { DISTURBANCES, LIMITED_CALLS_PER_MINUTE, broke, capped, limited } from "./disturbances.ts";
import { closeHosts } from "./host-call.ts";
import { RelayUnderSoak } from "./relay-under-soak.ts";
import type { Project } from "./relay-under-soak.ts";
import { SCENARIOS, pause } from "./scenarios.ts";
import type { Scenario, World } from "./scenarios.ts";
import type { Vitals } from "./server.ts";
import { SoakLink } from "./soak-link.ts";
import { storm } from "./storm.ts";

export type SoakOptions = {
  readonly minutes: number;
  readonly sockets: number;
  /** Calls a second that are begun, if the machine can. */
  readonly rate: number;
  readonly seed: number;
  readonly callTimeoutSeconds: number;
  /** How often a quarter of the sockets, and every third time all of them, are lost at once. */
  readonly stormEverySeconds: number;
  readonly say: (line: string) => void;
};

export type SoakReport = Totals & {
  readonly seconds: number;
  readonly book: Book;
  readonly storms: number;
  readonly sockets: number;
  readonly vitals: { readonly start: Vitals; readonly middle: Vitals; readonly end: Vitals };
};

const PRICE_MICROS = 3;
const FREE_CALLS = 50;
/** Links of projects that may not spend, have nothing to spend, and may be called twice a minute. */
const SPECIAL_LINKS = 5;
const OPENED_AT_ONCE = 64;
/** What a person looks at meanwhile: lists, sums, metrics. */
const LOOK_EVERY_MS = 5_000;
const MIDDLE_MINUTE = 3;
const TICK_MS = 10;

const SETTINGS = {
  RELAY_BILLING: "prepaid",
  RELAY_KEEP_ALIVE_SECONDS: "1",
  RELAY_PING_INTERVAL_SECONDS: "10",
  RELAY_LINKS_PER_IP_PER_MINUTE: "1000000",
  RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1000000",
  RELAY_PENDING_SOCKETS_PER_IP: "100000",
} as const;

/** Runs a Relay under mixed traffic and checks how every single call ended. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const relay = await RelayUnderSoak.start({
    ...SETTINGS,
    RELAY_CALL_TIMEOUT_SECONDS: String(options.callTimeoutSeconds),
  });
  try {
    const run = new SoakRun(options, relay);
    await run.open();
    return await run.report();
  } finally {
    closeHosts();
    relay.remove();
  }
}

/** Links of one kind, and what may be done with them. */
type Pool = {
  readonly idle: SoakLink[];
  readonly scenarios: readonly (readonly [string, Scenario])[];
};

class SoakRun {
  readonly #options: SoakOptions;
  readonly #relay: RelayUnderSoak;
  readonly #book = new Book();
  readonly #random: Random;
  readonly #running = new Set<Promise<void>>();
  readonly #projects: Project[] = [];
  readonly #pools: Pool[] = [];
  /** Each scenario once before chance decides. */
  readonly #first: (readonly [Pool, string, Scenario])[] = [];
  #isOver = false;
  #storms = 0;

  constructor(options: SoakOptions, relay: RelayUnderSoak) {
    this.#options = options;
    this.#relay = relay;
    this.#random = new Random(options.seed);
  }

  /** Makes the projects and links, and connects every app. */
  async open(): Promise<void> {
    const rich = { callsPerMinute: 6_000, priceMicrosPerCall: PRICE_MICROS };
    const paying = { ...rich, freeCallsPerMonth: FREE_CALLS, spendCapMicros: null };
    const main = await this.#relay.project(paying);
    await this.#relay.rest("POST", `/v1/operator/accounts/${main.accountId}/credits`, {
      amountMicros: 1e12,
      sourceKey: "soak",
      note: "soak",
    });
    const common = { ...SCENARIOS, ...DISTURBANCES };
    await this.#addPool(main, this.#options.sockets - 3 * SPECIAL_LINKS, common);
    const one = (run: Scenario["run"]): Scenario => ({ weight: 1, calls: 1, run });
    const nothing = { ...rich, freeCallsPerMonth: 0 };
    const cap = await this.#relay.project({ ...nothing, spendCapMicros: 0 });
    await this.#addPool(cap, SPECIAL_LINKS, { capped: one(capped) });
    const poor = await this.#relay.project(nothing);
    await this.#addPool(poor, SPECIAL_LINKS, { broke: one(broke) });
    const slow = { ...paying, callsPerMinute: LIMITED_CALLS_PER_MINUTE, freeCallsPerMonth: null };
    await this.#addPool(await this.#relay.project(slow), SPECIAL_LINKS, { limited: one(limited) });
  }

  async report(): Promise<SoakReport> {
    const { minutes, say, sockets } = this.#options;
    const start = await this.#vitals("start");
    const middleMinute = Math.min(MIDDLE_MINUTE, minutes * 0.3);
    const startedAt = performance.now();
    const looking = this.#look();
    await this.#drive(middleMinute);
    const middle = await this.#vitals(`minute ${middleMinute}`);
    await this.#drive(minutes - middleMinute);
    const end = await this.#vitals("end");
    const seconds = (performance.now() - startedAt) / 1000;
    this.#isOver = true;
    await looking;
    say("comparing calls, rows, usage and metrics");
    const totals = await checkAfterwards(this.#relay, this.#projects, this.#book);
    const vitals = { start, middle, end };
    return { ...totals, seconds, book: this.#book, storms: this.#storms, sockets, vitals };
  }

  async #addPool(
    project: Project,
    links: number,
    scenarios: Readonly<Record<string, Scenario>>,
  ): Promise<void> {
    const pool: Pool = { idle: [], scenarios: Object.entries(scenarios) };
    let left = links;
    const opener = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        pool.idle.push(
          await SoakLink.open(
            await this.#relay.link(project),
            this.#book,
            this.#options.callTimeoutSeconds,
          ),
        );
      }
    };
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, opener));
    this.#projects.push(project);
    this.#pools.push(pool);
    for (const [name, scenario] of pool.scenarios) this.#first.push([pool, name, scenario]);
  }

  /** Runs traffic for so many minutes, and lets it come to rest. */
  async #drive(minutes: number): Promise<void> {
    const { rate, stormEverySeconds } = this.#options;
    const startedAt = performance.now();
    const end = startedAt + minutes * 60_000;
    let begun = 0;
    let stormAt = startedAt + stormEverySeconds * 1_000;
    while (performance.now() < end) {
      const due = ((performance.now() - startedAt) / 1000) * rate;
      // What a busy machine has missed is let go, so that it does not pile up.
      begun = Math.max(begun, due - rate);
      while (begun < due) begun += this.#begin();
      if (performance.now() >= stormAt) {
        stormAt += stormEverySeconds * 1_000;
        await this.#storm();
      }
      await pause(TICK_MS);
    }
    await Promise.all(this.#running);
  }

  /** Begins one scenario; returns about how many calls it makes. */
  #begin(): number {
    const [pool, name, scenario] = this.#first.shift() ?? this.#choose();
    const at = this.#random.below(pool.idle.length);
    const [link] = pool.idle.splice(at, 1);
    if (link === undefined) return scenario.calls;
    const running = this.#run(pool, link, name, scenario).finally(() =>
      this.#running.delete(running),
    );
    this.#running.add(running);
    return scenario.calls;
  }

  #choose(): readonly [Pool, string, Scenario] {
    const [main, ...others] = this.#pools;
    const pool = this.#random.chance(0.95) ? main : others[this.#random.below(others.length)];
    if (pool === undefined) throw new Error("nothing is open");
    const total = pool.scenarios.reduce((sum, [, { weight }]) => sum + weight, 0);
    let left = this.#random.next() * total;
    for (const [name, scenario] of pool.scenarios) {
      left -= scenario.weight;
      if (left < 0) return [pool, name, scenario];
    }
    throw new Error("no scenario to choose from");
  }

  /** A link that fails a scenario is a fault, and is not used again. */
  async #run(pool: Pool, link: SoakLink, name: string, scenario: Scenario): Promise<void> {
    const book = this.#book;
    try {
      await scenario.run(this.#world, link, name);
      if (link.wasLate) await link.startOver();
      for (const frame of link.app.unread()) {
        book.fault(`${name} left a frame: ${JSON.stringify(frame).slice(0, 200)}`);
      }
      book.ran(name);
      pool.idle.push(link);
    } catch (error) {
      book.fault(`${name} on ${link.facts.linkId}: ${String(error)}`);
    }
  }

  async #storm(): Promise<void> {
    const [main] = this.#pools;
    if (main === undefined) return;
    this.#storms += 1;
    const size = this.#storms % 3 === 0 ? main.idle.length : main.idle.length / 4;
    const links = main.idle.splice(0, Math.ceil(size));
    const { seconds } = await storm(links, this.#book, this.#random);
    this.#options.say(
      `storm ${this.#storms}: ${links.length} sockets back in ${seconds.toFixed(2)} s`,
    );
    main.idle.push(...links);
  }

  /** A person who looks at the project all the while. */
  async #look(): Promise<void> {
    const [main] = this.#projects;
    let lookAt = performance.now() + LOOK_EVERY_MS;
    while (!this.#isOver) {
      await pause(100);
      if (performance.now() < lookAt || main === undefined) continue;
      lookAt = performance.now() + LOOK_EVERY_MS;
      try {
        await this.#relay.samples();
        await this.#relay.rest("GET", "/v1/calls?limit=200&outcome=ok", undefined, main.secretKey);
        await this.#relay.rest("GET", "/v1/usage", undefined, main.secretKey);
        await this.#relay.rest("GET", "/v1/links?limit=200", undefined, main.secretKey);
      } catch (error) {
        this.#book.fault(`a look: ${String(error)}`);
      }
    }
  }

  /** At rest, with every app connected: what the process uses. */
  async #vitals(when: string): Promise<Vitals> {
    await pause(2_000);
    const vitals = await this.#relay.vitals();
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
    this.#options.say(
      `${when}: heap ${megabytes(vitals.heapUsed)} MB, external ${megabytes(vitals.external)} MB, RSS ${megabytes(vitals.rss)} MB`,
    );
    return vitals;
  }

  get #world(): World {
    const [main] = this.#projects;
    if (main === undefined) throw new Error("no project");
    return {
      random: this.#random,
      book: this.#book,
      callTimeoutSeconds: this.#options.callTimeoutSeconds,
      newLink: (): Promise<LinkFacts> => this.#relay.link(main),
      act: async (linkId, action) => {
        await this.#relay.rest("POST", `/v1/links/${linkId}/${action}`, undefined, main.secretKey);
      },
    };
  }
}
