/** Allowance, credit and cap through the wire, to the call (SPEC 10). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Blockade } from "./calls-blockade.ts";
import { Money } from "./money-harness.ts";
import { ECHO, callTool, connectApp, openRelay, textOf } from "./harness.ts";
import type { HostAnswer, TestApp, TestLink, TestProject } from "./harness.ts";

const LINKS = 20;
const PRICE = 1_000;
const CAP_TEXT =
  "Notes is unavailable: spend cap reached for this month. The developer can raise it.";
const QUOTA_TEXT = "Notes is unavailable: allowance used up; the developer needs to add credits.";

const relay = await openRelay({
  RELAY_BILLING: "prepaid",
  RELAY_LINKS_PER_IP_PER_MINUTE: "10000",
  RELAY_FREE_CALLS_PER_MONTH: "5",
  RELAY_PRICE_MICROS_PER_CALL: String(PRICE),
});
after(() => relay[Symbol.asyncDispose]());
const money = new Money(relay);

const textsOf = (answers: readonly HostAnswer[], text: string): number =>
  answers.filter((answer) => textOf(answer) === text).length;

/** Twenty links of a project whose apps hold their answers until all calls are admitted or refused. */
class Crowd {
  readonly links: readonly TestLink[];
  readonly apps: readonly TestApp[];

  private constructor(links: readonly TestLink[], apps: readonly TestApp[]) {
    this.links = links;
    this.apps = apps;
  }

  static async of(project: TestProject): Promise<Crowd> {
    const links = await Promise.all(Array.from({ length: LINKS }, () => project.link()));
    return new Crowd(links, await Promise.all(links.map((link) => connectApp(link))));
  }

  /** Calls over every link at once; resolves with the answers and how many calls reached an app. */
  async call(admitted: number): Promise<{ answers: HostAnswer[]; sent: number }> {
    const refused: HostAnswer[] = [];
    const calls = this.links.map(async ({ mcpUrl }) => {
      const answer = await callTool(mcpUrl);
      if (answer.message["result"]?.isError === true) refused.push(answer);
      return answer;
    });
    while (this.#held().length < admitted || refused.length < LINKS - admitted) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(this.#held().length <= admitted, "more calls than can be paid reached an app");
    }
    const held = this.#held();
    for (const { app, id } of held) {
      app.send({ type: "result", id, content: [{ type: "text", text: "answered" }] });
    }
    return { answers: await Promise.all(calls), sent: held.length };
  }

  async close(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.close()));
  }

  #held(): { app: TestApp; id: string }[] {
    return this.apps.flatMap((app) =>
      app.frames
        .filter((frame) => frame["type"] === "call")
        .map((frame) => ({ app, id: String(frame["id"]) })),
    );
  }
}

test("with 5 free calls and credit for 3, 20 calls at once are 8 answers and 12 quota_exceeded", async () => {
  const { project, accountId } = await money.project();
  await money.credit(accountId, 3 * PRICE);
  const crowd = await Crowd.of(project);
  const { answers, sent } = await crowd.call(8);
  assert.equal(sent, 8);
  assert.deepEqual([textsOf(answers, "answered"), textsOf(answers, QUOTA_TEXT)], [8, 12]);
  const usage = await money.usage(project);
  assert.deepEqual(usage["byOutcome"], { ok: 8, quota_exceeded: 12 });
  assert.deepEqual(
    [usage["counted"], usage["allowanceLeft"], usage["spentMicros"], usage["balanceMicros"]],
    [8, 0, 3 * PRICE, 0],
  );
  assert.equal(usage["callsLeft"], 0);
  await crowd.close();
});

test("with a cap worth 2 calls they are 7 answers and 13 cap_reached", async () => {
  const { project, accountId } = await money.project({ spendCapMicros: 2 * PRICE });
  await money.credit(accountId, 3 * PRICE);
  const crowd = await Crowd.of(project);
  const { answers, sent } = await crowd.call(7);
  assert.equal(sent, 7);
  assert.deepEqual([textsOf(answers, "answered"), textsOf(answers, CAP_TEXT)], [7, 13]);
  const usage = await money.usage(project);
  assert.deepEqual(usage["byOutcome"], { ok: 7, cap_reached: 13 });
  assert.deepEqual([usage["spentMicros"], usage["balanceMicros"]], [2 * PRICE, PRICE]);
  await crowd.close();
});

