/**
 * What a stranger can do with somebody else's ids: nothing. Goes through the operations that the
 * router has, so that one that is added later is tested too, or fails for what it does not say.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { NEEDS_FRESH, may } from "../../packages/server/src/accounts/roles.ts";
import { needOf } from "../../packages/server/src/api/routes.ts";
import type { Operation } from "../../packages/server/src/api/routes.ts";
import { openDashboard } from "./dashboard-visitor.ts";
import type { Visitor } from "./dashboard-visitor.ts";
import type { JsonObject } from "./harness.ts";

const desk = await openDashboard();
after(() => desk[Symbol.asyncDispose]());
const { operations, addresses } = desk.relay.relay.api;
const origin = new URL(desk.relay.url).origin;

type Ids = Readonly<Record<string, string>>;
type Owned = { readonly ids: Ids; readonly secretKey: string };

let ada: Visitor;
let eve: Visitor;
let oona: Visitor;
let adas: Owned;
let eves: Owned;

before(async () => {
  oona = await desk.operator();
  ada = await desk.visitor("ada");
  eve = await desk.visitor("eve");
  adas = await ownedBy(ada);
  eves = await ownedBy(eve);
});

/** Names in a path that are secrets, and no ids: who has one may use it. */
const SECRETS = new Set(["token"]);

/** What an operation must be sent before it looks at ids that are not in its path's first place. */
const BODIES: Readonly<Record<string, unknown>> = {
  "PATCH /api/accounts/{accountId}/members/{userId}": { role: "developer" },
};

/** One of everything that has an id. */
async function ownedBy(visitor: Visitor): Promise<Owned> {
  const { accountId, userId } = visitor;
  const made = (await visitor.ask("POST", "/api/projects", { name: "Notes" })).body;
  const { projectId, secretKey } = made;
  const path = `/api/projects/${projectId}`;
  const link = await visitor.ask("POST", `${path}/trial-links`, {});
  const keys = await visitor.ask("GET", `${path}/keys`);
  const invitation = await visitor.ask("POST", `/api/accounts/${accountId}/invitations`, {
    role: "developer",
  });
  const ids = {
    accountId,
    userId,
    projectId: String(projectId),
    linkId: String(link.body["linkId"]),
    keyId: String(keys.body["items"][0].keyId),
    invitationId: String(invitation.body["invitationId"]),
  };
  for (const [name, id] of Object.entries(ids)) assert.match(id, /^[\w-]{8,}$/, name);
  return { ids, secretKey };
}

