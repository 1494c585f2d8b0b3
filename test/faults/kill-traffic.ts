import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../packages/server/src/core/schema/test/random.ts";
import type { RelayProcess } from "../e2e/config-process.ts";
import { callTool, connectApp } from "../e2e/harness.ts";
import type { JsonObject, TestApp, TestLink } from "../e2e/harness.ts";
import { CREDIT_MICROS, knownLink } from "./known.ts";
import type { Known, KnownLink } from "./known.ts";
import { Register } from "./register.ts";

export type Project = {
  readonly projectId: string;
  readonly accountId: string;
  readonly secretKey: string;
};

const APPS = 4;
const HOSTS_PER_APP = 2;
/** What is made anew in a round, at most, so that hundreds of rounds stay small. */
const NEW_LINKS_MAX = 2;
const NEW_KEYS_MAX = 2;
const NEW_CREDITS_MAX = 3;
/** A project has room for more, but also for those whose making was never answered. */
const LIVE_KEYS_MAX = 4;
/** A machine that is too busy for the steps of a round is killed all the same. */
const TRAFFIC_MS_MAX = 20_000;

/** Hosts, apps, a developer and an operator, all at once, until their Relay is killed. */
export class KillTraffic {
  readonly #relay: RelayProcess;
  readonly #project: Project;
  readonly #known: Known;
  readonly #random: Random;
  readonly #apps: TestApp[] = [];
  #steps = 0;
  #isKilled = false;

  constructor(relay: RelayProcess, project: Project, known: Known, random: Random) {
    this.#relay = relay;
    this.#project = project;
    this.#known = known;
    this.#random = random;
  }

  /**
   * Runs until so many steps were answered and `ms` longer, and kills Relay wherever it is then; throws
   * what went wrong before that.
   */
  async run(steps: number, ms: number): Promise<void> {
    const served = this.#links().slice(-APPS);
    const actors = [
      ...served.map((one) => this.#serve(one)),
      this.#developer(),
      this.#newcomer(),
      this.#keys(),
      this.#operator(),
    ];
    const all = Promise.all(actors);
    await Promise.race([this.#answered(steps).then(() => sleep(ms)), all]);
    this.#isKilled = true;
    await this.#relay.kill();
    await all;
    await Promise.all(this.#apps.map((app) => app.closed));
  }

  async #answered(steps: number): Promise<void> {
    const until = performance.now() + TRAFFIC_MS_MAX;
    while (this.#steps < steps && performance.now() < until) await sleep(2);
  }

  #links(): KnownLink[] {
    return this.#known.links.filter(({ revoked, urlPath }) => !revoked.value && urlPath !== null);
  }

  /** Repeats a step until the kill; what fails before it is a fault of Relay's. */
  async #until(step: () => Promise<void>, times = Infinity): Promise<void> {
    try {
      for (let left = times; left > 0 && !this.#isKilled; left -= 1) {
        await step();
        this.#steps += 1;
      }
    } catch (error) {
      if (!this.#isKilled) throw error;
    }
  }

  async #serve(one: KnownLink): Promise<void> {
    await this.#until(() => this.#connect(one), 1);
    const host = (): Promise<void> => this.#until(() => this.#call(one));
    await Promise.all(Array.from({ length: HOSTS_PER_APP }, host));
  }

  async #connect({ link, revoked }: KnownLink): Promise<void> {
    const socketUrl = `${this.#relay.url.replace("http", "ws")}/v1/socket`;
    try {
      this.#apps.push(await connectApp({ ...link, socketUrl }, this.#echo));
    } catch (error) {
      // The developer may have revoked it just then.
      if (!revoked.value && !revoked.isInDoubt) throw error;
    }
  }

  readonly #echo = {
    onCall: (call: JsonObject): JsonObject => {
      this.#known.received.add(String(call["id"]));
      return { type: "result", content: [{ type: "text", text: "an answer" }] };
    },
  };

  async #call({ urlPath }: KnownLink): Promise<void> {
    if (urlPath === null) {
      await sleep(5);
      return;
    }
    const { message, headers, status } = await callTool(`${this.#relay.url}${urlPath}`);
    if (message["result"]?.content?.[0]?.text === "an answer") {
      this.#known.answered.add(headers.get("x-request-id") ?? "");
      return;
    }
    // Paused, rotated or revoked meanwhile: those answers other tests look at.
    assert.ok(status === 200 || status === 404 || this.#isKilled, `a call: ${status}`);
    await sleep(5);
  }

