/** What a developer can see of a link's past: its sockets and its manifests (SPEC 9 and 11). */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, test } from "node:test";
import { dataFolder, serveRelay } from "./config-process.ts";
import { SEARCH_TOOL, connectApp, helloOf, openRelay } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink, TestProject, TestRelay } from "./harness.ts";
import { OPCODES, RawApp } from "./socket-client.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

/** How long the end of a socket may take to be written down. */
const PATIENCE_MS = 10_000;

async function historyOf(
  on: TestRelay,
  { linkId }: TestLink,
  key: string,
): Promise<{ sockets: JsonObject[]; manifests: JsonObject[] }> {
  const { status, body } = await on.rest("GET", `/v1/links/${linkId}/history`, key);
  assert.equal(status, 200);
  return body as { sockets: JsonObject[]; manifests: JsonObject[] };
}

/** The codes and reasons of a link's sockets, the newest first, once so many of them are closed. */
async function closesOf(project: TestProject, link: TestLink, closed: number): Promise<unknown[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { sockets } = await historyOf(relay, link, project.secretKey);
    const ended = sockets.filter((socket) => socket["disconnectedAt"] !== null).length;
    if (ended >= closed || Date.now() > deadline) {
      return sockets.map(({ closeCode, closeReason }) => [closeCode, closeReason]);
    }
    await sleep(10);
  }
}

async function stage(behaviour: AppBehaviour = {}) {
  const project = await relay.project();
  const link = await project.link();
  return { project, link, app: await connectApp(link, behaviour) };
}

test("a link that no app ever connected to has an empty history", async () => {
  const project = await relay.project();
  const history = await historyOf(relay, await project.link(), project.secretKey);
  assert.deepEqual(history, { sockets: [], manifests: [] });
});

test("an open socket has no end; once the app closes it, its code, reason and duration are kept", async () => {
  const { project, link, app } = await stage({ app: { name: "Notes", version: "2.0" } });
  const [open] = (await historyOf(relay, link, project.secretKey)).sockets;
  const { connectedAt, ...rest } = open ?? {};
  assert.equal(connectedAt, new Date(connectedAt).toISOString());
  assert.deepEqual(rest, {
    disconnectedAt: null,
    durationMs: null,
    closeCode: null,
    closeReason: null,
    app: { name: "Notes", version: "2.0" },
  });
  const reason = "é".repeat(61);
  app.socket.close(1000, reason);
  await app.closed;
  assert.deepEqual(await closesOf(project, link, 1), [[1000, reason]]);
  const [ended] = (await historyOf(relay, link, project.secretKey)).sockets;
  const { disconnectedAt, durationMs } = ended ?? {};
  assert.equal(Date.parse(disconnectedAt) - Date.parse(connectedAt), durationMs);
  assert.ok(durationMs >= 0);
});

test("a close without a code, a dropped connection and broken UTF-8 are told apart", async () => {
  const { project, link, app } = await stage();
  app.socket.close();
  await closesOf(project, link, 1);
  (await connectApp(link)).socket.terminate();
  await closesOf(project, link, 2);
  const raw = await RawApp.open(link.socketUrl);
  raw.send(helloOf(link));
  assert.equal((await raw.next())["type"], "ready");
  raw.frame(OPCODES.text, Buffer.from([0xff]));
  assert.deepEqual(await closesOf(project, link, 3), [
    [1007, "invalid UTF-8"],
    [1006, ""],
    [1005, ""],
  ]);
});

test("a takeover, a revocation and too many broken frames are told by Relay's own codes", async () => {
  const { project, link, app } = await stage();
  const newer = await connectApp(link);
  await app.closed;
  assert.deepEqual(await closesOf(project, link, 1), [
    [null, null],
    [4001, "a newer socket took over the link"],
  ]);
  for (let n = 0; n < 11; n += 1) newer.send("{");
  await newer.closed;
  await closesOf(project, link, 2);
  const last = await connectApp(link);
  await relay.rest("POST", `/v1/links/${link.linkId}/revoke`, project.secretKey);
  await last.closed;
  assert.deepEqual(await closesOf(project, link, 3), [
    [4410, "the link was revoked"],
    [4400, "invalid hello or too many invalid frames"],
    [4001, "a newer socket took over the link"],
  ]);
});

