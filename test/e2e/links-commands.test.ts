/** What an app, and its developer over REST, may do to a link (SPEC 5 and 9). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { TestApp, callTool, connectApp, helloOf, openRelay, post, textOf } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink, TestProject } from "./harness.ts";

const relay = await openRelay({ RELAY_COMMANDS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

const PAUSED = "Notes is paused in the app. Resume it there and try again.";
const LOST =
  "The relay lost the connection to Notes while running the tool; it may or may not have completed.";
const SILENT: AppBehaviour = { onCall: () => null };
const ANSWERING: AppBehaviour = {
  onCall: () => ({ type: "result", content: [{ type: "text", text: "done" }] }),
};
const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

type Stage = { readonly project: TestProject; readonly link: TestLink; readonly app: TestApp };

async function stage(behaviour: AppBehaviour = ANSWERING): Promise<Stage> {
  const project = await relay.project();
  const link = await project.link();
  return { project, link, app: await connectApp(link, behaviour) };
}

/** One REST action on a link, with the project's secret key or another. */
function act(
  { project, link }: Pick<Stage, "project" | "link">,
  action: string,
  key = project.secretKey,
): Promise<{ status: number; body: JsonObject }> {
  return relay.rest("POST", `/v1/links/${link.linkId}/${action}`, key);
}

async function codeOf(link: TestLink): Promise<number> {
  const app = new TestApp(link.socketUrl);
  await app.opened();
  app.send(helloOf(link));
  return (await app.closed).code;
}

test("an app's rotate gives it a new URL under its id; the old one is unknown at once", async () => {
  const { link, app } = await stage();
  for (const id of ["r1", "\u{1f600}".repeat(64)]) {
    app.send({ type: "link.rotate", id });
    const rotated = await app.next("link.rotated");
    assert.deepEqual(rotated, { type: "link.rotated", id, mcpUrl: rotated["mcpUrl"] });
    assert.match(rotated["mcpUrl"], /\/v1\/mcp\/ut_[0-9A-Za-z]{32}$/);
    assert.equal(textOf(await callTool(rotated["mcpUrl"])), "done");
    assert.equal((await post(link.mcpUrl, PING)).status, 404);
  }
  const urls = app.frames.filter(({ type }) => type === "link.rotated").map(({ mcpUrl }) => mcpUrl);
  assert.equal(new Set([link.mcpUrl, ...urls]).size, 3);
  assert.equal((await post(urls[0], PING)).status, 404, "the one in between too");
  await app.close();
});

test("a rotation leaves calls in flight alone", async () => {
  const { project, link, app } = await stage(SILENT);
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  app.send({ type: "link.rotate", id: "r1" });
  await app.next("link.rotated");
  app.send({ type: "result", id, content: [{ type: "text", text: "late but right" }] });
  assert.equal(textOf(await waiting), "late but right");
  assert.equal((await project.calls())[0]?.["outcome"], "ok");
  await app.close();
});

test("an app's pause refuses calls until it resumes; those in flight finish", async () => {
  const { project, link, app } = await stage(SILENT);
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  app.send({ type: "link.pause", id: "p1" });
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "p1", paused: true });
  const refused = await callTool(link.mcpUrl);
  assert.equal(textOf(refused), PAUSED);
  assert.equal(refused.message["result"].isError, true);
  app.send({ type: "result", id, content: [{ type: "text", text: "finished" }] });
  assert.equal(textOf(await waiting), "finished");
  app.send({ type: "link.pause", id: "p2" });
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "p2", paused: true });
  app.send({ type: "link.resume", id: "p3" });
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "p3", paused: false });
  const again = callTool(link.mcpUrl);
  const call = await app.next("call");
  app.send({ type: "result", id: call["id"], content: [{ type: "text", text: "resumed" }] });
  assert.equal(textOf(await again), "resumed");
  const rows = await project.calls();
  assert.deepEqual(
    rows.map(({ outcome, counted }) => [outcome, counted]),
    [
      ["ok", true],
      ["paused", false],
      ["ok", true],
    ],
  );
  await app.close();
});