  async #developer(): Promise<void> {
    await this.#until(async () => {
      const links = this.#links();
      const one = links[this.#random.below(links.length)];
      assert.ok(one !== undefined);
      one.isTouched = true;
      const choice = this.#random.below(12);
      if (choice < 4) await this.#rotate(one);
      else if (choice < 7) {
        const next = !one.paused.value;
        await one.paused.change(next, () => this.#act(one, next ? "pause" : "resume"));
      } else if (choice < 9) {
        const label = `label ${this.#random.below(1e9)}`;
        await one.label.change(label, async () => {
          await this.#rest("PATCH", `/v1/links/${one.link.linkId}`, { label });
        });
      } else if (choice < 10) {
        const callsPerMinute = 5_000 + this.#random.below(1_000);
        await this.#known.callsPerMinute.change(callsPerMinute, async () => {
          await this.#rest("PATCH", "/v1/project", { callsPerMinute });
        });
      } else if (links.length > APPS)
        await one.revoked.change(true, () => this.#act(one, "revoke"));
    });
  }

  async #rotate(one: KnownLink): Promise<void> {
    one.pathInDoubt = one.urlPath;
    one.urlPath = null;
    const { mcpUrl } = await this.#rest("POST", `/v1/links/${one.link.linkId}/rotate`);
    if (one.pathInDoubt !== null) one.oldPaths.push(one.pathInDoubt);
    one.pathInDoubt = null;
    one.urlPath = new URL(String(mcpUrl)).pathname;
  }

  async #act(one: KnownLink, action: string): Promise<void> {
    await this.#rest("POST", `/v1/links/${one.link.linkId}/${action}`);
  }

  async #newcomer(): Promise<void> {
    await this.#until(async () => {
      await sleep(this.#random.below(100));
      const made = (await this.#rest("POST", "/v1/links", {})) as TestLink;
      this.#known.links.push(knownLink(made));
    }, NEW_LINKS_MAX);
  }

  async #keys(): Promise<void> {
    await this.#until(async () => {
      await sleep(this.#random.below(100));
      const path = `/v1/operator/projects/${this.#project.projectId}/keys`;
      const made = await this.#relay.rest("POST", path, { kind: "sk" });
      assert.equal(made.status, 201);
      const { keyId, key } = made.body;
      const known = {
        keyId: String(keyId),
        secret: String(key),
        live: new Register<boolean>(true),
      };
      this.#known.keys.push(known);
      const live = this.#known.keys.filter((one) => one.live.value && !one.live.isInDoubt);
      const [oldest = known] = live;
      if (live.length <= LIVE_KEYS_MAX && this.#random.chance(0.3)) return;
      const out = this.#random.chance(0.5) ? oldest : known;
      await out.live.change(false, async () => {
        const gone = await this.#relay.rest("DELETE", `${path}/${out.keyId}`);
        assert.equal(gone.status, 200);
      });
    }, NEW_KEYS_MAX);
  }

  async #operator(): Promise<void> {
    await this.#until(async () => {
      await sleep(this.#random.below(60));
      const sourceKey = `credit ${this.#known.credits.size}`;
      this.#known.credits.set(sourceKey, false);
      await bookCredit(this.#relay, this.#project, sourceKey);
      this.#known.credits.set(sourceKey, true);
    }, NEW_CREDITS_MAX);
  }

  async #rest(method: string, path: string, body?: unknown): Promise<JsonObject> {
    const answer = await this.#relay.rest(method, path, body, this.#project.secretKey);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

/** Books a credit under its source key; again is the same as once. */
export async function bookCredit(
  relay: RelayProcess,
  project: Project,
  sourceKey: string,
): Promise<void> {
  const path = `/v1/operator/accounts/${project.accountId}/credits`;
  const booked = { amountMicros: CREDIT_MICROS, sourceKey, note: "kill" };
  const { status, body } = await relay.rest("POST", path, booked);
  assert.ok(status < 300, JSON.stringify(body));
}