function nameOf({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path}`;
}

function namesIn({ path }: Operation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

function idsIn(operation: Operation): string[] {
  return namesIn(operation).filter((name) => !SECRETS.has(name));
}

/** The operation's path with these ids in it; fails for one that this test knows nothing of. */
function pathOf(operation: Operation, idOf: (name: string) => string | undefined): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const id = SECRETS.has(name) ? "iv_unknown" : idOf(name);
    assert.ok(id !== undefined, `${nameOf(operation)}: say here whose {${name}} is whose`);
    return id;
  });
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

type Sent = { readonly status: number; readonly code: unknown; readonly text: string };

/** Sends one request and reads what a page would; of a stream only that it began. */
async function send(
  operation: Operation,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Sent> {
  const abort = new AbortController();
  const hasBody = operation.method !== "get";
  const response = await fetch(`${desk.relay.url}${path}`, {
    method: operation.method.toUpperCase(),
    headers: { ...(hasBody ? { "Content-Type": "application/json" } : {}), ...headers },
    ...(hasBody ? { body: JSON.stringify(BODIES[nameOf(operation)] ?? {}) } : {}),
    redirect: "manual",
    signal: abort.signal,
  });
  if (path.startsWith("/api/")) {
    const cors = [...response.headers.keys()].filter((name) => name.startsWith("access-control"));
    assert.deepEqual(cors, [], path);
  }
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("application/json")) {
    abort.abort();
    return { status: response.status, code: null, text: "" };
  }
  const text = await response.text();
  const body = JSON.parse(text) as JsonObject;
  return { status: response.status, code: body["error"]?.code, text };
}

const underApi = operations.filter(({ path }) => path.startsWith("/api/"));
const underV1 = operations.filter(({ path }) => path.startsWith("/v1/"));
const ofSessions = underApi.filter(({ by }) => by !== "anyone");
const ofOperator = underApi.filter(({ by }) => by === "operator");

/** What its owner sees of everything, apart from what every request changes. */
async function snapshot(visitor: Visitor, { ids }: Owned): Promise<JsonObject> {
  const seen: JsonObject = {};
  for (const path of [
    `/api/projects/${ids["projectId"]}`,
    `/api/projects/${ids["projectId"]}/links`,
    `/api/projects/${ids["projectId"]}/links?state=revoked`,
    `/api/projects/${ids["projectId"]}/keys`,
    `/api/projects/${ids["projectId"]}/calls`,
    `/api/projects/${ids["projectId"]}/webhook`,
    `/api/accounts/${ids["accountId"]}/members`,
    `/api/accounts/${ids["accountId"]}/invitations`,
    "/api/projects",
  ]) {
    const { status, body } = await visitor.ask("GET", path);
    assert.equal(status, 200, path);
    seen[path] = JSON.parse(
      JSON.stringify(body, (name, value: unknown) => (name === "lastUsedAt" ? null : value)),
    );
  }
  return seen;
}

test("the router has no address under /v1 or /api that is not a known operation", () => {
  const known = new Set(operations.map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ":$1")));
  const others = new Set(
    addresses.map(({ path }) => path).filter((path) => /^\/(?:api|v1)\//.test(path)),
  );
  for (const path of known) others.delete(path);
  // The middleware of all addresses, and what the accounts' own library answers.
  assert.deepEqual([...others].toSorted(), ["/api/*", "/api/auth/*"]);
  assert.ok(underApi.length > 50 && underV1.length > 30);
});

test("each operation under /v1 of a developer or the operator has its twin under /api", () => {
  const twins = new Set(underApi.map(nameOf));
  for (const operation of underV1.filter(({ by }) => by === "developer" || by === "operator")) {
    const path = operation.path
      .replace(/^\/v1\/operator\//, "/api/operator/")
      .replace(/^\/v1\/project$/, "/api/projects/{projectId}")
      .replace(/^\/v1\//, "/api/projects/{projectId}/");
    assert.ok(twins.has(nameOf({ ...operation, path })), nameOf(operation));
  }
});

test("the public description names every operation under /v1 and none of the dashboard's own", async () => {
  const { body } = await desk.relay.rest("GET", "/openapi.json", null);
  const described = Object.entries(body["paths"] as JsonObject).flatMap(([path, methods]) =>
    Object.keys(methods as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const expected = operations.filter((one) => !underApi.includes(one)).map(nameOf);
  assert.deepEqual(described.toSorted(), expected.toSorted());
});

test("what its owner asks for is there: a 404 below is not one of an address that has nothing", async () => {
  for (const operation of ofSessions.filter(({ method }) => method === "get")) {
    const visitor = operation.by === "operator" ? oona : ada;
    const path = pathOf(operation, (name) => adas.ids[name]);
    const { status } = await send(operation, path, visitor.headers());
    assert.equal(status, 200, nameOf(operation));
  }
});

test("another account's session gets 404 for every id on every operation, and changes nothing", async () => {
  const asItWas = await snapshot(ada, adas);
  let tried = 0;
  for (const operation of ofSessions.filter((one) => idsIn(one).length > 0)) {
    const [first, ...more] = idsIn(operation);
    const paths = [pathOf(operation, (name) => adas.ids[name])];
    // Below what is one's own, somebody else's.
    for (const foreign of more) {
      paths.push(
        pathOf(operation, (name) => (name === foreign ? adas : eves).ids[name]),
        pathOf(operation, (name) => (name === first ? eves : adas).ids[name]),
      );
    }
    for (const path of paths) {
      const sent = await send(operation, path, eve.headers());
      assert.deepEqual(
        [sent.status, sent.code],
        [404, "NOT_FOUND"],
        `${nameOf(operation)}\n${path}`,
      );
      tried += 1;
    }
  }
  assert.ok(tried > 50, String(tried));
  assert.deepEqual(await snapshot(ada, adas), asItWas);
});

test("another project's secret key gets 404 for every id on every operation, and changes nothing", async () => {
  const asItWas = await snapshot(ada, adas);
  const ofKeys = underV1.filter(({ by }) => by === "developer");
  for (const operation of ofKeys) {
    const path = pathOf(operation, (name) => adas.ids[name]);
    const sent = await send(operation, path, { Authorization: `Bearer ${eves.secretKey}` });
    if (idsIn(operation).length > 0) {
      assert.deepEqual([sent.status, sent.code], [404, "NOT_FOUND"], nameOf(operation));
    }
    // Whatever is asked for without an id is of the key's own project.
    const theirs = Object.values(adas.ids).filter((id) => sent.text.includes(id));
    assert.deepEqual(theirs, [], nameOf(operation));
  }
  assert.ok(ofKeys.some((operation) => idsIn(operation).length > 0));
  const listed = await desk.relay.rest(
    "GET",
    `/v1/calls?linkId=${adas.ids["linkId"]}`,
    eves.secretKey,
  );
  assert.deepEqual(listed.body["items"], []);
  assert.deepEqual(await snapshot(ada, adas), asItWas);
});

test("an operation without an id shows nothing of another account", async () => {
  for (const operation of ofSessions.filter(
    (one) => one.by === "visitor" && one.method === "get" && namesIn(one).length === 0,
  )) {
    const { text } = await send(operation, operation.path, eve.headers());
    const theirs = Object.values(adas.ids).filter((id) => text.includes(id));
    assert.deepEqual(theirs, [], nameOf(operation));
  }
});

test("for whoever is no operator the operator's addresses are not there", async () => {
  for (const operation of ofOperator) {
    const path = pathOf(operation, (name) => eves.ids[name]);
    const sent = await send(operation, path, eve.headers());
    assert.deepEqual([sent.status, sent.code], [404, "NOT_FOUND"], nameOf(operation));
  }
});

test("without a session, and with a key in its place, nothing under /api answers", async () => {
  const { operatorToken } = desk.relay;
  for (const operation of ofSessions) {
    const path = pathOf(operation, (name) => adas.ids[name]);
    for (const key of [null, adas.secretKey, operatorToken]) {
      const headers = key === null ? {} : { Authorization: `Bearer ${key}` };
      const sent = await send(operation, path, { Origin: origin, ...headers });
      assert.deepEqual([sent.status, sent.code], [401, "UNAUTHORIZED"], nameOf(operation));
    }
  }
});

test("a session opens nothing under /v1", async () => {
  for (const operation of underV1.filter(({ by }) => by !== "anyone")) {
    const path = pathOf(operation, (name) => adas.ids[name]);
    const sent = await send(operation, path, oona.headers());
    assert.deepEqual([sent.status, sent.code], [401, "UNAUTHORIZED"], nameOf(operation));
  }
});

test("nothing is changed for a request that another page could send, or that is no browser's", async () => {
  const asItWas = await snapshot(ada, adas);
  for (const operation of underApi.filter(({ method }) => method !== "get")) {
    const path = pathOf(operation, (name) => adas.ids[name]);
    const { Cookie = "" } = ada.headers();
    for (const from of [undefined, "null", "https://evil.example", `${origin}.evil.example`, ""]) {
      const headers = { Cookie, ...(from === undefined ? {} : { Origin: from }) };
      const sent = await send(operation, path, headers);
      assert.deepEqual(
        [sent.status, sent.code],
        [403, "ORIGIN_NOT_ALLOWED"],
        `${nameOf(operation)} from ${from}`,
      );
    }
  }
  assert.deepEqual(await snapshot(ada, adas), asItWas);
});

test("a method that an address does not have is refused, and no preflight is answered", async () => {
  for (const [path, [first]] of Map.groupBy(underApi, (operation) => operation.path)) {
    assert.ok(first !== undefined);
    const address = pathOf(first, (name) => adas.ids[name]);
    for (const method of ["get", "post", "put", "patch", "delete"]) {
      // A fixed word may stand where another address has an id.
      const has = underApi.some((one) => one.method === method && patternOf(one).test(address));
      if (has) continue;
      const response = await fetch(desk.relay.url + address, {
        method: method.toUpperCase(),
        headers: ada.headers(),
      });
      await response.arrayBuffer();
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.ok(response.headers.get("allow"), path);
    }
    const preflight = await fetch(desk.relay.url + address, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" },
    });
    await preflight.arrayBuffer();
    assert.equal(preflight.status, 403, path);
    const cors = [...preflight.headers.keys()].filter((name) => name.startsWith("access-control"));
    assert.deepEqual(cors, [], path);
  }
});

test("a role that is not enough is told so, on every operation of a project", async () => {
  const bill = await desk.visitor("bill");
  bill.become("billing", ada.accountId);
  const dev = await desk.visitor("dev");
  dev.become("developer", ada.accountId);
  const asItWas = await snapshot(ada, adas);
  const ofProjects = ofSessions.filter(({ path }) => path.startsWith("/api/projects/"));
  let refused = 0;
  for (const operation of ofProjects) {
    const path = pathOf(operation, (name) => adas.ids[name]);
    for (const [visitor, role] of [
      [bill, "billing"],
      [dev, "developer"],
    ] as const) {
      if (may(role, needOf(operation))) continue;
      const sent = await send(operation, path, visitor.headers());
      assert.deepEqual(
        [sent.status, sent.code],
        [403, "FORBIDDEN"],
        `${role} ${nameOf(operation)}`,
      );
      refused += 1;
    }
  }
  assert.ok(refused > 10, String(refused));
  assert.deepEqual(await snapshot(ada, adas), asItWas);
  // The cap is money; the rest of the settings is not.
  const project = `/api/projects/${adas.ids["projectId"]}`;
  const patch = async (visitor: Visitor, body: unknown) =>
    (await visitor.ask("PATCH", project, body)).status;
  assert.equal(await patch(bill, { spendCapMicros: 5 }), 200);
  assert.equal(await patch(bill, { name: "Mine" }), 403);
  assert.equal(await patch(bill, { spendCapMicros: 5, stopped: true }), 403);
  assert.equal(await patch(dev, { spendCapMicros: 5 }), 403);
  assert.equal(await patch(dev, { callsPerMinute: 70 }), 200);
  assert.equal((await ada.ask("GET", project)).body["name"], "Notes");
});

test("what a stolen session must not do wants the password again after fifteen minutes", async () => {
  const old = await desk.visitor("old");
  const owned = await ownedBy(old);
  old.grow();
  oona.grow();
  const asItWas = await snapshot(old, owned);
  let refused = 0;
  for (const operation of ofSessions.filter((one) => NEEDS_FRESH.has(needOf(one)))) {
    const visitor = operation.by === "operator" ? oona : old;
    const path = pathOf(operation, (name) => owned.ids[name]);
    const sent = await send(operation, path, visitor.headers());
    assert.deepEqual([sent.status, sent.code], [403, "REAUTHENTICATION_NEEDED"], nameOf(operation));
    refused += 1;
  }
  assert.ok(refused >= 6, String(refused));
  assert.deepEqual(await snapshot(old, owned), asItWas);
});