test("an app's revoke is confirmed, closes with 4410 and ends the link for good", async () => {
  const { project, link, app } = await stage(SILENT);
  const waiting = callTool(link.mcpUrl);
  await app.next("call");
  app.send({ type: "link.revoke", id: "x1" });
  assert.deepEqual(await app.closed, { code: 4410, reason: "the link was revoked" });
  assert.deepEqual(app.frames.at(-1), { type: "link.revoked", id: "x1" });
  assert.equal(textOf(await waiting), LOST);
  const [row] = await project.calls();
  assert.deepEqual([row?.["outcome"], row?.["counted"]], ["disconnected", false]);
  assert.equal((await post(link.mcpUrl, PING)).status, 404);
  assert.equal(await codeOf(link), 4401);
  const view = await relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
  assert.equal(view.body["revoked"], true);
});

test("a command that can't be stored is answered with internal under its id, and not done", async () => {
  const { link, app } = await stage();
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"));
  db.exec("BEGIN IMMEDIATE");
  app.send({ type: "link.pause", id: "p1" });
  const error = await app.next("error");
  db.exec("ROLLBACK");
  db.close();
  assert.deepEqual(error, {
    type: "error",
    id: "p1",
    code: "internal",
    message: "the relay could not carry out the command; try again",
  });
  assert.equal(textOf(await callTool(link.mcpUrl)), "done");
  app.send({ type: "link.pause", id: "p2" });
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: "p2", paused: true });
  await app.close();
});

test("the developer's actions reach a connected app with id null", async () => {
  const { project, link, app } = await stage(SILENT);
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  const { linkId } = link;

  const paused = await act({ project, link }, "pause");
  assert.deepEqual([paused.status, paused.body], [200, { linkId, paused: true }]);
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: null, paused: true });
  assert.equal(textOf(await callTool(link.mcpUrl)), PAUSED);
  const resumed = await act({ project, link }, "resume");
  assert.deepEqual([resumed.status, resumed.body], [200, { linkId, paused: false }]);
  assert.deepEqual(await app.next("link.state"), { type: "link.state", id: null, paused: false });

  const rotated = await act({ project, link }, "rotate");
  assert.deepEqual([rotated.status, rotated.body], [200, { linkId }], "the URL is the person's");
  const told = await app.next("link.rotated");
  assert.deepEqual(told, { type: "link.rotated", id: null, mcpUrl: told["mcpUrl"] });
  assert.equal((await post(link.mcpUrl, PING)).status, 404);
  assert.equal((await post(told["mcpUrl"], PING)).status, 200);
  app.send({ type: "result", id, content: [{ type: "text", text: "untouched" }] });
  assert.equal(textOf(await waiting), "untouched");

  const last = callTool(told["mcpUrl"]);
  await app.next("call");
  const revoked = await act({ project, link }, "revoke");
  assert.deepEqual([revoked.status, revoked.body], [200, { linkId, revoked: true }]);
  assert.equal((await app.closed).code, 4410);
  assert.deepEqual(app.frames.at(-1), { type: "link.revoked", id: null });
  assert.equal(textOf(await last), LOST);
  assert.equal((await post(told["mcpUrl"], PING)).status, 404);
});

test("rotate returns the URL for links made with a secret key alone", async () => {
  const project = await relay.project();
  const made = await relay.rest("POST", "/v1/links", project.secretKey, {});
  const link = made.body as TestLink;
  const { status, body } = await act({ project, link }, "rotate");
  assert.deepEqual([status, body], [200, { linkId: link.linkId, mcpUrl: body["mcpUrl"] }]);
  assert.equal((await post(body["mcpUrl"], PING)).status, 200);
  assert.equal((await post(link.mcpUrl, PING)).status, 404);
});

