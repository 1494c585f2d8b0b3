/** The operator's API: projects and their keys (SPEC 9). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { connectApp, openRelay } from "./harness.ts";
import type { JsonObject } from "./harness.ts";

const relay = await openRelay({ RELAY_CALLS_PER_MINUTE: "77" });
after(() => relay[Symbol.asyncDispose]());

const PROJECTS = "/v1/operator/projects";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NOBODY = "01990000-0000-7000-8000-000000000000";

type Answer = { readonly status: number; readonly body: JsonObject };

/** One request with the operator's token. */
function ask(method: string, path: string, body?: unknown): Promise<Answer> {
  return relay.rest(method, path, relay.operatorToken, body);
}

function refusalOf({ status, body }: Answer): readonly [number, unknown, unknown] {
  return [status, body["error"]?.code, body["error"]?.message];
}

test("a new project comes with its first keys and the settings it starts with", async () => {
  const { status, body } = await ask("POST", PROJECTS, { name: "Notes", extra: 1 });
  assert.equal(status, 201);
  const { projectId, accountId, createdAt, publishableKey, secretKey } = body;
  assert.deepEqual(body, {
    projectId,
    accountId,
    name: "Notes",
    callsPerMinute: 77,
    allowedOrigins: [],
    suspended: false,
    stopped: false,
    freeCallsPerMonth: 1_000,
    priceMicrosPerCall: 1_000,
    spendCapMicros: 10_000_000,
    createdAt,
    publishableKey,
    secretKey,
  });
  assert.match(projectId, UUID);
  assert.match(accountId, UUID);
  assert.equal(new Date(createdAt).toISOString(), createdAt);
  assert.match(publishableKey, /^pk_[0-9A-Za-z]{32}$/);
  assert.match(secretKey, /^sk_[0-9A-Za-z]{32}$/);
  const { publishableKey: _pk, secretKey: _sk, ...project } = body;
  assert.deepEqual((await ask("GET", `${PROJECTS}/${projectId}`)).body, project);
});

test("every setting can be given to a new project; the operator's own account has room", async () => {
  const settings = {
    name: "\u{1f600}".repeat(64),
    callsPerMinute: 6000,
    allowedOrigins: ["https://app.example.com", "tauri://localhost"],
    freeCallsPerMonth: null,
    priceMicrosPerCall: 0,
    spendCapMicros: null,
  };
  const first = await ask("POST", PROJECTS, settings);
  for (const [name, value] of Object.entries(settings)) {
    assert.deepEqual(first.body[name], value);
  }
  const { accountId } = first.body;
  for (let count = 0; count < 10; count += 1) {
    const more = await ask("POST", PROJECTS, { name: `${count}`, accountId });
    assert.deepEqual([more.status, more.body["accountId"]], [201, accountId]);
  }
  const nobody = await ask("POST", PROJECTS, { name: "a", accountId: NOBODY });
  assert.deepEqual(refusalOf(nobody), [
    400,
    "VALIDATION_ERROR",
    "accountId: there is no such account",
  ]);
});

test("any other account may have ten projects", async () => {
  const accountId = "01990000-0000-7000-8000-000000000001";
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"), { timeout: 1000 });
  const sql = "INSERT INTO accounts (account_id, is_operator, created_at) VALUES (?, 0, 0)";
  db.prepare(sql).run(accountId);
  db.close();
  const create = (): Promise<Answer> => ask("POST", PROJECTS, { name: "a", accountId });
  for (let count = 0; count < 10; count += 1) assert.equal((await create()).status, 201);
  assert.deepEqual(refusalOf(await create()), [
    403,
    "LIMIT_REACHED",
    "The account has 10 projects",
  ]);
});

const RATE = "callsPerMinute: must be a whole number from 1 to 6000";
const ORIGIN =
  "allowedOrigins.0: must be an exact origin such as https://app.example.com, without a path or a wildcard";

const WRONG_SETTINGS: readonly (readonly [JsonObject, string])[] = [
  [{ name: 5 }, "name: must be a string"],
  [{ name: "" }, "name: must be 1 to 64 characters"],
  [{ name: "x".repeat(65) }, "name: must be 1 to 64 characters"],
  [{ name: "a\u0000" }, "name: must not hold a NUL character"],
  [{ callsPerMinute: 0 }, RATE],
  [{ callsPerMinute: 6001 }, RATE],
  [{ callsPerMinute: 1.5 }, RATE],
  [{ callsPerMinute: "60" }, RATE],
  [{ callsPerMinute: null }, RATE],
  [{ allowedOrigins: "https://a.example" }, "allowedOrigins: must be an array of origins"],
  [{ allowedOrigins: [5] }, "allowedOrigins.0: must be a string"],
  [{ allowedOrigins: ["https://*.example"] }, ORIGIN],
  [{ allowedOrigins: ["https://a.example/"] }, ORIGIN],
  [{ allowedOrigins: ["a.example"] }, ORIGIN],
  [{ allowedOrigins: ["*"] }, ORIGIN],
  [
    { allowedOrigins: Array(101).fill("https://a.example") },
    "allowedOrigins: must hold at most 100 origins",
  ],
];

