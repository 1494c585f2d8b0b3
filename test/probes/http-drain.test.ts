/** What hosts and apps meet that come, or are halfway, when Relay begins to drain (SPEC 6 and 13). */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { callTool, connectApp, openRelay, textOf } from "../e2e/harness.ts";
import type { TestApp, TestLink, TestProject, TestRelay } from "../e2e/harness.ts";
import { callText } from "../e2e/calls-rows.ts";
import { RawConnection, rawAnswer, requestText } from "../e2e/host-raw.ts";
import { RawApp } from "../e2e/socket-client.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}';

type Draining = {
  readonly relay: TestRelay;
  readonly project: TestProject;
  readonly link: TestLink;
  /** Begins to drain; what is returned settles when Relay has stopped. */
  readonly begin: () => Promise<void>;
  /** Answers the one call that holds the drain up. */
  readonly release: () => Promise<void>;
};

/** A Relay that can be held in its drain by a call of an app. */
async function held(
  context: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<Draining> {
  const relay = await openRelay({ RELAY_DRAIN_SECONDS: "20", ...env });
  context.after(() => rmSync(relay.dataDir, { recursive: true, force: true }));
  const project = await relay.project();
  const link = await project.link();
  const app: TestApp = await connectApp(link);
  const waiting = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  return {
    relay,
    project,
    link,
    begin: () => relay.stop(),
    release: async () => {
      app.send({ type: "result", id, content: [{ type: "text", text: "last" }] });
      assert.equal(textOf(await waiting), "last");
    },
  };
}

function assertTurnedAway(text: string, what: string): void {
  const answer = rawAnswer(text);
  assert.equal(answer.status, 503, what);
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/, what);
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_/, what);
  assert.match(answer.body, /"error"/, what);
}

test("a request that is halfway when the drain begins gets 503 and is no call", async (context) => {
  const { relay, project, link, begin, release } = await held(context);
  const { pathname } = new URL(link.mcpUrl);
  const whole = requestText(relay.port, "POST", pathname, JSON_TYPE, callText('{"query":"x"}'));
  const head = whole.indexOf("\r\n\r\n") + 4;
  const cuts = { "in its head": head - 20, "behind its head": head, "in its body": head + 30 };
  const hosts = Object.entries(cuts).map(([what, cut]) => {
    const host = new RawConnection(relay.port);
    host.send(whole.slice(0, cut));
    return { what, host, rest: whole.slice(cut) };
  });
  // Behind them on a connection of its own: when it is answered the halves have been read.
  const probe = new RawConnection(relay.port);
  probe.send(requestText(relay.port, "POST", pathname, JSON_TYPE, PING));
  await probe.until((text) => text.includes('"id":7'));
  const stopped = begin();
  for (const { what, host, rest } of hosts) {
    host.send(rest);
    assertTurnedAway(await host.until((text) => text.includes("\r\n\r\n{")), what);
  }
  await release();
  await stopped;
  const again = await openRelay({}, relay.dataDir);
  const rows = await again.rest("GET", "/v1/calls", project.secretKey);
  assert.equal(rows.body["items"].length, 1, "the call that was running, and no other");
  await again[Symbol.asyncDispose]();
});

test("a connection that was kept is answered 503 during the drain, and ends with it", async (context) => {
  const { relay, link, begin, release } = await held(context);
  const { pathname } = new URL(link.mcpUrl);
  const kept = new RawConnection(relay.port);
  const ping = requestText(relay.port, "POST", pathname, JSON_TYPE, PING);
  kept.send(ping);
  const before = await kept.until((text) => text.includes('"id":7'));
  const stopped = begin();
  kept.send(ping);
  const after = await kept.until((text) => text.includes('"error"'));
  assertTurnedAway(after.slice(before.length), "a ping");
  kept.send(requestText(relay.port, "GET", "/readyz"));
  await kept.until((text) => text.includes("draining"));
  await release();
  await stopped;
  await kept.closed;
});

test("a socket is refused with 503 during the drain, and one without a hello is let go", async (context) => {
  const { link, begin, release } = await held(context);
  const silent = await RawApp.open(link.socketUrl);
  const stopped = begin();
  const late = new RawApp(link.socketUrl);
  const { status, headers } = await late.answered();
  assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
  await release();
  await stopped;
  assert.equal((await silent.ended).code, 1012);
});

test("nobody who stops reading, or stops halfway, holds up the end", async (context) => {
  const { relay, project, begin } = await held(context, { RELAY_DRAIN_SECONDS: "0.3" });
  const link = await project.link();
  const { pathname } = new URL(link.mcpUrl);
  const deafApp = await RawApp.open(link.socketUrl);
  deafApp.tcp.pause();
  const deafHost = new RawConnection(relay.port);
  deafHost.socket.pause();
  deafHost.send(requestText(relay.port, "POST", pathname, JSON_TYPE, callText('{"query":"x"}')));
  const halves = [
    "P",
    "GET /v1/socket HTTP/1.1\r\n",
    `POST ${pathname} HTTP/1.1\r\nHost: localhost`,
  ];
  const stuck = halves.map((text) => {
    const host = new RawConnection(relay.port);
    host.send(text);
    return host;
  });
  const began = performance.now();
  await begin();
  const tookMs = performance.now() - began;
  assert.ok(tookMs < 6_000, `${tookMs} ms`);
  deafApp.destroy();
  deafHost.socket.destroy();
  for (const host of stuck) await host.closed;
});
