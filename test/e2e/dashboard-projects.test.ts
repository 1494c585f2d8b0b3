/** Projects and keys as their developers look after them in the dashboard. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import { ECHO, TestApp, callTool, connectApp, helloOf, textOf } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const desk = await openDashboard({ RELAY_CALLS_PER_MINUTE: "6000" });
after(() => desk[Symbol.asyncDispose]());
let ada: Visitor;
let eve: Visitor;

before(async () => {
  ada = await desk.visitor("ada");
  eve = await desk.visitor("eve");
});

type Answer = { readonly status: number; readonly body: JsonObject };

function refusalOf({ status, body }: Answer): readonly [number, unknown, unknown] {
  return [status, body["error"]?.code, body["error"]?.message];
}

async function project(owner: Visitor, name = "Notes"): Promise<JsonObject> {
  const made = await owner.ask("POST", "/api/projects", { name });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body;
}

test("a visitor makes a project in their own account and sees it with their role", async () => {
  const made = await project(ada, "Mine");
  assert.equal(made["accountId"], ada.accountId);
  assert.match(made["publishableKey"], /^pk_/);
  assert.match(made["secretKey"], /^sk_/);
  const { items } = (await ada.ask("GET", "/api/projects")).body;
  const { publishableKey: _pk, secretKey: _sk, ...shown } = made;
  assert.deepEqual(
    items.find(({ projectId }: JsonObject) => projectId === made["projectId"]),
    { ...shown, role: "owner" },
  );
  const others = await eve.ask("GET", "/api/projects");
  assert.ok(!JSON.stringify(others.body).includes(made["projectId"]));
  const foreign = await eve.ask("POST", "/api/projects", { name: "a", accountId: ada.accountId });
  assert.deepEqual(refusalOf(foreign), [404, "NOT_FOUND", "No such account"]);
  for (const body of [{}, { name: "" }, { name: "a".repeat(65) }, { name: 1 }]) {
    assert.equal((await ada.ask("POST", "/api/projects", body)).status, 400);
  }
});

test("an account has ten projects at most; a deleted one makes room", async () => {
  const bob = await desk.visitor("bob");
  const made = [];
  for (let count = 0; count < 10; count += 1) made.push(await project(bob, `p${count}`));
  const eleventh = await bob.ask("POST", "/api/projects", { name: "p10" });
  assert.deepEqual(refusalOf(eleventh), [403, "LIMIT_REACHED", "The account has 10 projects"]);
  const [first] = made;
  await bob.ask("DELETE", `/api/projects/${first?.["projectId"]}`, { name: "p0" });
  await project(bob, "p10");
});

test("what a project's secret key does under /v1 its session does under /api", async () => {
  const { projectId, secretKey } = await project(ada, "Twice");
  const path = `/api/projects/${projectId}`;
  for (const [keyed, own] of [
    ["/v1/project", path],
    ["/v1/links", `${path}/links`],
    ["/v1/calls?limit=2", `${path}/calls?limit=2`],
    ["/v1/usage", `${path}/usage`],
    ["/v1/hours?from=2026-01-01&to=2026-01-02", `${path}/hours?from=2026-01-01&to=2026-01-02`],
    ["/v1/latency?from=2026-01-01&to=2026-01-02", `${path}/latency?from=2026-01-01&to=2026-01-02`],
  ] as const) {
    const byKey = await desk.relay.rest("GET", keyed, secretKey);
    assert.equal(byKey.status, 200, keyed);
    assert.deepEqual((await ada.ask("GET", own)).body, byKey.body, keyed);
  }
  const changed = await ada.ask("PATCH", path, { name: "Renamed", stopped: true });
  assert.deepEqual([changed.status, changed.body["stopped"]], [200, true]);
  assert.equal((await desk.relay.rest("GET", "/v1/project", secretKey)).body["name"], "Renamed");
  // The operator's flag is not the developer's to lift.
  const lifted = await ada.ask("PATCH", path, { suspended: false });
  assert.equal(lifted.body["suspended"], false);
});

test("to delete a project its name is typed; then all of it is gone at once", async () => {
  const { projectId, publishableKey, secretKey } = await project(ada, "Käse \u{1f9c0}");
  const path = `/api/projects/${projectId}`;
  const made = await desk.relay.rest("POST", "/v1/links", publishableKey, {});
  const link = made.body as TestLink;
  const app = await connectApp(link, ECHO);
  assert.match(textOf(await callTool(link.mcpUrl)), /invoices/);
  for (const body of [{}, { name: "käse \u{1f9c0}" }, { name: 1 }]) {
    assert.equal((await ada.ask("DELETE", path, body)).status, 400);
  }
  assert.equal((await ada.ask("GET", path)).status, 200);
  const deleted = await ada.ask("DELETE", path, { name: "Käse \u{1f9c0}" });
  assert.deepEqual([deleted.status, deleted.body], [200, { projectId, deleted: true }]);
  assert.deepEqual(await app.closed, { code: 4410, reason: "the link was revoked" });
  assert.deepEqual(app.frames.at(-1), { type: "link.revoked", id: null });
  assert.equal((await callTool(link.mcpUrl)).status, 404);
  assert.equal((await desk.relay.rest("GET", "/v1/project", secretKey)).status, 401);
  assert.equal((await desk.relay.rest("POST", "/v1/links", publishableKey, {})).status, 401);
  assert.equal((await ada.ask("GET", path)).status, 404);
  assert.equal((await ada.ask("DELETE", path, { name: "Käse \u{1f9c0}" })).status, 404);
  const again = await connectRefused(link);
  assert.equal(again.code, 4401);
  await eventually(() => {
    assert.deepEqual(leftOf(projectId), { calls: 0, call_hours: 0, links: 0, keys: 0 });
  });
});

test("a project is deleted while calls run: each ends as disconnected, and Relay goes on", async () => {
  const doomed = await project(ada, "Doomed");
  const kept = await project(ada, "Kept");
  const linkOf = async (key: string) =>
    (await desk.relay.rest("POST", "/v1/links", key, {})).body as TestLink;
  const links = [];
  for (let count = 0; count < 4; count += 1) links.push(await linkOf(doomed["publishableKey"]));
  const other = await linkOf(kept["publishableKey"]);
  // These never answer.
  const apps = [];
  for (const link of links) apps.push(await connectApp(link));
  await connectApp(other, ECHO);
  const running = links.flatMap((link) => [callTool(link.mcpUrl), callTool(link.mcpUrl)]);
  for (const app of apps) {
    await app.next("call");
    await app.next("call");
  }
  const path = `/api/projects/${doomed["projectId"]}`;
  const [deleted, ...others] = await Promise.all([
    ada.ask("DELETE", path, { name: "Doomed" }),
    ...Array.from({ length: 20 }, () => callTool(other.mcpUrl)),
  ]);
  assert.equal(deleted.status, 200);
  for (const answer of others) assert.match(textOf(answer), /invoices/);
  for (const call of running) assert.match(textOf(await call), /lost the connection to Notes/);
  for (const app of apps) assert.equal((await app.closed).code, 4410);
  assert.match(textOf(await callTool(other.mcpUrl)), /invoices/);
  assert.deepEqual(
    desk.relay.log.filter((line) => /"level":(?:50|60)|"level":"(?:error|fatal)"/.test(line)),
    [],
  );
});

test("what a deleted project has cost stays in its account's books", async () => {
  await using paid = await openDashboard({
    RELAY_BILLING: "prepaid",
    RELAY_FREE_CALLS_PER_MONTH: "0",
  });
  const bob = await paid.visitor("bob");
  const asOperator = (method: string, path: string, body?: unknown) =>
    paid.relay.rest(method, `/v1/operator${path}`, paid.relay.operatorToken, body);
  const account = `/accounts/${bob.accountId}`;
  await asOperator("POST", `${account}/credits`, {
    amountMicros: 10_000,
    sourceKey: "one",
    note: "",
  });
  const { body } = await bob.ask("POST", "/api/projects", { name: "Paid" });
  const made = await paid.relay.rest("POST", "/v1/links", body["publishableKey"], {});
  const link = made.body as TestLink;
  await connectApp(link, ECHO);
  for (let count = 0; count < 3; count += 1) {
    assert.match(textOf(await callTool(link.mcpUrl)), /invoices/);
  }
  const books = async () => (await asOperator("GET", `${account}/ledger`)).body["items"];
  const asTheyWere = await books();
  assert.deepEqual(
    asTheyWere.map(({ amountMicros }: JsonObject) => amountMicros).toSorted(),
    [-3_000, 10_000],
  );
  const path = `/api/projects/${body["projectId"]}`;
  assert.equal((await bob.ask("DELETE", path, { name: "Paid" })).status, 200);
  assert.deepEqual(await books(), asTheyWere);
  const { items } = (await asOperator("GET", "/accounts")).body;
  const shown = items.find(({ accountId }: JsonObject) => accountId === bob.accountId);
  assert.deepEqual([shown["projects"], shown["balanceMicros"]], [0, 7_000]);
});

test("keys are made with an overlap, listed with their last use, and revoked", async () => {
  const { projectId, secretKey } = await project(ada, "Keys");
  const path = `/api/projects/${projectId}/keys`;
  const listed = async () => (await ada.ask("GET", path)).body["items"] as JsonObject[];
  const [old] = (await listed()).filter(({ kind }) => kind === "sk");
  assert.ok(old !== undefined);
  assert.deepEqual([old["key"], old["last4"]], [null, secretKey.slice(-4)]);
  const startedAt = Date.now();
  const made = await ada.ask("POST", path, {
    kind: "sk",
    replaces: old["keyId"],
    overlapHours: 2,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  for (const key of [secretKey, made.body["key"]]) {
    assert.equal((await desk.relay.rest("GET", "/v1/project", key)).status, 200);
  }
  const replaced = (await listed()).find(({ keyId }) => keyId === old["keyId"]);
  const left = Date.parse(replaced?.["expiresAt"]) - startedAt;
  assert.ok(left > 7_190_000 && left < 7_260_000, String(left));
  assert.ok(!JSON.stringify(await listed()).includes(made.body["key"]));
  const revoked = await ada.ask("DELETE", `${path}/${old["keyId"]}`);
  assert.deepEqual(revoked.body, { keyId: old["keyId"], revoked: true });
  assert.equal((await desk.relay.rest("GET", "/v1/project", secretKey)).status, 401);
  assert.equal((await ada.ask("DELETE", `${path}/${old["keyId"]}`)).status, 404);
  await eventually(async () => {
    const used = (await listed()).find(({ keyId }) => keyId === made.body["keyId"]);
    assert.ok(Date.parse(used?.["lastUsedAt"]) >= startedAt - 1);
  });
  const publishable = (await listed()).find(({ kind }) => kind === "pk");
  assert.match(publishable?.["key"], /^pk_[0-9A-Za-z]{32}$/);
});

test("a key that would replace what is not there, or be one too many, is refused", async () => {
  const { projectId } = await project(ada, "Refused keys");
  const path = `/api/projects/${projectId}/keys`;
  const other = `/api/projects/${(await project(ada, "Other keys"))["projectId"]}/keys`;
  const [foreign] = (await ada.ask("GET", other)).body["items"] as JsonObject[];
  const wrong = await ada.ask("POST", path, {
    kind: foreign?.["kind"],
    replaces: foreign?.["keyId"],
  });
  assert.deepEqual(refusalOf(wrong), [
    400,
    "VALIDATION_ERROR",
    "replaces: is not a live key of this kind",
  ]);
  for (const body of [
    { kind: "xx" },
    { kind: "sk", replaces: "1" },
    { kind: "sk", overlapHours: 721 },
    { kind: "sk", overlapHours: -1 },
    { kind: "sk", expiresAt: "soon" },
  ]) {
    assert.equal((await ada.ask("POST", path, body)).status, 400, JSON.stringify(body));
  }
  // Two came with the project.
  for (let count = 2; count < 20; count += 1) {
    assert.equal((await ada.ask("POST", path, { kind: "pk" })).status, 201);
  }
  const late = await ada.ask("POST", path, { kind: "pk" });
  assert.deepEqual(refusalOf(late), [
    403,
    "LIMIT_REACHED",
    "The project has 20 live keys; revoke one first",
  ]);
});

/** What is left in the database of a project. */
function leftOf(projectId: string): JsonObject {
  const db = new DatabaseSync(join(desk.relay.dataDir, "relay.db"), { readOnly: true });
  try {
    const count = (table: string): number =>
      Number(
        db.prepare(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`).get(projectId)?.["n"],
      );
    const day = `calls_${new Date().toISOString().slice(0, 10).replaceAll("-", "")}`;
    return {
      calls: count(day),
      call_hours: count("call_hours"),
      links: count("links"),
      keys: count("keys"),
    };
  } finally {
    db.close();
  }
}

async function connectRefused(link: TestLink): Promise<{ code: number }> {
  const app = new TestApp(link.socketUrl);
  await app.opened();
  app.send(helloOf(link));
  return app.closed;
}

/** Tries a check until it holds, for at most ten seconds. */
async function eventually(check: () => void | Promise<void>): Promise<void> {
  const until = Date.now() + 10_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
