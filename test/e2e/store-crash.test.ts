/** A Relay that is killed in the middle of traffic has what it said it has (SPEC 11). */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { dataFolder, serveRelay } from "./config-process.ts";
import type { RelayProcess } from "./config-process.ts";
import {
  ECHO,
  TestApp,
  callTool,
  connectApp,
  helloOf,
  openRelay,
  post,
  textOf,
} from "./harness.ts";
import type { JsonObject, TestLink, TestRelay } from "./harness.ts";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** What Relay has confirmed, in the words of those whom it told. */
class Confirmed {
  /** Request ids of calls whose answer a host has read. */
  readonly calls: string[] = [];
  readonly links: TestLink[] = [];
  readonly rotated = new Map<string, { readonly before: string; readonly now: string }>();
  readonly paused: TestLink[] = [];
  readonly revoked: TestLink[] = [];
  readonly keys: string[] = [];
  readonly revokedKeys: string[] = [];

  get isEnough(): boolean {
    const { links, rotated, paused, revoked, keys, revokedKeys } = this;
    const changes = [links.length, rotated.size, paused.length, revoked.length, keys.length];
    return this.calls.length > 50 && Math.min(...changes, revokedKeys.length) > 3;
  }
}

type Keys = {
  readonly projectId: string;
  readonly publishableKey: string;
  readonly secretKey: string;
};

/** Calls and changes until the process is gone; everything that was answered is written down. */
async function drive(relay: RelayProcess, keys: Keys, confirmed: Confirmed): Promise<void> {
  const create = async (): Promise<TestLink> => {
    const { body } = await relay.rest("POST", "/v1/links", {}, keys.publishableKey);
    return body as TestLink;
  };
  const act = async (link: TestLink, action: string): Promise<JsonObject> => {
    const path = `/v1/links/${link.linkId}/${action}`;
    return (await relay.rest("POST", path, undefined, keys.secretKey)).body;
  };
  const until = async (step: () => Promise<void>): Promise<void> => {
    try {
      for (;;) await step();
    } catch {
      // The process is gone, and what it was asked for last with it.
    }
  };
  const busy = await create();
  const app = await connectApp(busy, ECHO);
  const caller = (): Promise<void> =>
    until(async () => {
      const answer = await callTool(busy.mcpUrl);
      const wasRead = answer.messages.length === 1 && textOf(answer).includes("invoices");
      if (wasRead) confirmed.calls.push(answer.headers.get("x-request-id") ?? "");
      else throw new Error("cut off");
    });
  await Promise.all([
    caller(),
    caller(),
    until(async () => void confirmed.links.push(await create())),
    until(async () => {
      const { body } = await relay.rest("POST", "/v1/links", {}, keys.secretKey);
      const link = body as TestLink;
      const { mcpUrl } = await act(link, "rotate");
      confirmed.rotated.set(link.linkId, { before: link.mcpUrl, now: String(mcpUrl) });
    }),
    until(async () => {
      const [paused, revoked] = [await create(), await create()];
      await act(paused, "pause");
      confirmed.paused.push(paused);
      await act(revoked, "revoke");
      confirmed.revoked.push(revoked);
    }),
    until(async () => {
      const path = `/v1/operator/projects/${keys.projectId}/keys`;
      const [kept, gone] = [
        (await relay.rest("POST", path, { kind: "sk" })).body,
        (await relay.rest("POST", path, { kind: "sk" })).body,
      ];
      confirmed.keys.push(String(kept["key"]));
      await relay.rest("DELETE", `${path}/${gone["keyId"]}`);
      confirmed.revokedKeys.push(String(gone["key"]));
    }),
  ]);
  app.socket.terminate();
}

/** A URL or link of the killed process at the address of the new one. */
function moved(relay: TestRelay, url: string): string {
  const { pathname } = new URL(url);
  return `${url.startsWith("ws") ? relay.url.replace("http", "ws") : relay.url}${pathname}`;
}

async function isThere(relay: TestRelay, mcpUrl: string): Promise<boolean> {
  return (await post(moved(relay, mcpUrl), PING)).status === 200;
}

async function helloCode(relay: TestRelay, link: TestLink): Promise<number> {
  const app = new TestApp(moved(relay, link.socketUrl));
  await app.opened();
  app.send(helloOf(link));
  const first = await Promise.race([app.closed, app.next("ready").catch(() => app.closed)]);
  return "code" in first ? first.code : (await app.close()).code;
}

