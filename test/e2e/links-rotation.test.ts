/** An app never holds a dead URL: a rotation it has not confirmed is told again (SPEC 5). */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { after, test } from "node:test";
import { connectApp, helloOf, openRelay, post } from "./harness.ts";
import type { JsonObject, TestLink, TestProject, TestRelay } from "./harness.ts";
import { OPCODES, RawApp } from "./socket-client.ts";

const relay = await openRelay({ RELAY_PING_INTERVAL_SECONDS: "0.2" });
after(() => relay[Symbol.asyncDispose]());

const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** What is kept sealed for a link: null once it is erased. */
function sealed(link: TestLink, at: TestRelay = relay): Uint8Array | null {
  const db = new DatabaseSync(join(at.dataDir, "relay.db"), { readOnly: true });
  const row = db.prepare("SELECT sealed_url FROM links WHERE link_id = ?").get(link.linkId);
  db.close();
  assert.ok(row !== undefined);
  const { sealed_url: kept } = row;
  assert.ok(kept === null || kept instanceof Uint8Array);
  return kept ?? null;
}

async function untilErased(link: TestLink): Promise<void> {
  for (let tries = 0; sealed(link) !== null && tries < 500; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(sealed(link), null);
}

async function rotate(project: TestProject, link: TestLink): Promise<void> {
  const path = `/v1/links/${link.linkId}/rotate`;
  assert.equal((await project.relay.rest("POST", path, project.secretKey)).status, 200);
}

/** Connects an app that answers no pings; returns it with what it was told by a ping's time. */
async function tight(link: TestLink): Promise<{ app: RawApp; told: JsonObject[] }> {
  const app = await RawApp.open(link.socketUrl);
  app.send(helloOf(link));
  app.send({ type: "ping" });
  const told: JsonObject[] = [];
  for (let frame = await app.next(); frame["type"] !== "pong"; frame = await app.next()) {
    told.push(frame);
  }
  assert.equal(told.shift()?.["type"], "ready", "ready comes first");
  return { app, told };
}

test("a rotation while the app is away is told after ready, and again until a pong says it came", async () => {
  const project = await relay.project();
  const link = await project.link();
  assert.equal(sealed(link), null);
  await rotate(project, link);
  assert.notEqual(sealed(link), null);
  let mcpUrl = "";
  for (let times = 0; times < 2; times += 1) {
    const { app, told } = await tight(link);
    mcpUrl = told[0]?.["mcpUrl"];
    assert.deepEqual(told, [{ type: "link.rotated", id: null, mcpUrl }]);
    assert.equal((await post(mcpUrl, PING)).status, 200);
    app.destroy();
    await app.ended;
  }
  assert.notEqual(sealed(link), null, "no pong has come");
  const app = await connectApp(link);
  assert.deepEqual(await app.next("link.rotated"), { type: "link.rotated", id: null, mcpUrl });
  await untilErased(link);
  await app.close();
  const { app: later, told } = await tight(link);
  assert.deepEqual(told, [], "and then it is told no more");
  later.destroy();
});

test("a connected app that answers no pings is told again when it comes back", async () => {
  const project = await relay.project();
  const link = await project.link();
  const { app } = await tight(link);
  app.send({ type: "link.rotate", id: "r1" });
  const { mcpUrl, id } = await app.next();
  assert.equal(id, "r1");
  // A pong to a ping that only keeps the connection alive proves nothing.
  await app.pinged(2);
  for (const ping of app.pings.filter(({ length }) => length === 0)) app.frame(OPCODES.pong, ping);
  app.frame(OPCODES.pong, "1234");
  app.send({ type: "ping" });
  assert.equal((await app.next())["type"], "pong");
  assert.notEqual(sealed(link), null);
  app.destroy();
  await app.ended;
  const again = await tight(link);
  assert.deepEqual(again.told, [{ type: "link.rotated", id: null, mcpUrl }]);
  again.app.destroy();
});

test("the pong to an earlier rotation does not erase the later one", async () => {
  const project = await relay.project();
  const link = await project.link();
  const { app } = await tight(link);
  const asked = (): Buffer[] => app.pings.filter(({ length }) => length > 0);
  await rotate(project, link);
  await app.next();
  await rotate(project, link);
  const { mcpUrl } = await app.next();
  while (asked().length < 2) await app.pinged(app.pings.length + 1);
  const [first = "", second = ""] = asked();
  app.frame(OPCODES.pong, first);
  app.send({ type: "ping" });
  assert.equal((await app.next())["type"], "pong");
  assert.notEqual(sealed(link), null);
  app.frame(OPCODES.pong, second);
  await untilErased(link);
  assert.equal((await post(mcpUrl, PING)).status, 200);
  app.destroy();
});

test("the URL is sealed with a key outside the database, and outlives a restart", async () => {
  const first = await openRelay();
  const project = await first.project();
  const link = await project.link();
  await rotate(project, link);
  const kept = sealed(link, first);
  assert.ok(kept !== null && !Buffer.from(kept).toString("latin1").includes("ut_"));
  await first.stop();
  {
    const other = await openRelay({ RELAY_SEAL_KEY: "0".repeat(64) }, first.dataDir);
    const moved = { ...link, socketUrl: `ws://127.0.0.1:${other.port}/v1/socket` };
    const { app, told } = await tight(moved);
    assert.deepEqual(told, [], "another key opens nothing");
    app.destroy();
    await other.stop();
  }
  await using second = await openRelay({}, first.dataDir);
  const moved = { ...link, socketUrl: `ws://127.0.0.1:${second.port}/v1/socket` };
  const { app, told } = await tight(moved);
  const path = new URL(told[0]?.["mcpUrl"]).pathname;
  assert.equal((await post(`http://127.0.0.1:${second.port}${path}`, PING)).status, 200);
  app.destroy();
});