test("a link that is paused while its app is away is paused when the app comes back", async () => {
  const project = await relay.project();
  const link = await project.link();
  await act({ project, link }, "pause");
  const app = await connectApp(link, ANSWERING);
  assert.equal(app.frames[0]?.["paused"], true);
  assert.equal(textOf(await callTool(link.mcpUrl)), PAUSED);
  await app.close();
  assert.equal(textOf(await callTool(link.mcpUrl)), PAUSED, "paused is said before offline");
  await act({ project, link }, "resume");
  const again = await connectApp(link, ANSWERING);
  assert.equal(again.frames[0]?.["paused"], false);
  assert.equal(textOf(await callTool(link.mcpUrl)), "done");
  await again.close();
});

test("a revoked link takes no action but to be revoked again", async () => {
  const project = await relay.project();
  const link = await project.link();
  for (let times = 0; times < 2; times += 1) {
    const { status, body } = await act({ project, link }, "revoke");
    assert.deepEqual([status, body], [200, { linkId: link.linkId, revoked: true }]);
  }
  for (const action of ["rotate", "pause", "resume"]) {
    const { status, body } = await act({ project, link }, action);
    assert.deepEqual([status, body["error"].code], [409, "LINK_REVOKED"], action);
  }
});

test("another project's key finds none of the links, whatever it asks of them", async () => {
  const { project, link, app } = await stage();
  const other = await relay.project();
  const path = `/v1/links/${link.linkId}`;
  for (const action of ["rotate", "pause", "resume", "revoke"]) {
    const { status, body } = await act({ project, link }, action, other.secretKey);
    assert.deepEqual([status, body["error"].code], [404, "NOT_FOUND"], action);
    const asPublic = await act({ project, link }, action, project.publishableKey);
    assert.equal(asPublic.status, 401, "a publishable key may not");
  }
  for (const at of [path, "/v1/links/none", `/v1/links/${link.linkId.toUpperCase()}`]) {
    assert.equal((await relay.rest("GET", at, other.secretKey)).status, 404);
  }
  assert.equal((await relay.rest("GET", path, null)).status, 401);
  assert.equal((await relay.rest("GET", path, relay.operatorToken)).status, 401);
  assert.equal(textOf(await callTool(link.mcpUrl)), "done", "and nothing happened to them");
  assert.deepEqual(
    app.frames.map(({ type }) => type),
    ["ready", "call"],
  );
  await app.close();
});

test("a link is shown with what is known of it", async () => {
  const { project, link, app } = await stage();
  const path = `/v1/links/${link.linkId}`;
  const clientInfo = { name: "example-host", version: "1.0.0" };
  await post(link.mcpUrl, {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await callTool(link.mcpUrl);
  const look = (): Promise<{ status: number; body: JsonObject }> =>
    relay.rest("GET", path, project.secretKey);
  let { status, body } = await look();
  // The last client is written a little later, with others.
  for (let tries = 0; body["client"] === null && tries < 300; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    ({ status, body } = await look());
  }
  assert.equal(status, 200);
  const { createdAt, lastSeenAt, lastCallAt } = body;
  for (const time of [createdAt, lastSeenAt, lastCallAt]) {
    assert.equal(new Date(time).toISOString(), time);
  }
  assert.deepEqual(body, {
    linkId: link.linkId,
    label: null,
    connected: true,
    paused: false,
    revoked: false,
    createdAt,
    lastSeenAt,
    lastCallAt,
    app: { name: "Notes", version: "1.4.2" },
    client: clientInfo,
    tools: 1,
    warnings: [],
    trial: false,
  });
  await app.close();
  const fresh = await project.link("Ada");
  const never = await relay.rest("GET", `/v1/links/${fresh.linkId}`, project.secretKey);
  assert.deepEqual(never.body, {
    ...body,
    linkId: fresh.linkId,
    label: "Ada",
    connected: false,
    createdAt: never.body["createdAt"],
    lastSeenAt: null,
    lastCallAt: null,
    app: null,
    client: null,
    tools: 0,
  });
});