test("wrong settings are named, for a new project, a change and the developer's own change", async () => {
  const project = await relay.project();
  const path = `${PROJECTS}/${project.projectId}`;
  const before = (await ask("GET", path)).body;
  for (const [wrong, message] of WRONG_SETTINGS) {
    const expected = [400, "VALIDATION_ERROR", message];
    assert.deepEqual(refusalOf(await ask("POST", PROJECTS, { name: "a", ...wrong })), expected);
    assert.deepEqual(refusalOf(await ask("PATCH", path, wrong)), expected);
    const own = await relay.rest("PATCH", "/v1/project", project.secretKey, wrong);
    assert.deepEqual(refusalOf(own), expected);
  }
  assert.deepEqual(refusalOf(await ask("POST", PROJECTS)), [
    400,
    "VALIDATION_ERROR",
    "name: must be a string",
  ]);
  assert.deepEqual(refusalOf(await ask("PATCH", path, { suspended: "yes" })), [
    400,
    "VALIDATION_ERROR",
    "suspended: must be true or false",
  ]);
  assert.deepEqual((await ask("GET", path)).body, before, "nothing of it was done");
});

test("a change changes what it names and nothing else, and holds at once", async () => {
  const project = await relay.project();
  const path = `${PROJECTS}/${project.projectId}`;
  const before = (await ask("GET", path)).body;
  const changed = await ask("PATCH", path, { name: "Diary", callsPerMinute: 5 });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, { ...before, name: "Diary", callsPerMinute: 5 });
  assert.deepEqual((await ask("PATCH", path, {})).body, changed.body);
  assert.deepEqual(
    (await ask("PATCH", path, { stopped: true, projectId: NOBODY })).body,
    changed.body,
  );
  assert.deepEqual((await ask("GET", path)).body, changed.body);
  const own = await relay.rest("GET", "/v1/project", project.secretKey);
  assert.deepEqual(own.body, changed.body, "the developer sees the same");
});

test("a project that is not there is not found", async () => {
  const { keyId } = (
    await ask("POST", `${PROJECTS}/${(await relay.project()).projectId}/keys`, { kind: "pk" })
  ).body;
  for (const id of [NOBODY, "none", "..%2f", NOBODY.toUpperCase()]) {
    const path = `${PROJECTS}/${id}`;
    for (const [method, at] of [
      ["GET", path],
      ["PATCH", path],
      ["GET", `${path}/keys`],
      ["POST", `${path}/keys`],
      ["DELETE", `${path}/keys/${keyId}`],
    ] as const) {
      const body = method === "GET" || method === "DELETE" ? undefined : { kind: "pk" };
      assert.deepEqual(
        refusalOf(await ask(method, at, body)),
        [404, "NOT_FOUND", "No such project"],
        `${method} ${at}`,
      );
    }
  }
});

test("the operator's API takes the operator's token and no other", async () => {
  const project = await relay.project();
  const wrong = [null, project.secretKey, project.publishableKey, `op_${"0".repeat(32)}`, "op_"];
  for (const key of wrong) {
    for (const path of [
      PROJECTS,
      `${PROJECTS}/${project.projectId}`,
      `${PROJECTS}/${NOBODY}/keys`,
    ]) {
      const answer = await relay.rest("GET", path, key);
      assert.deepEqual(refusalOf(answer), [
        401,
        "UNAUTHORIZED",
        "Missing or invalid operator token",
      ]);
    }
  }
  const asDeveloper = await ask("GET", "/v1/project");
  assert.deepEqual(refusalOf(asDeveloper), [401, "UNAUTHORIZED", "Missing or invalid secret key"]);
});

test("projects are listed a page at a time, the newest first", async () => {
  await using small = await openRelay();
  const made: unknown[] = [];
  for (let count = 0; count < 5; count += 1) made.unshift((await small.project()).projectId);
  const listed: unknown[] = [];
  let cursor: string | null = "";
  let pages = 0;
  while (cursor !== null) {
    const query: string = cursor === "" ? "?limit=2" : `?limit=2&cursor=${cursor}`;
    const page: Answer = await small.rest("GET", PROJECTS + query, small.operatorToken);
    assert.deepEqual(Object.keys(page.body), ["items", "nextCursor"]);
    assert.ok(page.body["items"].length <= 2);
    for (const { projectId } of page.body["items"]) listed.push(projectId);
    cursor = page.body["nextCursor"];
    pages += 1;
  }
  assert.deepEqual(listed, made);
  assert.equal(pages, 3);
});

