/** An answer and its row: which waits for which, and what a store that can't be written means (SPEC 7). */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import { Blockade } from "./calls-blockade.ts";
import { callText, rowsOf, usageOf } from "./calls-rows.ts";
import { assertMcpHeaders } from "./host-headers.ts";
import { OpenStream } from "./host-open-stream.ts";
import { RawConnection, requestText } from "./host-raw.ts";

const relay = await openRelay({ RELAY_CALLS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

/** How many answers the Relay has let go before their row, which it does after a second. */
const lateAnswers = (): number => relay.log.filter((line) => line.includes("row is late")).length;

test("an answer is released when its row is written, not before", async (context) => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  using blockade = new Blockade(relay.dataDir);
  const stream = await OpenStream.open(link.mcpUrl, callText('{"query":"x"}'));
  await app.next("call");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const early = stream.messages;
  blockade.end();
  const { result } = await stream.answer();
  assert.equal(result.content[0].text, '{"query":"x"}');
  if (lateAnswers() > 0) return context.skip("the machine stood still for a second");
  assert.deepEqual(early, []);
  // Not "soon": it was there before the answer went out.
  assert.equal((await project.calls()).length, 1);
  await app.close();
});

test("the answer to a refused call does not wait for the store", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  await app.close();
  const lateBefore = lateAnswers();
  using blockade = new Blockade(relay.dataDir);
  const unknown = await callTool(link.mcpUrl, "nothing");
  assert.equal(unknown.message["error"].message, "Unknown tool: nothing");
  assert.match(textOf(await callTool(link.mcpUrl)), /^Notes is not running/);
  // They were not late either: nobody waited for their rows.
  assert.equal(lateAnswers(), lateBefore);
  assert.deepEqual(await project.calls(), []);
  blockade.end();
  assert.equal((await rowsOf(project, 2)).length, 2);
});

test("when the row is late the answer goes first, readyz says so, and the row is written once", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, ECHO);
  assert.equal((await relay.rest("GET", "/readyz", null)).status, 200);
  using blockade = new Blockade(relay.dataDir);
  assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  assert.deepEqual(await project.calls(), []);
  const late = await relay.rest("GET", "/readyz", null);
  assert.equal(late.status, 503);
  assert.match(late.body["error"].message, /store/);
  assert.match(late.headers.get("retry-after") ?? "", /^\d+$/);
  blockade.end();
  assert.equal((await rowsOf(project, 1)).length, 1);
  assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  const { total, counted } = await usageOf(project, 2);
  assert.deepEqual([total, counted], [2, 2]);
  assert.equal((await relay.rest("GET", "/readyz", null)).status, 200);
  await app.close();
});

test("when the store can't be read a host of a link that is not connected gets 503 with Retry-After", async () => {
  const link = await relay.link();
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"), { timeout: 5_000 });
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  assert.equal((await post(link.mcpUrl, ping)).status, 200);
  db.exec("ALTER TABLE links RENAME TO links_away");
  try {
    const answer = await post(link.mcpUrl, ping);
    assert.equal(answer.status, 503);
    assert.equal(answer.message["error"].code, -32600);
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assertMcpHeaders(answer.headers, "503");
  } finally {
    db.exec("ALTER TABLE links_away RENAME TO links");
    db.close();
  }
  assert.equal((await post(link.mcpUrl, ping)).status, 200);
});

test("with ten thousand rows unwritten new calls get 503, and afterwards every call is there once", async () => {
  const project = await relay.project();
  const [wrong, link] = [await project.link(), await project.link()];
  const app = await connectApp(link, ECHO);
  const calls = 10_000;
  const request = (connection: string): string => {
    const headers = { "Content-Type": "application/json", Connection: connection };
    const body = callText("{}", { tool: "none" });
    return requestText(relay.port, "POST", new URL(wrong.mcpUrl).pathname, headers, body);
  };
  using blockade = new Blockade(relay.dataDir);
  const host = new RawConnection(relay.port);
  host.send(request("keep-alive").repeat(calls - 1) + request("close"));
  assert.equal((await host.closed).split("HTTP/1.1 200 OK").length - 1, calls);
  const refused = await callTool(link.mcpUrl);
  assert.equal(refused.status, 503);
  assert.equal(refused.message["error"].code, -32600);
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  // What is no call is answered all the same.
  assert.equal((await post(link.mcpUrl, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status, 200);
  blockade.end();
  await usageOf(project, calls);
  assert.equal(textOf(await callTool(link.mcpUrl)), '{"query":"invoices"}');
  const { total, counted, byOutcome } = await usageOf(project, calls + 1);
  assert.deepEqual([total, counted, byOutcome["ok"]], [calls + 1, 1, 1]);
  await app.close();
});
