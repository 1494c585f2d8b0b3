/** What of money is asked and set over REST: credits, ledger, usage, settings (SPEC 9, 10). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, textOf } from "./harness.ts";
import type { JsonObject, TestProject } from "./harness.ts";
import { Money } from "./money-harness.ts";

const PRICE = 1_000;
const NOBODY = "01900000-0000-7000-8000-000000000000";

const relay = await openRelay({
  RELAY_BILLING: "prepaid",
  RELAY_FREE_CALLS_PER_MONTH: "3",
  RELAY_PRICE_MICROS_PER_CALL: String(PRICE),
  RELAY_SPEND_CAP_MICROS: "4000",
});
after(() => relay[Symbol.asyncDispose]());
const money = new Money(relay);

const creditsOf = (accountId: string): string => `/v1/operator/accounts/${accountId}/credits`;

async function callTimes(project: TestProject, times: number): Promise<void> {
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  for (let n = 0; n < times; n += 1) await callTool(link.mcpUrl);
  await app.close();
}

async function ledgerOf(project: TestProject, query = ""): Promise<JsonObject> {
  const answer = await relay.rest("GET", `/v1/ledger${query}`, project.secretKey);
  assert.equal(answer.status, 200);
  return answer.body;
}

test("a replayed source key credits once and says so; another use of it is refused", async () => {
  const accountId = await money.account();
  const credit = { amountMicros: 5_000, sourceKey: "checkout:1", note: "invoice 7" };
  const first = await money.operator("POST", creditsOf(accountId), credit);
  assert.equal(first.status, 201);
  const { id, at } = first.body["entry"];
  const entry = {
    id,
    at,
    kind: "grant",
    amountMicros: 5_000,
    projectId: null,
    note: "invoice 7",
    sourceKey: "checkout:1",
  };
  assert.deepEqual(first.body, { entry, booked: true, balanceMicros: 5_000 });
  const again = await money.operator("POST", creditsOf(accountId), { ...credit, note: "again" });
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, { entry, booked: false, balanceMicros: 5_000 });
  const other = await money.account();
  for (const [account, change] of [
    [accountId, { amountMicros: 1 }],
    [other, {}],
  ] as const) {
    const refused = await money.operator("POST", creditsOf(account), { ...credit, ...change });
    assert.deepEqual(
      [refused.status, refused.body["error"].code, refused.body["error"].message],
      [409, "CONFLICT", "sourceKey: was booked for another account or amount"],
    );
  }
  assert.deepEqual(await money.ledger(accountId), [entry]);
  assert.deepEqual(await money.ledger(other), []);
});

test("what can't be a credit is refused with what and where", async () => {
  const accountId = await money.account();
  const refusal = async (body: unknown, account = accountId) => {
    const answer = await money.operator("POST", creditsOf(account), body);
    return [answer.status, answer.body["error"]?.message];
  };
  const good = { amountMicros: 1, sourceKey: "k" };
  const amount =
    "amountMicros: must be a whole number of millionths other than 0, at most 1000000000000000 either way";
  for (const amountMicros of [0, 0.5, "1", null, 1e15 + 1]) {
    assert.deepEqual(await refusal({ ...good, amountMicros }), [400, amount]);
  }
  assert.deepEqual(await refusal({ amountMicros: 1 }), [400, "sourceKey: must be a string"]);
  assert.deepEqual(await refusal({ ...good, sourceKey: "usage:x" }), [
    400,
    "sourceKey: must not begin with usage:",
  ]);
  assert.deepEqual(await refusal({ ...good, sourceKey: "x".repeat(201) }), [
    400,
    "sourceKey: must be 1 to 200 characters",
  ]);
  assert.deepEqual(await refusal({ ...good, kind: "usage" }), [
    400,
    "kind: must be one of purchase, grant, refund, dispute, adjustment",
  ]);
  assert.deepEqual(await refusal(good, NOBODY), [404, "No such account"]);
  assert.deepEqual(await refusal(good, "x"), [404, "No such account"]);
  const { project } = await money.project();
  const asDeveloper = await relay.rest("POST", creditsOf(accountId), project.secretKey, good);
  assert.equal(asDeveloper.status, 401);
});

test("usage says what was counted, what it cost and how many calls are left", async () => {
  const { project, accountId } = await money.project();
  const month = new Date().toISOString().slice(0, 7);
  const fresh = {
    month,
    counted: 0,
    total: 0,
    byOutcome: {},
    days: [],
    allowance: 3,
    allowanceLeft: 3,
    spentMicros: 0,
    spendCapMicros: 4_000,
    balanceMicros: 0,
    callsLeft: 3,
  };
  assert.deepEqual(await money.usage(project), fresh);
  await money.credit(accountId, 10 * PRICE);
  // The cap has room for 4 more calls, and the balance would pay for 10.
  assert.equal((await money.usage(project))["callsLeft"], 3 + 4);
  await callTimes(project, 5);
  const used = await money.usage(project);
  assert.deepEqual(
    [used["counted"], used["allowanceLeft"], used["spentMicros"], used["balanceMicros"]],
    [5, 0, 2 * PRICE, 8 * PRICE],
  );
  assert.equal(used["callsLeft"], 2);
  await relay.rest("PATCH", "/v1/project", project.secretKey, { spendCapMicros: null });
  const uncapped = await money.usage(project);
  assert.deepEqual([uncapped["spendCapMicros"], uncapped["callsLeft"]], [null, 8]);
  await project.change({ freeCallsPerMonth: null });
  const unlimited = await money.usage(project);
  assert.deepEqual([unlimited["allowance"], unlimited["callsLeft"]], [null, null]);
  const past = await money.usage(project, "?month=2020-01");
  assert.deepEqual(
    [past["allowance"], past["spentMicros"], past["balanceMicros"], past["callsLeft"]],
    [null, 0, 8 * PRICE, 0],
  );
});

test("a project sees its account's credits and its own usage, page by page, and no other account's", async () => {
  const { project, accountId } = await money.project({ freeCallsPerMonth: 0 });
  const sibling = await money.projectOf(accountId, { freeCallsPerMonth: 0 });
  const stranger = await money.project();
  await money.credit(accountId, 50 * PRICE);
  await callTimes(project, 2);
  await callTimes(sibling, 3);
  const seen = async (who: TestProject) =>
    ((await ledgerOf(who))["items"] as JsonObject[]).map((entry) => [
      entry["kind"],
      entry["amountMicros"],
      entry["projectId"],
    ]);
  const grant = ["grant", 50 * PRICE, null];
  assert.deepEqual(await seen(project), [["usage", -2 * PRICE, project.projectId], grant]);
  assert.deepEqual(await seen(sibling), [["usage", -3 * PRICE, sibling.projectId], grant]);
  assert.deepEqual(await seen(stranger.project), []);
  assert.equal((await money.ledger(accountId)).length, 3);
  const first = await ledgerOf(project, "?limit=1");
  const second = await ledgerOf(project, `?limit=1&cursor=${String(first["nextCursor"])}`);
  assert.deepEqual(
    [first["items"][0].kind, second["items"][0].kind, second["nextCursor"]],
    ["usage", "grant", null],
  );
  const foreign = await relay.rest("GET", "/v1/ledger", project.publishableKey);
  assert.equal(foreign.status, 401);
  const asDeveloper = await relay.rest(
    "GET",
    `/v1/operator/accounts/${accountId}/ledger`,
    project.secretKey,
  );
  assert.equal(asDeveloper.status, 401);
});

test("a project's money settings are the operator's, but for its cap", async () => {
  const { project } = await money.project();
  const path = `/v1/operator/projects/${project.projectId}`;
  const set = { freeCallsPerMonth: null, priceMicrosPerCall: 7, spendCapMicros: 0 };
  const changed = await money.operator("PATCH", path, set);
  assert.equal(changed.status, 200);
  for (const [name, value] of Object.entries(set)) assert.equal(changed.body[name], value);
  const own = await relay.rest("PATCH", "/v1/project", project.secretKey, {
    spendCapMicros: 9,
    priceMicrosPerCall: 0,
    freeCallsPerMonth: 1,
  });
  assert.deepEqual(
    [own.body["spendCapMicros"], own.body["priceMicrosPerCall"], own.body["freeCallsPerMonth"]],
    [9, 7, null],
  );
  for (const [key, value, message] of [
    ["spendCapMicros", -1, "spendCapMicros: must be a whole number from 0 to 1000000000000000"],
    ["priceMicrosPerCall", null, "priceMicrosPerCall: must be a whole number from 0 to 1000000000"],
    ["freeCallsPerMonth", 0.5, "freeCallsPerMonth: must be a whole number from 0 to 1000000000"],
  ] as const) {
    const refused = await money.operator("PATCH", path, { [key]: value });
    assert.deepEqual([refused.status, refused.body["error"].message], [400, message]);
  }
});

test("accounts are shown and listed with their balances", async () => {
  const accountId = await money.account();
  await money.credit(accountId, -5);
  const { body } = await money.operator("GET", "/v1/operator/accounts?limit=1");
  assert.deepEqual([body["items"][0].accountId, body["items"][0].balanceMicros], [accountId, -5]);
  const shown = await money.operator("GET", `/v1/operator/accounts/${accountId}`);
  assert.deepEqual([shown.status, shown.body], [200, body["items"][0]]);
  const nobody = await money.operator("GET", `/v1/operator/accounts/${NOBODY}`);
  assert.equal(nobody.status, 404);
});

test("in mode quota cap and balance say nothing, and past the allowance there is quota_exceeded", async () => {
  await using quota = await openRelay({ RELAY_BILLING: "quota", RELAY_FREE_CALLS_PER_MONTH: "2" });
  const { project } = await new Money(quota).project({ spendCapMicros: 0 });
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  const texts: string[] = [];
  for (let n = 0; n < 3; n += 1) texts.push(textOf(await callTool(link.mcpUrl)));
  assert.deepEqual(texts.slice(0, 2), ['{"query":"invoices"}', '{"query":"invoices"}']);
  assert.match(texts[2] ?? "", /^Notes is unavailable: allowance used up/);
  const usage = await new Money(quota).usage(project);
  assert.deepEqual(
    [usage["allowanceLeft"], usage["spentMicros"], usage["spendCapMicros"], usage["callsLeft"]],
    [0, 0, null, 0],
  );
  await app.close();
});

test("calls of mode off cost nothing later: the mode that follows begins where it left off", async () => {
  const off = await openRelay();
  const made = await new Money(off).project({ freeCallsPerMonth: 2 });
  const link = await made.project.link();
  let app = await connectApp(link, ECHO);
  for (let n = 0; n < 5; n += 1) await callTool(link.mcpUrl);
  const unlimited = await new Money(off).usage(made.project);
  assert.deepEqual([unlimited["counted"], unlimited["callsLeft"]], [5, null]);
  await app.close();
  await off.stop();
  await using prepaid = await openRelay({ RELAY_BILLING: "prepaid" }, off.dataDir);
  const later = new Money(prepaid);
  const local = (url: string) => url.replace(off.url, prepaid.url);
  await later.credit(made.accountId, 3 * PRICE);
  app = await connectApp(
    { ...link, socketUrl: link.socketUrl.replace(String(off.port), String(prepaid.port)) },
    ECHO,
  );
  await callTool(local(link.mcpUrl));
  const usage = await later.usage(made.project);
  assert.deepEqual(
    [usage["counted"], usage["spentMicros"], usage["balanceMicros"], usage["callsLeft"]],
    [6, PRICE, 2 * PRICE, 2],
  );
  await app.close();
});