test("an app that disconnects during a call gives its place back", async () => {
  const { project } = await money.project({ freeCallsPerMonth: 1 });
  const first = await project.link();
  const second = await project.link();
  const app = await connectApp(first);
  const call = callTool(first.mcpUrl);
  await app.next("call");
  const other = await connectApp(second, ECHO);
  assert.equal(textOf(await callTool(second.mcpUrl)), QUOTA_TEXT);
  app.socket.terminate();
  assert.match(textOf(await call), /lost the connection/);
  assert.equal((await callTool(second.mcpUrl)).message["result"].isError, false);
  assert.equal(textOf(await callTool(second.mcpUrl)), QUOTA_TEXT);
  const usage = await money.usage(project);
  assert.deepEqual(usage["byOutcome"], { ok: 1, disconnected: 1, quota_exceeded: 2 });
  assert.equal(usage["counted"], 1);
  await other.close();
});

test("two projects of one account never spend its balance twice", async () => {
  const accountId = await money.account();
  const projects = await Promise.all(
    [0, 1].map(() => money.projectOf(accountId, { freeCallsPerMonth: 0 })),
  );
  await money.credit(accountId, 5 * PRICE);
  const links = await Promise.all(
    projects.flatMap((project) => Array.from({ length: 10 }, () => project.link())),
  );
  const apps = await Promise.all(links.map((link) => connectApp(link, ECHO)));
  const answers = await Promise.all(links.map(({ mcpUrl }) => callTool(mcpUrl)));
  assert.equal(textsOf(answers, QUOTA_TEXT), 15);
  const usages = await Promise.all(projects.map((project) => money.usage(project)));
  const counted = usages.map((usage) => Number(usage["counted"]));
  assert.equal(
    counted.reduce((a, b) => a + b, 0),
    5,
  );
  assert.deepEqual(
    usages.map((usage) => usage["balanceMicros"]),
    [0, 0],
  );
  await Promise.all(apps.map((app) => app.close()));
});

test("a cap of 0 allows the free calls and nothing else, whatever the balance", async () => {
  const { project, accountId } = await money.project({ spendCapMicros: 0, freeCallsPerMonth: 2 });
  await money.credit(accountId, 100 * PRICE);
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
  }
  assert.equal(textOf(await callTool(link.mcpUrl)), CAP_TEXT);
  await app.close();
});

test("a negative balance never blocks free calls, and a raised cap counts at once", async () => {
  const { project, accountId } = await money.project({ freeCallsPerMonth: 2, spendCapMicros: 0 });
  await money.credit(accountId, -7 * PRICE);
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
  }
  assert.equal(textOf(await callTool(link.mcpUrl)), CAP_TEXT);
  const raised = await relay.rest("PATCH", "/v1/project", project.secretKey, {
    spendCapMicros: 10 * PRICE,
  });
  assert.equal(raised.status, 200);
  assert.equal(textOf(await callTool(link.mcpUrl)), QUOTA_TEXT);
  await money.credit(accountId, 8 * PRICE);
  assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
  assert.equal((await money.usage(project))["balanceMicros"], 0);
  await app.close();
});

test("calls at a new price are billed at it, and those before it are not", async () => {
  const { project, accountId } = await money.project({ freeCallsPerMonth: 1 });
  await money.credit(accountId, 100 * PRICE);
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  const call = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) await callTool(link.mcpUrl);
  };
  await call(3);
  await project.change({ priceMicrosPerCall: 5 * PRICE });
  await call(2);
  await project.change({ freeCallsPerMonth: 6 });
  await call(2);
  const usage = await money.usage(project);
  assert.equal(usage["spentMicros"], (2 + 2 * 5 + 5) * PRICE);
  assert.deepEqual([usage["counted"], usage["allowance"], usage["allowanceLeft"]], [7, 6, 0]);
  await app.close();
});

test("a call whose row is late keeps its place, also once its answer is out, and is billed once", async () => {
  const { project, accountId } = await money.project({ freeCallsPerMonth: 1 });
  await money.credit(accountId, PRICE);
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
  const blockade = new Blockade(relay.dataDir);
  try {
    // It is answered after a second without its row, and its credit is taken all the same.
    assert.equal((await callTool(link.mcpUrl)).message["result"].isError, false);
    assert.equal(textOf(await callTool(link.mcpUrl)), QUOTA_TEXT);
  } finally {
    blockade.end();
  }
  const deadline = Date.now() + 30_000;
  while ((await money.usage(project))["counted"] !== 2 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const usage = await money.usage(project);
  assert.deepEqual([usage["counted"], usage["balanceMicros"]], [2, 0]);
  assert.equal(textOf(await callTool(link.mcpUrl)), QUOTA_TEXT);
  await app.close();
});