test("a project has as many live keys as it needs; each is shown whole once", async () => {
  const project = await relay.project();
  const path = `${PROJECTS}/${project.projectId}/keys`;
  const made = await ask("POST", path, { kind: "sk" });
  assert.equal(made.status, 201);
  const { keyId, key, createdAt } = made.body;
  assert.match(key, /^sk_[0-9A-Za-z]{32}$/);
  assert.deepEqual(made.body, {
    keyId,
    kind: "sk",
    prefix: "sk_",
    last4: key.slice(-4),
    createdAt,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    key,
  });
  const later = await ask("POST", path, { kind: "pk", expiresAt: "2100-01-01T00:00:00Z" });
  assert.equal(later.body["expiresAt"], "2100-01-01T00:00:00.000Z");
  for (const live of [project.secretKey, key]) {
    assert.equal((await relay.rest("GET", "/v1/project", live)).status, 200);
  }
  for (const live of [project.publishableKey, later.body["key"], key]) {
    assert.equal((await relay.rest("POST", "/v1/links", live)).status, 201);
  }
  const listed = await ask("GET", path);
  assert.equal(listed.body["nextCursor"], null);
  assert.equal(listed.body["items"].length, 4);
  const text = JSON.stringify(listed.body);
  for (const secret of [project.secretKey, key]) assert.ok(!text.includes(secret));
  const shown = listed.body["items"].find((item: JsonObject) => item["keyId"] === keyId);
  assert.deepEqual({ ...shown, lastUsedAt: null }, { ...made.body, key: null });
});

test("the last use of a key is shown", async () => {
  const project = await relay.project();
  const path = `${PROJECTS}/${project.projectId}/keys`;
  await relay.rest("GET", "/v1/project", project.secretKey);
  const usesOf = async (): Promise<JsonObject> => {
    const { body } = await ask("GET", path);
    return Object.fromEntries(
      body["items"].map(({ kind, lastUsedAt }: JsonObject) => [kind, lastUsedAt]),
    );
  };
  let uses = await usesOf();
  // It is written a little later, with others.
  for (let tries = 0; uses["sk"] === null && tries < 300; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    uses = await usesOf();
  }
  assert.ok(Math.abs(Date.parse(uses["sk"]) - Date.now()) < 60_000);
  assert.equal(uses["pk"], null);
});

test("a revoked key and one that expired open nothing; the others go on", async () => {
  const project = await relay.project();
  const path = `${PROJECTS}/${project.projectId}/keys`;
  const revoked = (await ask("POST", path, { kind: "sk" })).body;
  const expiresAt = new Date(Date.now() + 700).toISOString();
  const expiring = (await ask("POST", path, { kind: "sk", expiresAt })).body;
  const statusOf = async (key: string): Promise<number> =>
    (await relay.rest("GET", "/v1/project", key)).status;
  assert.equal(await statusOf(revoked["key"]), 200);
  assert.equal(await statusOf(expiring["key"]), 200);
  const gone = await ask("DELETE", `${path}/${revoked["keyId"]}`);
  assert.deepEqual([gone.status, gone.body], [200, { keyId: revoked["keyId"], revoked: true }]);
  assert.equal(await statusOf(revoked["key"]), 401);
  while (Date.now() <= Date.parse(expiresAt))
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await statusOf(expiring["key"]), 401);
  assert.equal(await statusOf(project.secretKey), 200);
  const other = await relay.project();
  for (const at of [
    `${path}/${revoked["keyId"]}`,
    `${path}/${NOBODY}`,
    `${path}/none`,
    `${PROJECTS}/${other.projectId}/keys/${expiring["keyId"]}`,
  ]) {
    assert.deepEqual(refusalOf(await ask("DELETE", at)), [404, "NOT_FOUND", "No such key"], at);
  }
});

test("a key has a kind and an end in the right form", async () => {
  const { projectId } = await relay.project();
  const path = `${PROJECTS}/${projectId}/keys`;
  const time = "expiresAt: must be an ISO 8601 time in UTC";
  const wrong: readonly (readonly [JsonObject, string])[] = [
    [{}, "kind: must be pk or sk"],
    [{ kind: "op" }, "kind: must be pk or sk"],
    [{ kind: "pk", expiresAt: "tomorrow" }, time],
    [{ kind: "pk", expiresAt: 1_900_000_000_000 }, time],
    [{ kind: "pk", expiresAt: "2100-01-01" }, time],
    [{ kind: "pk", expiresAt: "2100-02-30T00:00:00Z" }, time],
  ];
  for (const [body, message] of wrong) {
    assert.deepEqual(refusalOf(await ask("POST", path, body)), [400, "VALIDATION_ERROR", message]);
  }
  assert.equal((await ask("POST", path, { kind: "pk", expiresAt: null })).status, 201);
});

test("a developer may stop a project, which disables it as a suspension does", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  const own = (body: unknown): Promise<Answer> =>
    relay.rest("PATCH", "/v1/project", project.secretKey, body);
  const stopped = await own({ stopped: true, suspended: true });
  assert.deepEqual([stopped.body["stopped"], stopped.body["suspended"]], [true, false]);
  assert.equal((await app.closed).code, 4423);
  const create = (): Promise<Answer> => relay.rest("POST", "/v1/links", project.publishableKey);
  assert.deepEqual(refusalOf(await create()), [
    403,
    "PROJECT_SUSPENDED",
    "The project is suspended",
  ]);
  await project.change({ suspended: true });
  await own({ stopped: false });
  assert.equal((await create()).status, 403, "each has a switch of its own");
  await project.change({ suspended: false });
  assert.equal((await create()).status, 201);
});
