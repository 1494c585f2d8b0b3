/**
 * Kills a Relay in the middle of traffic, again and again, and starts it on the same folder: what it
 * had acknowledged is there (SPEC 11).
 */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { OUTCOMES } from "@relay/protocol";
import { Random } from "../../packages/server/src/core/schema/test/random.ts";
import { ECHO, callTool, connectApp, post } from "./harness.ts";
import type { JsonObject, TestApp, TestLink, TestProject } from "./harness.ts";
import { startChild } from "./drain-child.ts";
import type { ChildRelay } from "./drain-child.ts";

/** `npm run long` takes more of them. */
const ROUNDS = process.env["TEST_LONG"] === undefined ? 2 : 20;
const LINKS = 6;
/** How long a round may take on a slow machine. */
const PATIENCE_MS = 20_000;
const seed = Number(process.env["CRASH_SEED"] ?? 450_117);

/** What Relay has acknowledged of one link; an action without an answer may have happened or not. */
type Known = {
  readonly link: TestLink;
  urlPath: string;
  readonly oldPaths: string[];
  paused: boolean;
  revoked: boolean;
  /** The action whose answer is awaited. */
  pending: string | null;
};

/** Every counted call whose answer a host has seen, by request id. */
type Seen = Map<string, { readonly outcome: string; readonly linkId: string }>;

const pathOf = (url: string): string => new URL(url).pathname;
const isConnectionLoss = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && /socket|fetch/i.test(error.message));

class Traffic {
  readonly project: TestProject;
  readonly known: Known[] = [];
  readonly seen: Seen = new Map();
  readonly #random: Random;
  #relay: ChildRelay;
  #apps: TestApp[] = [];
  #isOver = false;

  constructor(relay: ChildRelay, project: TestProject, random: Random) {
    this.#relay = relay;
    this.project = project;
    this.#random = random;
  }

  /** A request of the project's developer to the Relay of this round. */
  async rest(method: string, path: string, body?: unknown): Promise<JsonObject> {
    const answer = await this.#relay.rest(method, path, this.project.secretKey, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
    return answer.body;
  }

  async addLink(): Promise<void> {
    // Made with the secret key, so that a rotation's answer carries the URL.
    const link = (await this.rest("POST", "/v1/links", {})) as TestLink;
    const urlPath = pathOf(link.mcpUrl);
    this.known.push({ link, urlPath, oldPaths: [], paused: false, revoked: false, pending: null });
  }

  /** Runs hosts, apps and a developer against this round's Relay; kills it after so many answers. */
  async run(relay: ChildRelay, answers: number): Promise<void> {
    this.#relay = relay;
    this.#isOver = false;
    await this.#connectApps();
    const loops = [
      ...this.known.map((one) => this.#host(one)),
      ...this.known.map((one) => this.#host(one)),
      this.#developer(),
      this.#newcomers(),
    ];
    const enough = this.seen.size + answers;
    const deadline = Date.now() + PATIENCE_MS;
    while (this.seen.size < enough && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.#isOver = true;
    assert.equal((await relay.end("SIGKILL")).signal, "SIGKILL");
    await Promise.all(loops);
    for (const app of this.#apps.splice(0)) await app.closed;
  }

  async #connectApps(): Promise<void> {
    const url = `${this.#relay.url.replace("http", "ws")}/v1/socket`;
    for (const { link, revoked } of this.known) {
      if (revoked) continue;
      this.#apps.push(await connectApp({ ...link, socketUrl: url }, ECHO));
    }
  }

  /** Calls over and over; notes each counted answer. */
  async #host(one: Known): Promise<void> {
    while (!this.#isOver) {
      await this.#until(async () => {
        const { message, headers } = await callTool(`${this.#relay.url}${one.urlPath}`);
        const isAnswer = message["result"]?.isError === false;
        const requestId = headers.get("x-request-id") ?? "";
        if (isAnswer) this.seen.set(requestId, { outcome: "ok", linkId: one.link.linkId });
        else await new Promise((resolve) => setTimeout(resolve, 20));
      });
    }
  }

  /** Rotates, pauses, resumes and now and then revokes links, one after the other. */
  async #developer(): Promise<void> {
    while (!this.#isOver) {
      const one = this.known[this.#random.below(this.known.length)];
      if (one === undefined || one.revoked || one.pending !== null) continue;
      const action = ["rotate", "rotate", "pause", "resume", "revoke"][this.#random.below(5)] ?? "";
      if (action === "revoke" && this.#random.chance(0.75)) continue;
      one.pending = action;
      await this.#until(async () => {
        const path = `/v1/links/${one.link.linkId}/${action}`;
        const answer = await this.rest("POST", path);
        if (action === "rotate") {
          one.oldPaths.push(one.urlPath);
          one.urlPath = pathOf(String(answer["mcpUrl"]));
        } else if (action === "revoke") one.revoked = true;
        else one.paused = action === "pause";
        one.pending = null;
      });
    }
  }

