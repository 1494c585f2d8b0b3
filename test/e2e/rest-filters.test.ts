/** Links by whose they are, calls by the host that made them, and accounts by their owner. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { META_KEYS } from "../../packages/protocol/src/index.ts";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { ECHO, callTool, connectApp } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard();
after(() => desk[Symbol.asyncDispose]());
let oona: Visitor;
let ada: Visitor;

before(async () => {
  oona = await desk.operator();
  ada = await desk.visitor("ada");
});

async function projectOf(visitor: Visitor, name: string): Promise<JsonObject> {
  const made = await visitor.ask("POST", "/api/projects", { name });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body;
}

test("trial links are found whatever their label, and people's links without them", async () => {
  const keys = await projectOf(ada, "Trials");
  const path = `/api/projects/${keys["projectId"]}`;
  const made = async (label: string): Promise<string> =>
    (await ada.ask("POST", `${path}/trial-links`, { label })).body["linkId"];
  const trials = [await made("A phone"), await made("Trial")];
  const persons = await desk.relay.rest("POST", "/v1/links", keys["publishableKey"], {
    label: "Trial of mine",
  });
  const idsOf = async (query: string): Promise<unknown[]> => {
    const bySession = await ada.ask("GET", `${path}/links?sort=label&${query}`);
    const byKey = await desk.relay.rest("GET", `/v1/links?sort=label&${query}`, keys["secretKey"]);
    assert.deepEqual([bySession.status, byKey.status], [200, 200]);
    assert.deepEqual(bySession.body, byKey.body);
    return bySession.body["items"].map((link: JsonObject) => link["linkId"]);
  };
  assert.deepEqual(await idsOf("trial=true"), trials);
  assert.deepEqual(await idsOf("trial=false"), [persons.body["linkId"]]);
  assert.deepEqual(await idsOf(""), [...trials, persons.body["linkId"]]);
  assert.deepEqual(await idsOf("trial=true&label=trial"), trials.slice(1));
  assert.deepEqual(await idsOf("trial=false&state=online"), []);
  const first = await ada.ask("GET", `${path}/links?sort=label&trial=true&limit=1`);
  const cursor = encodeURIComponent(first.body["nextCursor"]);
  const next = await ada.ask("GET", `${path}/links?sort=label&trial=true&cursor=${cursor}`);
  assert.deepEqual([next.body["items"].length, next.body["items"][0].linkId], [1, trials[1]]);
  const wrong = await ada.ask("GET", `${path}/links?trial=yes`);
  assert.deepEqual(
    [wrong.status, wrong.body["error"].message],
    [400, "trial: must be true or false"],
  );
});

test("calls are listed by the host that made them, and the hosts are named, the busiest first", async () => {
  const keys = await projectOf(ada, "Hosts");
  const path = `/api/projects/${keys["projectId"]}`;
  assert.deepEqual((await ada.ask("GET", `${path}/clients`)).body, { items: [] });
  const link = (await desk.relay.rest("POST", "/v1/links", keys["publishableKey"], {}))
    .body as TestLink;
  const app = await connectApp(link, ECHO);
  const long = "\u{1f600}".repeat(64);
  for (const name of ["Claude & Co <b>", long, long, "claude & co <b>"]) {
    const meta = { [META_KEYS.clientInfo]: { name, version: "1" } };
    const answer = await callTool(link.mcpUrl, "search_notes", { query: "a" }, { _meta: meta });
    assert.equal(answer.status, 200);
  }
  const namesOf = async (query: string): Promise<unknown[]> => {
    const { status, body } = await ada.ask("GET", `${path}/calls?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body["items"].map((call: JsonObject) => call["client"]?.name);
  };
  const by = (name: string): string => `client=${encodeURIComponent(name)}`;
  assert.deepEqual(await namesOf(by("Claude & Co <b>")), ["Claude & Co <b>"]);
  assert.deepEqual(await namesOf(by(long)), [long, long]);
  assert.deepEqual(await namesOf(`${by(long)}&outcome=offline`), []);
  assert.deepEqual(await namesOf(by("Claude")), [], "a name is whole");
  const first = await ada.ask("GET", `${path}/calls?${by(long)}&limit=1`);
  const cursor = encodeURIComponent(first.body["nextCursor"]);
  assert.deepEqual(await namesOf(`${by(long)}&limit=1&cursor=${cursor}`), [long]);
  const named = await desk.relay.rest("GET", "/v1/clients", keys["secretKey"]);
  assert.deepEqual(named.body["items"], [
    { name: long, calls: 2 },
    { name: "Claude & Co <b>", calls: 1 },
    { name: "claude & co <b>", calls: 1 },
  ]);
  assert.deepEqual((await ada.ask("GET", `${path}/clients?to=2020-01-01`)).body, { items: [] });
  for (const [query, message] of [
    [`calls?${by("x".repeat(65))}`, "client: must be at most 64 characters"],
    ["clients?from=2026-02-01&to=2026-01-01", "from: must be before to"],
  ]) {
    const { status, body } = await ada.ask("GET", `${path}/${query}`);
    assert.deepEqual([status, body["error"]?.message], [400, message]);
  }
  assert.equal((await oona.ask("GET", `${path}/clients`)).status, 404);
  await app.close();
});

test("the operator sees each account and project with its name and its owner", async () => {
  const project = await projectOf(ada, "Owned");
  const bare = await desk.relay.rest("POST", "/v1/operator/accounts", desk.relay.operatorToken);
  const renamed = await ada.ask("PATCH", `/api/accounts/${ada.accountId}`, { name: "Ada & Söhne" });
  assert.equal(renamed.status, 200);
  const { body } = await oona.ask("GET", "/api/operator/accounts");
  const shown = new Map<string, JsonObject>(
    body["items"].map((account: JsonObject) => [account["accountId"], account]),
  );
  const owner = { name: "ada", email: "ada@example.com" };
  assert.deepEqual(
    [shown.get(ada.accountId)?.["name"], shown.get(ada.accountId)?.["owner"]],
    ["Ada & Söhne", owner],
  );
  assert.equal(shown.get(oona.accountId)?.["owner"].email, "operator@example.com");
  assert.deepEqual(shown.get(bare.body["accountId"]), bare.body);
  assert.deepEqual([bare.body["name"], bare.body["owner"]], ["", null]);
  const alone = await oona.ask("GET", `/api/operator/accounts/${ada.accountId}`);
  assert.deepEqual(alone.body, shown.get(ada.accountId));
  const projects = await oona.ask("GET", "/api/operator/projects");
  const listed = projects.body["items"].find(
    (one: JsonObject) => one["projectId"] === project["projectId"],
  );
  assert.deepEqual(listed.account, { name: "Ada & Söhne", owner });
  assert.deepEqual([listed.freeCallsPerMonth, listed.priceMicrosPerCall], [1_000, 1_000]);
});

test("the API's description has the filters and what they are", async () => {
  const { body } = await desk.relay.rest("GET", "/openapi.json", null);
  const parameterOf = (path: string, name: string): JsonObject =>
    body["paths"][path].get.parameters.find((one: JsonObject) => one["name"] === name);
  const trial = parameterOf("/v1/links", "trial");
  assert.deepEqual([trial["in"], trial["required"]], ["query", false]);
  assert.match(JSON.stringify(trial), /to try the app/);
  assert.match(JSON.stringify(parameterOf("/v1/calls", "client")), /host that called/);
  assert.ok(parameterOf("/v1/clients", "from"));
  const { Account, ListedProject } = body["components"]["schemas"];
  assert.ok("owner" in Account.properties && "name" in Account.properties);
  assert.match(JSON.stringify(ListedProject), /"account"/);
});
