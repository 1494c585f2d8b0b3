/** How a Relay stops: SIGTERM and SIGINT let calls finish, and nothing idle holds it up (SPEC 13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, TestApp, TestLink } from "./harness.ts";
import { callText } from "./calls-rows.ts";
import { startChild } from "./drain-child.ts";
import { OpenStream } from "./host-open-stream.ts";
import { RawConnection, requestText } from "./host-raw.ts";

/** The product's 2 seconds, and one for a busy machine; what hangs takes the drain's 30. */
const IDLE_EXIT_MS = 3_000;
const LONG = { RELAY_DRAIN_SECONDS: "30" };
const LOST =
  "The relay lost the connection to Notes while running the tool; it may or may not have completed.";

test("with nothing in flight SIGTERM closes sockets with 1012 and exits 0, whatever is connected", async () => {
  await using relay = await startChild(LONG);
  const project = await relay.project();
  const links = await Promise.all(Array.from({ length: 5 }, () => project.link()));
  const apps = await Promise.all(links.map((link) => connectApp(link)));
  const silent = new WebSocket(`${relay.url.replace("http", "ws")}/v1/socket`);
  silent.on("error", () => undefined);
  await new Promise((resolve) => silent.once("open", resolve));
  const silentCode = new Promise((resolve) => silent.once("close", resolve));
  // Idle connections: some have had an answer, some have said nothing, one half a request.
  const idle = Array.from({ length: 20 }, () => new RawConnection(relay.port));
  for (const host of idle.slice(0, 15)) {
    host.send(requestText(relay.port, "GET", "/healthz"));
    await host.until((text) => text.includes('"ok"'));
  }
  idle.at(-1)?.send("POST /v1/mcp/x HTTP/1.1\r\nHost: localhost\r\nContent-Le");
  const startedAt = performance.now();
  assert.deepEqual(await relay.end("SIGTERM"), { code: 0, signal: null });
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < IDLE_EXIT_MS, `${tookMs} ms`);
  for (const app of apps) assert.equal((await app.closed).code, 1012);
  assert.equal(await silentCode, 1012);
  await Promise.all(idle.map(({ closed }) => closed));
});

test("at SIGINT calls in flight get their answers, new ones 503 with Retry-After, and then it exits 0", async () => {
  await using relay = await startChild(LONG);
  const project = await relay.project();
  const [link, quiet] = [await project.link(), await project.link()];
  const [app, idle] = [await connectApp(link), await connectApp(quiet)];
  const stream = await OpenStream.open(link.mcpUrl, callText('{"query":"x"}'));
  const json = post(link.mcpUrl, callText('{"query":"y"}'), { Accept: "application/json" });
  const calls = [await app.next("call"), await app.next("call")];
  relay.signal("SIGINT");
  // The app without calls is let go at once, the other one when its calls are done.
  assert.equal((await idle.closed).code, 1012);
  for (const url of [link.mcpUrl, quiet.mcpUrl]) assertTurnedAway(await callTool(url));
  assertTurnedAway(await post(link.mcpUrl, '{"jsonrpc":"2.0","id":1,"method":"ping"}'));
  const ready = await relay.rest("GET", "/readyz", null);
  assert.equal(ready.status, 503);
  assert.match(ready.body["error"].message, /draining/);
  assert.equal((await relay.rest("GET", "/healthz", null)).status, 200);
  assert.equal(await upgradeStatus(relay.url), 503);
  for (const { id, arguments: given } of calls) {
    app.send({ type: "result", id, content: [{ type: "text", text: given.query }] });
  }
  assert.equal((await stream.answer())["result"].content[0].text, "x");
  assert.equal(textOf(await json), "y");
  assert.equal((await app.closed).code, 1012);
  assert.deepEqual(await relay.exited, { code: 0, signal: null });
});

function assertTurnedAway(answer: HostAnswer): void {
  assert.equal(answer.status, 503);
  assert.equal(answer.message["error"].code, -32600);
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
}

/** The status with which an upgrade of the socket's address is refused. */
function upgradeStatus(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/socket`);
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.once("error", () => undefined);
    socket.once("open", () => resolve(101));
  });
}

test("what does not finish within the drain ends as disconnected with an answer, and its row is kept", async () => {
  await using relay = await openRelay({ RELAY_DRAIN_SECONDS: "0.3" });
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link);
  const stream = await OpenStream.open(link.mcpUrl, callText('{"query":"x"}', { id: '"a"' }));
  const json = post(link.mcpUrl, callText('{"query":"y"}'), { Accept: "application/json" });
  await app.next("call");
  await app.next("call");
  await relay.stop();
  const { id, result } = await stream.answer();
  assert.deepEqual([id, result.isError, result.content[0].text], ["a", true, LOST]);
  assert.equal(stream.messages.length, 1);
  assert.equal(textOf(await json), LOST);
  assert.equal((await app.closed).code, 1012);
  const again = await openRelay({}, relay.dataDir);
  const path = "/v1/calls?outcome=disconnected&counted=false";
  const rows = (await again.rest("GET", path, project.secretKey)).body["items"];
  assert.equal(rows.length, 2);
  await again.stop();
});

test("a second signal within a second is the first one again; a later one ends the process at once", async () => {
  const [one, other] = await Promise.all([startChild(LONG), startChild(LONG)]);
  await using patient = one;
  await using hasty = other;
  const start = async (relay: typeof patient): Promise<[TestApp, Promise<HostAnswer>, string]> => {
    const link: TestLink = await relay.link();
    const app = await connectApp(link);
    const pending = callTool(link.mcpUrl);
    pending.catch(() => undefined);
    const { id } = await app.next("call");
    return [app, pending, id];
  };
  const [app, pending, id] = await start(patient);
  const [, cutOff] = await start(hasty);
  patient.signal("SIGINT");
  patient.signal("SIGTERM");
  hasty.signal("SIGTERM");
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  app.send({ type: "result", id, content: [] });
  assert.equal((await pending).message["result"].isError, false);
  assert.equal((await patient.exited).code, 0);
  const { code } = await hasty.end("SIGINT");
  assert.notEqual(code, 0);
  await assert.rejects(cutOff);
});

test("a row that is being written when Relay stops is there when it starts again", async () => {
  await using relay = await openRelay();
  const project = await relay.project();
  const link = await project.link();
  for (let n = 0; n < 50; n += 1) await callTool(link.mcpUrl, "nothing");
  await relay.stop();
  const again = await openRelay({}, relay.dataDir);
  const rows = await again.rest("GET", "/v1/calls?limit=200", project.secretKey);
  assert.equal((rows.body["items"] as unknown[]).length, 50);
  await again.stop();
});
