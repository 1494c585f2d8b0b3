/** Alerts on their way to a developer: outbox, signature, retries (SPEC 10). */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { ECHO, callTool, connectApp, openRelay } from "./harness.ts";
import type { JsonObject, TestProject, TestRelay } from "./harness.ts";
import { Money } from "./money-harness.ts";

const PATIENCE_MS = 30_000;
const PRICE = 1_000;

type Arrival = {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
};

/** A receiver on this machine that answers with the given statuses, one after the other, then 204. */
class Receiver {
  readonly arrivals: Arrival[] = [];
  readonly #server: Server;
  readonly #statuses: number[];

  private constructor(statuses: readonly number[], location: string | null) {
    this.#statuses = [...statuses];
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const status = this.#statuses.shift() ?? 204;
        this.arrivals.push({
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
          status,
        });
        response.writeHead(status, location === null ? {} : { Location: location });
        response.end();
      });
    });
  }

  static async open(statuses: readonly number[] = [], location: string | null = null) {
    const receiver = new Receiver(statuses, location);
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    // Bound above, so its address has a port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/relay`;
  }

  async arrived(count: number): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.arrivals.length < count) {
      assert.ok(Date.now() < deadline, `${this.arrivals.length} of ${count} requests arrived`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const SETTINGS = {
  RELAY_BILLING: "prepaid",
  RELAY_PRICE_MICROS_PER_CALL: String(PRICE),
  RELAY_LOW_BALANCE_MICROS: "2000",
  RELAY_WEBHOOK_PRIVATE_ADDRESSES: "on",
  RELAY_WEBHOOK_RETRY_SECONDS: "0.1",
  RELAY_WEBHOOK_TIMEOUT_SECONDS: "5",
};
const relay = await openRelay(SETTINGS);
after(() => relay[Symbol.asyncDispose]());
const money = new Money(relay);

async function setWebhook(project: TestProject, change: JsonObject, on: TestRelay = relay) {
  const answer = await on.rest("PATCH", "/v1/webhook", project.secretKey, change);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

async function deliveries(project: TestProject, on: TestRelay = relay): Promise<JsonObject[]> {
  const answer = await on.rest("GET", "/v1/webhook/deliveries", project.secretKey);
  return answer.body["items"] as JsonObject[];
}

/** Waits until no event of the project waits. */
async function settledDeliveries(project: TestProject): Promise<JsonObject[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const all = await deliveries(project);
    if (all.every((event) => event["state"] !== "waiting")) return all;
    assert.ok(Date.now() < deadline, JSON.stringify(all));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function verified(secret: string, { headers, body }: Arrival): JsonObject {
  const named = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [
      name,
      String(headers[name]),
    ]),
  );
  return new Webhook(secret).verify(body, named) as JsonObject;
}

test("a receiver that fails twice gets the same event a third time, signed as the standard says", async () => {
  using receiver = await Receiver.open([500, 503]);
  const { project } = await money.project();
  const { secret } = await setWebhook(project, { url: receiver.url });
  assert.match(String(secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
  const sent = await relay.rest("POST", "/v1/webhook/test", project.secretKey);
  assert.equal(sent.status, 201);
  await receiver.arrived(3);
  const ids = receiver.arrivals.map(({ headers }) => headers["webhook-id"]);
  assert.deepEqual(ids, [sent.body["id"], sent.body["id"], sent.body["id"]]);
  for (const arrival of receiver.arrivals) {
    assert.equal(verified(secret, arrival)["type"], "webhook.test");
    assert.equal(arrival.headers["content-type"], "application/json");
  }
  const [first] = receiver.arrivals;
  assert.ok(first !== undefined);
  assert.throws(() => verified(secret, { ...first, body: `${first.body} ` }), /signature/i);
  const [event] = await settledDeliveries(project);
  assert.deepEqual(
    [event?.["state"], event?.["attempts"], event?.["lastStatus"], event?.["nextAttemptAt"]],
    ["delivered", 3, 204, null],
  );
});

test("each threshold of allowance, cap and balance is told once, with its numbers", async () => {
  using receiver = await Receiver.open();
  const { project, accountId } = await money.project({
    freeCallsPerMonth: 10,
    spendCapMicros: 10 * PRICE,
  });
  await money.credit(accountId, 10 * PRICE);
  const { secret } = await setWebhook(project, { url: receiver.url });
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < 22; n += 1) await callTool(link.mcpUrl);
  await receiver.arrived(7);
  const events = receiver.arrivals.map((arrival) => verified(secret, arrival));
  const told = events.map(({ type, data }) => [type, data.percent ?? null]);
  assert.deepEqual(
    told.toSorted((a, b) => String(a).localeCompare(String(b))),
    [
      ["allowance.reached", 100],
      ["allowance.reached", 50],
      ["allowance.reached", 80],
      ["balance.low", null],
      ["spend_cap.reached", 100],
      ["spend_cap.reached", 50],
      ["spend_cap.reached", 80],
    ],
  );
  const half = events.find(({ type, data }) => type === "spend_cap.reached" && data.percent === 50);
  assert.deepEqual(half?.["data"], {
    projectId: project.projectId,
    projectName: "Notes",
    month: new Date().toISOString().slice(0, 7),
    percent: 50,
    spentMicros: 5 * PRICE,
    spendCapMicros: 10 * PRICE,
  });
  const low = events.find(({ type }) => type === "balance.low");
  assert.deepEqual(
    [low?.["data"].balanceMicros, low?.["data"].lowBalanceMicros],
    [PRICE, 2 * PRICE],
  );
  const listed = await settledDeliveries(project);
  assert.equal(listed.length, 7);
  const ofHalf = listed.find((event) => event["data"].spentMicros === 5 * PRICE);
  assert.deepEqual(ofHalf?.["data"], half?.["data"]);
  await app.close();
});

test("a redirect is not followed", async () => {
  using target = await Receiver.open();
  using receiver = await Receiver.open([302, 302], target.url);
  const { project } = await money.project();
  await setWebhook(project, { url: receiver.url });
  await relay.rest("POST", "/v1/webhook/test", project.secretKey);
  await receiver.arrived(3);
  assert.deepEqual(
    receiver.arrivals.map(({ status }) => status),
    [302, 302, 204],
  );
  assert.deepEqual(target.arrivals, []);
});

test("what waits when Relay stops is sent by the next one, to where events go by then", async () => {
  using receiver = await Receiver.open();
  await using first = await openRelay({ ...SETTINGS, RELAY_WEBHOOK_RETRY_SECONDS: "0.5" });
  const { project } = await new Money(first).project();
  // Nobody listens there.
  await setWebhook(project, { url: "http://127.0.0.1:9/closed" }, first);
  const { body } = await first.rest("POST", "/v1/webhook/test", project.secretKey);
  const deadline = Date.now() + PATIENCE_MS;
  while ((await deliveries(project, first))[0]?.["attempts"] === 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [event] = await deliveries(project, first);
  assert.deepEqual(
    [event?.["state"], event?.["lastError"]],
    ["waiting", "the connection was refused"],
  );
  const { secret } = await setWebhook(project, { url: receiver.url }, first);
  await first.stop();
  const second = await openRelay(SETTINGS, first.dataDir);
  await receiver.arrived(1);
  const [arrival] = receiver.arrivals;
  assert.ok(arrival !== undefined);
  verified(secret, arrival);
  assert.equal(arrival.headers["webhook-id"], body["id"]);
  await second.stop();
});

test("addresses of this machine and of private networks are refused unless the operator allows them", async () => {
  using receiver = await Receiver.open();
  await using strict = await openRelay({ RELAY_WEBHOOK_RETRY_SECONDS: "0.1" });
  const project = await strict.project();
  const refused = async (url: unknown): Promise<string> => {
    const answer = await strict.rest("PATCH", "/v1/webhook", project.secretKey, { url });
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    return String(answer.body["error"].message);
  };
  assert.equal(await refused(receiver.url), "url: must begin with https://");
  const hidden = "url: must not be an address of this machine or of a private network";
  for (const host of [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0x7f.1",
  ]) {
    assert.equal(await refused(`https://${host}/`), hidden, host);
  }
  assert.match(await refused("https://user:pass@example.com/"), /must not hold a user/);
  assert.match(await refused("nonsense"), /must be a URL/);
  assert.match(await refused(7), /must be a URL or null/);
  // A name is looked up when it is used: this one leads here.
  const port = new URL(receiver.url).port;
  const named = `https://localhost:${port}/`;
  assert.equal(
    (await strict.rest("PATCH", "/v1/webhook", project.secretKey, { url: named })).status,
    200,
  );
  await strict.rest("POST", "/v1/webhook/test", project.secretKey);
  const deadline = Date.now() + PATIENCE_MS;
  while ((await deliveries(project, strict))[0]?.["attempts"] === 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [event] = await deliveries(project, strict);
  assert.equal(
    event?.["lastError"],
    "the host is an address of this machine or of a private network",
  );
  assert.deepEqual(receiver.arrivals, []);
});

test("the secret is shown when it is made, never again, and belongs to its project alone", async () => {
  using receiver = await Receiver.open();
  const [one, two] = [await money.project(), await money.project()];
  const webhook = (project: TestProject) => relay.rest("GET", "/v1/webhook", project.secretKey);
  assert.deepEqual((await webhook(one.project)).body, { url: null });
  const none = await relay.rest("POST", "/v1/webhook/test", one.project.secretKey);
  assert.deepEqual([none.status, none.body["error"].code], [409, "CONFLICT"]);
  const { secret } = await setWebhook(one.project, { url: receiver.url });
  assert.deepEqual(await setWebhook(one.project, { url: receiver.url }), { url: receiver.url });
  const changed = await setWebhook(one.project, { newSecret: true });
  assert.notEqual(changed["secret"], secret);
  assert.deepEqual((await webhook(one.project)).body, { url: receiver.url });
  assert.deepEqual((await webhook(two.project)).body, { url: null });
  await relay.rest("POST", "/v1/webhook/test", one.project.secretKey);
  assert.equal((await settledDeliveries(one.project)).length, 1);
  assert.deepEqual(await deliveries(two.project), []);
  assert.deepEqual(await setWebhook(one.project, { url: null }), { url: null });
  const log = relay.log.join("");
  assert.ok(!log.includes(String(secret)) && !log.includes(String(changed["secret"])));
});