async function checkLinks(relay: TestRelay, keys: Keys, confirmed: Confirmed): Promise<void> {
  const { links, rotated, paused, revoked } = confirmed;
  for (const link of links) assert.ok(await isThere(relay, link.mcpUrl), "a link is lost");
  for (const { before, now } of rotated.values()) {
    assert.ok(await isThere(relay, now), "a rotation is lost");
    assert.ok(!(await isThere(relay, before)), "an old URL is back");
  }
  const view = async ({ linkId }: TestLink): Promise<JsonObject> =>
    (await relay.rest("GET", `/v1/links/${linkId}`, keys.secretKey)).body;
  for (const link of paused) assert.equal((await view(link))["paused"], true, "a pause is lost");
  for (const link of revoked) {
    assert.equal((await view(link))["revoked"], true, "a revocation is lost");
    assert.ok(!(await isThere(relay, link.mcpUrl)));
  }
  const [kept] = links;
  const [gone] = revoked;
  assert.ok(kept !== undefined && gone !== undefined);
  assert.equal(await helloCode(relay, kept), 1000);
  assert.equal(await helloCode(relay, gone), 4401);
}

async function checkCalls(relay: TestRelay, keys: Keys, confirmed: Confirmed): Promise<void> {
  const rows: JsonObject[] = [];
  let cursor = "";
  for (;;) {
    const path = `/v1/calls?limit=200${cursor}`;
    const { body } = await relay.rest("GET", path, keys.secretKey);
    rows.push(...body["items"]);
    if (body["nextCursor"] === null) break;
    cursor = `&cursor=${encodeURIComponent(body["nextCursor"])}`;
  }
  const byRequest = new Map(rows.map((row) => [row["requestId"], row]));
  assert.equal(byRequest.size, rows.length, "no call is written twice");
  for (const requestId of confirmed.calls) {
    const row = byRequest.get(requestId);
    assert.deepEqual([row?.["outcome"], row?.["counted"]], ["ok", true], `${requestId} is lost`);
  }
  const { body } = await relay.rest("GET", "/v1/usage", keys.secretKey);
  const counted = rows.filter((row) => row["counted"] === true).length;
  assert.deepEqual([body["counted"], body["total"]], [counted, rows.length]);
}

test("kill -9 in the middle of traffic loses nothing that was confirmed", async () => {
  const dataDir = dataFolder();
  const confirmed = new Confirmed();
  const limits = { RELAY_LINKS_PER_IP_PER_MINUTE: "100000", RELAY_CALLS_PER_MINUTE: "6000" };
  await using killed = await serveRelay({ RELAY_DATA_DIR: dataDir, RELAY_PORT: "0", ...limits });
  const made = await killed.rest("POST", "/v1/operator/projects", { name: "Notes" });
  const keys = made.body as Keys;
  const driven = drive(killed, keys, confirmed);
  while (!confirmed.isEnough) await sleep(20);
  await killed.kill();
  await driven;

  await using relay = await openRelay(limits, dataDir);
  await checkLinks(relay, keys, confirmed);
  await checkCalls(relay, keys, confirmed);
  for (const key of confirmed.keys) {
    assert.equal((await relay.rest("GET", "/v1/project", key)).status, 200, "a key is lost");
  }
  for (const key of confirmed.revokedKeys) {
    assert.equal((await relay.rest("GET", "/v1/project", key)).status, 401, "a key is back");
  }
});

test("after a crash no link looks connected, and hosts list the tools of apps that are away", async () => {
  const dataDir = dataFolder();
  await using killed = await serveRelay({ RELAY_DATA_DIR: dataDir, RELAY_PORT: "0" });
  const { body: keys } = await killed.rest("POST", "/v1/operator/projects", { name: "Notes" });
  const { body } = await killed.rest("POST", "/v1/links", {}, keys["publishableKey"]);
  const link = body as TestLink;
  const app = await connectApp(link);
  await killed.kill();
  assert.equal((await app.closed).code, 1006);
  await using relay = await openRelay({}, dataDir);
  const view = await relay.rest("GET", `/v1/links/${link.linkId}`, keys["secretKey"]);
  assert.deepEqual([view.body["connected"], view.body["tools"]], [false, 1]);
  const mcpUrl = moved(relay, link.mcpUrl);
  const list = await post(mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.equal(list.message["result"].tools[0].name, "search_notes");
  assert.equal(
    textOf(await callTool(mcpUrl)),
    "Notes is not running on your device. Open it and try again.",
  );
});
