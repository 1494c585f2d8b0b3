/**
 * Kills a Relay at points that nobody chose, in the middle of everything it does, and starts it again
 * on the same folder: what it had acknowledged is there, and nothing counts twice (SPEC 11).
 */
import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { Random } from "../../packages/server/src/core/schema/test/random.ts";
import {
  RelayProcess,
  dataFolder,
  removeFolder,
  runRelay,
  serveRelay,
} from "../e2e/config-process.ts";
import type { TestLink } from "../e2e/harness.ts";
import { KillTraffic, bookCredit } from "./kill-traffic.ts";
import type { Project } from "./kill-traffic.ts";
import { TERMS, verify } from "./kill-verify.ts";
import { Known, knownLink } from "./known.ts";

/** `npm run long` takes 500. */
const ROUNDS = Number(
  process.env["KILL_ROUNDS"] ?? (process.env["TEST_LONG"] === undefined ? 20 : 500),
);
const seed = Number(process.env["KILL_SEED"] ?? 20_261_130);
const FIRST_LINKS = 6;
/** A round is killed after up to so many answers, and up to so many ms, so that it may be anywhere. */
const STEPS_MAX = 200;
const STRAY_MS_MAX = 25;
/** So many rounds are killed while they start. */
const KILLED_AT_START = 0.15;
const START_MS_MAX = 1_200;
/** A new folder each so many rounds, so that looking through all of it stays quick. */
const ROUNDS_PER_FOLDER = 25;
const TOLD_EVERY = 50;

const SETTINGS = {
  RELAY_PORT: "0",
  RELAY_BILLING: "prepaid",
  RELAY_LOG_LEVEL: "error",
  RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
  RELAY_UNKNOWN_TOKENS_PER_MINUTE: "1000000",
  RELAY_META_REQUESTS_PER_MINUTE: "100000",
} as const;

/** One data folder, and what was acknowledged about it. */
class Folder {
  readonly known = new Known();
  readonly dataDir: string;
  readonly project: Project;
  relay: RelayProcess;

  private constructor(relay: RelayProcess, project: Project, dataDir: string) {
    this.relay = relay;
    this.project = project;
    this.dataDir = dataDir;
  }

  static async make(): Promise<Folder> {
    const dataDir = dataFolder();
    const relay = await serveRelay({ ...SETTINGS, RELAY_DATA_DIR: dataDir });
    const account = await relay.rest("POST", "/v1/operator/accounts");
    const { accountId } = account.body;
    const named = { name: "Notes", accountId, callsPerMinute: 6_000, ...TERMS };
    const { body } = await relay.rest("POST", "/v1/operator/projects", named);
    // A checked border: what a created project is, `rest-operator` tests.
    const project = { ...body, accountId } as Project;
    const folder = new Folder(relay, project, dataDir);
    for (let left = FIRST_LINKS; left > 0; left -= 1) {
      // Made with the secret key, so that a rotation's answer carries the URL.
      const made = await relay.rest("POST", "/v1/links", {}, project.secretKey);
      folder.known.links.push(knownLink(made.body as TestLink));
    }
    await bookCredit(relay, project, "credit 0");
    folder.known.credits.set("credit 0", true);
    return folder;
  }

  get settings(): Record<string, string> {
    return { ...SETTINGS, RELAY_DATA_DIR: this.dataDir };
  }

  async round(random: Random): Promise<void> {
    const { project, known, dataDir } = this;
    await new KillTraffic(this.relay, project, known, random).run(
      random.below(STEPS_MAX),
      random.below(STRAY_MS_MAX),
    );
    while (random.chance(KILLED_AT_START)) {
      const starting = new RelayProcess(["serve"], this.settings);
      await sleep(random.below(START_MS_MAX));
      await starting.kill();
    }
    this.relay = await serveRelay(this.settings);
    await verify(this.relay, dataDir, project, known, random);
  }

  /** The doctor's own word on it, and the end. */
  async end(): Promise<void> {
    await this.relay.kill();
    const { code, stdout } = await runRelay(["doctor"], { ...this.settings, RELAY_PORT: "1" });
    assert.equal(code, 0, stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.kill();
    removeFolder(this.dataDir);
  }
}

/** What a round may take on a machine that is busy with other things, and what surrounds the rounds. */
const ROUND_MS_MAX = 60_000;
const BUDGET_MS = (ROUNDS + 4) * ROUND_MS_MAX;

test(
  `kill -9 at any point loses nothing that was acknowledged and counts nothing twice (seed ${seed})`,
  { timeout: BUDGET_MS },
  async (t) => {
    const random = new Random(seed);
    let answered = 0;
    let acknowledged = 0;
    for (let done = 0; done < ROUNDS;) {
      await using folder = await Folder.make();
      const rounds = Math.min(ROUNDS_PER_FOLDER, ROUNDS - done);
      for (let round = 0; round < rounds; round += 1, done += 1) {
        await folder.round(random);
        if (done % TOLD_EVERY === TOLD_EVERY - 1) t.diagnostic(`${done + 1} rounds`);
      }
      await folder.end();
      const { known } = folder;
      answered += known.answered.size;
      acknowledged += known.links.length + known.keys.length + known.credits.size;
    }
    t.diagnostic(
      `${ROUNDS} kills; ${answered} answers read, ${acknowledged} links, keys and credits`,
    );
    assert.ok(answered > ROUNDS, "there was traffic");
  },
);