test("Relay's own code is kept though the app never answers its close", async () => {
  const { project, link } = await stage();
  const raw = await RawApp.open(link.socketUrl);
  raw.send(helloOf(link));
  assert.equal((await raw.next())["type"], "ready");
  await connectApp(link);
  const [, second] = await closesOf(project, link, 2);
  assert.deepEqual(second, [4001, "a newer socket took over the link"]);
  raw.destroy();
});

test("what changed between two manifests is named, and the same one again is no change", async () => {
  const project = await relay.project();
  const link = await project.link();
  const before = [SEARCH_TOOL, { name: "add_note", inputSchema: { type: "object" } }];
  const silently = { ...SEARCH_TOOL, annotations: { readOnlyHint: false } };
  const now = [{ name: "share_note", inputSchema: { type: "object" } }, silently];
  for (const tools of [before, before, now]) await (await connectApp(link, { tools })).close();
  const { manifests, sockets } = await historyOf(relay, link, project.secretKey);
  assert.deepEqual(
    manifests.map(({ added, removed, changed }) => [added, removed, changed]),
    [
      [["share_note"], ["add_note"], ["search_notes"]],
      [["search_notes", "add_note"], [], []],
    ],
  );
  for (const { hash } of manifests) assert.match(hash, /^[0-9a-f]{64}$/);
  assert.deepEqual(
    manifests.map(({ at }) => at),
    [sockets[0]?.["connectedAt"], sockets[2]?.["connectedAt"]],
  );
});

test("another version or other instructions make a change that names no tool", async () => {
  const { project, link, app } = await stage();
  await app.close();
  await (await connectApp(link, { instructions: "Search first." })).close();
  const [change] = (await historyOf(relay, link, project.secretKey)).manifests;
  assert.deepEqual([change?.["added"], change?.["removed"], change?.["changed"]], [[], [], []]);
});

test("the last 20 sockets and manifests are kept", async () => {
  const project = await relay.project();
  const link = await project.link();
  for (let version = 1; version <= 23; version += 1) {
    await connectApp(link, { app: { name: "Notes", version: `${version}` } });
  }
  const { sockets, manifests } = await historyOf(relay, link, project.secretKey);
  const newest = Array.from({ length: 20 }, (_, back) => `${23 - back}`);
  assert.deepEqual(
    sockets.map(({ app }) => app.version),
    newest,
  );
  assert.equal(manifests.length, 20);
  assert.equal(manifests[0]?.["at"], sockets[0]?.["connectedAt"]);
});

test("a link's history is for its own project's secret key alone", async () => {
  const { project, link } = await stage();
  const other = await relay.project();
  const path = `/v1/links/${link.linkId}/history`;
  const statusOf = async (at: string, key: string | null) =>
    (await relay.rest("GET", at, key)).status;
  assert.equal(await statusOf(path, project.secretKey), 200);
  assert.equal(await statusOf(path, other.secretKey), 404);
  assert.equal(await statusOf(path, project.publishableKey), 401);
  assert.equal(await statusOf(path, null), 401);
  assert.equal(await statusOf("/v1/links/nothing/history", project.secretKey), 404);
});

test("a socket that a stopping Relay closes has 1012; one of a killed Relay ends without a code", async () => {
  const dataDir = dataFolder();
  await using killed = await serveRelay({ RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" });
  const { body: keys } = await killed.rest("POST", "/v1/operator/projects", { name: "Notes" });
  const { body } = await killed.rest("POST", "/v1/links", {}, keys["publishableKey"]);
  const link = body as TestLink;
  const app = await connectApp(link);
  await killed.kill();
  await app.closed;
  const stopped = await openRelay({}, dataDir);
  const lost = await historyOf(stopped, link, keys["secretKey"]);
  assert.deepEqual(
    lost.sockets.map(({ closeCode, disconnectedAt }) => [closeCode, disconnectedAt !== null]),
    [[null, true]],
  );
  const socketUrl = `${stopped.url.replace("http", "ws")}/v1/socket`;
  const again = await connectApp({ ...link, socketUrl });
  await stopped.stop();
  assert.equal((await again.closed).code, 1012);
  await using relayAgain = await openRelay({}, dataDir);
  const { sockets } = await historyOf(relayAgain, link, keys["secretKey"]);
  assert.deepEqual(
    sockets.map(({ closeCode }) => closeCode),
    [1012, null],
  );
});