  async #newcomers(): Promise<void> {
    for (let n = 0; n < 3 && !this.#isOver; n += 1) await this.#until(() => this.addLink());
  }

  /** Runs one step; a connection that the kill has cut is no failure. */
  async #until(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Compares what a restarted Relay says with what the dead one had acknowledged. */
async function verify(traffic: Traffic, relay: ChildRelay): Promise<void> {
  const statusOf = async (path: string): Promise<number> =>
    (await post(`${relay.url}${path}`, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status;
  for (const one of traffic.known) {
    const path = `/v1/links/${one.link.linkId}`;
    const view = (await relay.rest("GET", path, traffic.project.secretKey)).body;
    const may = one.pending;
    const what = `${one.link.linkId}, awaiting ${may}`;
    for (const old of one.oldPaths) assert.equal(await statusOf(old), 404, what);
    if (may !== "rotate" && may !== "revoke") {
      assert.equal(await statusOf(one.urlPath), one.revoked ? 404 : 200, what);
    }
    if (may !== "revoke") assert.equal(view["revoked"], one.revoked, what);
    if (may !== "pause" && may !== "resume") assert.equal(view["paused"], one.paused, what);
    assert.equal(view["connected"], false, what);
    // What was in doubt is settled now.
    one.revoked = view["revoked"] === true;
    one.paused = view["paused"] === true;
    one.pending = null;
    if (may === "rotate" && !one.revoked) await learnUrl(one, relay, traffic.project);
  }
  await verifyCalls(traffic, relay);
}

/** Rotates once more where a rotation's answer was lost. */
async function learnUrl(one: Known, relay: ChildRelay, project: TestProject): Promise<void> {
  const path = `/v1/links/${one.link.linkId}/rotate`;
  const { body } = await relay.rest("POST", path, project.secretKey);
  one.oldPaths.push(one.urlPath);
  one.urlPath = pathOf(String(body["mcpUrl"]));
}

async function verifyCalls(traffic: Traffic, relay: ChildRelay): Promise<void> {
  const rows = new Map<string, JsonObject>();
  const { secretKey } = traffic.project;
  for (let cursor: string | null = ""; cursor !== null;) {
    const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await relay.rest("GET", `/v1/calls?limit=200${more}`, secretKey);
    for (const row of page.body["items"] as JsonObject[]) {
      assert.equal(rows.has(row["requestId"]), false, "a call has two rows");
      rows.set(row["requestId"], row);
    }
    cursor = page.body["nextCursor"] as string | null;
  }
  for (const [requestId, { outcome, linkId }] of traffic.seen) {
    const row = rows.get(requestId);
    assert.ok(row, `the call ${requestId} of a host that saw its answer is gone`);
    assert.deepEqual([row["outcome"], row["linkId"], row["counted"]], [outcome, linkId, true]);
  }
  const usage = (await relay.rest("GET", "/v1/usage", secretKey)).body;
  const counted = [...rows.values()].filter((row) => row["counted"] === true).length;
  assert.equal(usage["counted"], counted);
  for (const row of rows.values()) {
    const rule = OUTCOMES[row["outcome"] as keyof typeof OUTCOMES].counted;
    if (rule !== "sent") assert.equal(row["counted"], rule === "always", row["outcome"]);
  }
}

test(`a Relay killed in the middle of traffic has everything it had acknowledged (seed ${seed})`, async (context) => {
  const random = new Random(seed);
  const settings = { RELAY_CALLS_PER_MINUTE: "6000", RELAY_META_REQUESTS_PER_MINUTE: "6000" };
  let relay = await startChild(settings);
  try {
    const traffic = new Traffic(relay, await relay.project(), random);
    for (let n = 0; n < LINKS; n += 1) await traffic.addLink();
    for (let round = 1; round <= ROUNDS; round += 1) {
      await traffic.run(relay, 20 + random.below(80));
      relay = await startChild(settings, relay.dataDir);
      await verify(traffic, relay);
      const revoked = traffic.known.filter((one) => one.revoked).length;
      const { seen, known } = traffic;
      context.diagnostic(`${seen.size} answers seen, ${known.length} links, ${revoked} revoked`);
    }
    assert.ok(traffic.seen.size >= 20, "there was traffic");
  } finally {
    await relay[Symbol.asyncDispose]();
  }
});
