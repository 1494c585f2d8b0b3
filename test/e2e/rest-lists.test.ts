/** What a developer reads with a secret key: links, calls and usage (SPEC 9). */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { callTool, connectApp, openRelay } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink, TestProject } from "./harness.ts";

const relay = await openRelay({ RELAY_LINKS_PER_IP_PER_MINUTE: "100000" });
after(() => relay[Symbol.asyncDispose]());

const ANSWERING: AppBehaviour = {
  onCall: () => ({ type: "result", content: [{ type: "text", text: "done" }] }),
};

/** Every item of a list, a page of `limit` at a time. */
async function all(project: TestProject, path: string, limit: number): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 100; pages += 1) {
    const url: string = `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
    const next: string = cursor === null ? url : `${url}&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await relay.rest("GET", next, project.secretKey);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(Object.keys(body), ["items", "nextCursor"]);
    assert.ok(body["items"].length <= limit);
    items.push(...body["items"]);
    cursor = body["nextCursor"];
    if (cursor === null) return items;
  }
  return assert.fail("a list without an end");
}

async function refusalOf(project: TestProject, path: string): Promise<unknown> {
  const { status, body } = await relay.rest("GET", path, project.secretKey);
  assert.deepEqual([status, body["error"]?.code], [400, "VALIDATION_ERROR"], path);
  return body["error"].message;
}

/** Calls of several outcomes on two links; returns the links and the rows, the newest first. */
async function someCalls(project: TestProject): Promise<{ links: TestLink[]; rows: JsonObject[] }> {
  const [one, two] = [await project.link("one"), await project.link("two")];
  const app = await connectApp(one, ANSWERING);
  const meta = { _meta: { progressToken: 1 } };
  await callTool(one.mcpUrl, "search_notes", { query: "\u00e9" });
  await callTool(one.mcpUrl, "search_notes", {});
  await callTool(one.mcpUrl, "nope", {}, meta);
  await app.close();
  const other = await connectApp(two, ANSWERING);
  await callTool(two.mcpUrl);
  await other.close();
  await callTool(two.mcpUrl);
  // The rows of refused calls are written while nobody waits.
  let rows = await project.calls();
  for (let tries = 0; rows.length < 5 && tries < 300; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    rows = await project.calls();
  }
  assert.equal(rows.length, 5);
  return { links: [one, two], rows };
}

test("a call's row has what SPEC 9 names and nothing of what was said", async () => {
  const project = await relay.project();
  const { links, rows } = await someCalls(project);
  const row = rows.at(-1) ?? {};
  const { id, startedAt, durationMs, requestId } = row;
  assert.match(id, /^c_[0-9A-Za-z]{16}$/);
  assert.match(requestId, /^req_[0-9a-f]{32}$/);
  assert.equal(new Date(startedAt).toISOString(), startedAt);
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
  assert.deepEqual(row, {
    id,
    linkId: links[0]?.linkId,
    tool: "search_notes",
    client: null,
    outcome: "ok",
    counted: true,
    startedAt,
    durationMs,
    requestBytes: Buffer.byteLength('{"query":"\u00e9"}'),
    resultBytes: Buffer.byteLength('[{"type":"text","text":"done"}]'),
    requestId,
  });
});

test("calls are listed newest first, filtered by each of their columns, a page at a time", async () => {
  const project = await relay.project();
  const { links, rows } = await someCalls(project);
  const times = rows.map(({ startedAt }) => Date.parse(startedAt));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ["offline", "ok", "unknown_tool", "invalid_input", "ok"],
  );
  for (const limit of [1, 2, 5, 200]) {
    assert.deepEqual(await all(project, "/v1/calls", limit), rows, `${limit} a page`);
  }
  const [one, two] = links;
  const middle = rows[2]?.["startedAt"];
  const filters: readonly (readonly [string, (row: JsonObject) => boolean])[] = [
    ["outcome=ok", ({ outcome }) => outcome === "ok"],
    ["counted=false", ({ counted }) => counted === false],
    ["counted=true", ({ counted }) => counted === true],
    [`linkId=${two?.linkId}`, ({ linkId }) => linkId === two?.linkId],
    ["tool=nope", ({ tool }) => tool === "nope"],
    ["tool=search_", () => false],
    ["from=2020-01-01", () => true],
    ["to=2020-01-01T12:00:00%2B02:00", () => false],
    [`from=${middle}`, ({ startedAt }) => startedAt >= middle],
    [`to=${middle}`, ({ startedAt }) => startedAt < middle],
    [
      `outcome=ok&linkId=${one?.linkId}&counted=true`,
      ({ outcome, linkId }) => outcome === "ok" && linkId === one?.linkId,
    ],
  ];
  for (const [query, holds] of filters) {
    assert.deepEqual(await all(project, `/v1/calls?${query}`, 1), rows.filter(holds), query);
  }
  const other = await relay.project();
  assert.deepEqual(await all(other, "/v1/calls", 50), []);
  assert.deepEqual(await all(other, `/v1/calls?linkId=${one?.linkId}`, 50), []);
});

test("a query that makes no sense is refused by the name of what is wrong", async () => {
  const project = await relay.project();
  const limit = "limit: must be a whole number from 1 to 200";
  const cursor = "cursor: is not one that this list returned";
  const wrong: readonly (readonly [string, unknown])[] = [
    ["/v1/calls?limit=0", limit],
    ["/v1/calls?limit=201", limit],
    ["/v1/calls?limit=1.5", limit],
    ["/v1/calls?limit=x", limit],
    ["/v1/calls?limit=", limit],
    ["/v1/calls?cursor=x", cursor],
    ["/v1/links?cursor=x", cursor],
    ["/v1/calls?counted=1", "counted: must be true or false"],
    ["/v1/calls?linkId=1", "linkId: must be a link id"],
    ["/v1/calls?from=yesterday", "from: must be an ISO 8601 time"],
    ["/v1/calls?from=1", "from: must be an ISO 8601 time"],
    ["/v1/calls?to=July%204,%202026", "to: must be an ISO 8601 time"],
    ["/v1/calls?to=2026-07-04T00:00:00", "to: must be an ISO 8601 time"],
    ["/v1/calls?from=2026-07-02T00:00:00Z&to=2026-07-01T00:00:00Z", "from: must be before to"],
    [`/v1/calls?tool=${"x".repeat(65)}`, "tool: must be at most 64 characters"],
    ["/v1/usage?month=2026-13", "month: must be a month such as 2026-07"],
    ["/v1/usage?month=26-07", "month: must be a month such as 2026-07"],
    ["/v1/links?state=on", "state: must be online, offline, paused, never or revoked"],
    [
      "/v1/links?sort=name",
      "sort: must be -lastSeenAt, lastSeenAt, -createdAt, createdAt or label",
    ],
  ];
  for (const [path, message] of wrong) assert.equal(await refusalOf(project, path), message, path);
  assert.match(String(await refusalOf(project, "/v1/calls?outcome=fine")), /^outcome: /);
  const links = await relay.rest("GET", "/v1/links?limit=1", project.secretKey);
  assert.equal(links.body["nextCursor"], null);
});

test("a cursor is of use for its own list alone", async () => {
  const project = await relay.project();
  for (let count = 0; count < 2; count += 1) await project.link();
  const { body } = await relay.rest("GET", "/v1/links?limit=1", project.secretKey);
  const cursor = encodeURIComponent(body["nextCursor"]);
  for (const path of ["/v1/calls?", "/v1/links?sort=label&", "/v1/links?sort=createdAt&"]) {
    await refusalOf(project, `${path}cursor=${cursor}`);
  }
});

test("usage counts a month by outcome and by day, and has no bounds in this billing mode", async () => {
  const project = await relay.project();
  await someCalls(project);
  const now = new Date().toISOString();
  const { status, body } = await relay.rest("GET", "/v1/usage", project.secretKey);
  assert.equal(status, 200);
  assert.deepEqual(body, {
    month: now.slice(0, 7),
    counted: 2,
    total: 5,
    byOutcome: { ok: 2, offline: 1, unknown_tool: 1, invalid_input: 1 },
    days: [{ day: now.slice(0, 10), counted: 2, total: 5 }],
    allowance: null,
    allowanceLeft: null,
    spentMicros: 0,
    spendCapMicros: null,
    balanceMicros: 0,
    callsLeft: null,
  });
  const same = await relay.rest("GET", `/v1/usage?month=${now.slice(0, 7)}`, project.secretKey);
  assert.deepEqual(same.body, body);
  const past = await relay.rest("GET", "/v1/usage?month=2020-02", project.secretKey);
  assert.deepEqual(past.body, {
    ...body,
    month: "2020-02",
    counted: 0,
    total: 0,
    byOutcome: {},
    days: [],
  });
});

test("links are listed in each order and state, with part of a label, a page at a time", async () => {
  const project = await relay.project();
  const labels = ["Beta", "alpha", null, "Gamma ray", "\u00c9cole"];
  const links: TestLink[] = [];
  for (const label of labels) links.push(await project.link(label ?? undefined));
  const [beta, alpha, bare, gamma] = links;
  const act = (link: TestLink | undefined, action: string): Promise<unknown> =>
    relay.rest("POST", `/v1/links/${link?.linkId}/${action}`, project.secretKey);
  const online = beta === undefined ? null : await connectApp(beta);
  const away = alpha === undefined ? null : await connectApp(alpha);
  await away?.close();
  await act(alpha, "pause");
  await act(bare, "pause");
  await act(gamma, "revoke");
  const idsOf = async (query: string): Promise<unknown[]> => {
    const pages = await all(project, `/v1/links?${query}`, 1);
    const whole = await all(project, `/v1/links?${query}`, 200);
    assert.deepEqual(pages, whole, query);
    return whole.map(({ linkId }) => links.findIndex((link) => link.linkId === linkId));
  };
  let offline = await idsOf("state=offline&sort=createdAt");
  // The end of a socket takes its moment.
  for (let tries = 0; offline.length < 3 && tries < 100; tries += 1) {
    offline = await idsOf("state=offline&sort=createdAt");
  }
  assert.deepEqual(offline, [1, 2, 4]);
  assert.deepEqual(await idsOf("sort=createdAt"), [0, 1, 2, 4], "revoked ones are left out");
  assert.deepEqual(await idsOf(""), [4, 2, 1, 0], "the newest first");
  assert.deepEqual(await idsOf("sort=label"), [1, 0, 4, 2]);
  assert.deepEqual((await idsOf("sort=-lastSeenAt")).slice(0, 2), [1, 0]);
  assert.deepEqual((await idsOf("sort=lastSeenAt")).slice(2), [0, 1]);
  assert.deepEqual(await idsOf("state=online"), [0]);
  assert.deepEqual(await idsOf("state=paused&sort=createdAt"), [1, 2]);
  assert.deepEqual(await idsOf("state=never&sort=createdAt"), [2, 4]);
  assert.deepEqual(await idsOf("state=revoked"), [3]);
  assert.deepEqual(await idsOf("label=ETA"), [0]);
  assert.deepEqual(await idsOf("label=%C3%A9COLE"), [4]);
  assert.deepEqual(await idsOf("label=gamma&state=revoked"), [3]);
  assert.deepEqual(await idsOf("label=%25"), []);
  const [view] = await all(project, "/v1/links?state=online", 1);
  const shown = await relay.rest("GET", `/v1/links/${beta?.linkId}`, project.secretKey);
  assert.deepEqual(view, shown.body, "a list shows a link as it is shown alone");
  const other = await relay.project();
  assert.deepEqual(await all(other, "/v1/links", 200), []);
  await online?.close();
});

test("a link's label can be changed and taken away until the link is revoked", async () => {
  const project = await relay.project();
  const link = await project.link("first");
  const path = `/v1/links/${link.linkId}`;
  const change = (body: unknown): Promise<{ status: number; body: JsonObject }> =>
    relay.rest("PATCH", path, project.secretKey, body);
  for (const label of ["second", null, "\u{1f600}".repeat(64)]) {
    const { status, body } = await change({ label, paused: true });
    assert.deepEqual([status, body["label"], body["paused"]], [200, label, false]);
    assert.equal((await relay.rest("GET", path, project.secretKey)).body["label"], label);
  }
  for (const label of [5, "", "x".repeat(65)]) {
    const { status, body } = await change({ label });
    assert.deepEqual([status, body["error"].code], [400, "VALIDATION_ERROR"]);
  }
  assert.equal((await change({})).status, 200);
  const other = await relay.project();
  assert.equal((await relay.rest("PATCH", path, other.secretKey, { label: "x" })).status, 404);
  await relay.rest("POST", `${path}/revoke`, project.secretKey);
  const { status, body } = await change({ label: "late" });
  assert.deepEqual([status, body["error"].code], [409, "LINK_REVOKED"]);
});

test("the 1,201st REST request of a project in a minute gets 429 with Retry-After", async () => {
  const [project, other] = [await relay.project(), await relay.project()];
  const head = `Host: localhost\r\nAuthorization: Bearer ${project.secretKey}`;
  const request = (more: string): string => `GET /v1/project HTTP/1.1\r\n${head}${more}\r\n\r\n`;
  // All on one connection, one behind the other.
  const tcp = connect(relay.port, "127.0.0.1");
  tcp.end(request("").repeat(1199) + request("\r\nConnection: close"));
  const answers = await text(tcp);
  assert.equal(answers.split("HTTP/1.1 200 OK\r\n").length - 1, 1200);
  const over = await relay.rest("GET", "/v1/usage", project.secretKey);
  assert.deepEqual([over.status, over.body["error"].code], [429, "RATE_LIMITED"]);
  const wait = Number(over.headers.get("retry-after"));
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60);
  assert.equal((await relay.rest("GET", "/v1/project", other.secretKey)).status, 200);
  assert.equal((await relay.rest("POST", "/v1/links", project.publishableKey)).status, 201);
});
