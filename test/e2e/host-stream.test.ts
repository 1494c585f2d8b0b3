/** The answer to a call that reaches the app: an SSE stream that opens at once and always ends whole. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { TestApp, TestLink } from "./harness.ts";
import { callText } from "./calls-rows.ts";
import { assertMcpHeaders } from "./host-headers.ts";
import { OpenStream } from "./host-open-stream.ts";
import { RawConnection, rawAnswer, requestText } from "./host-raw.ts";

const relay = await openRelay({
  RELAY_KEEP_ALIVE_SECONDS: "60",
  RELAY_CALLS_IN_FLIGHT: "100",
  RELAY_CALLS_PER_MINUTE: "1000",
});
after(() => relay[Symbol.asyncDispose]());

const CALL = callText('{"query":"x"}');
const answerTo = (app: TestApp, id: unknown, text = "done"): void =>
  app.send({ type: "result", id, content: [{ type: "text", text }] });

test("the whole head and a comment are there while the app is still silent", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const host = new RawConnection(relay.port);
  const headers = {
    "Content-Type": "application/json",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    Connection: "close",
  };
  host.send(requestText(relay.port, "POST", new URL(link.mcpUrl).pathname, headers, CALL));
  const { id } = await app.next("call");
  // Only now, with the stream open, does the app answer.
  const head = rawAnswer(await host.until((text) => /\r\n\r\n[0-9a-f]+\r\n:[^\n]*\n\n/.test(text)));
  answerTo(app, id);
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(head.headers.get("x-accel-buffering"), "no");
  assert.equal(head.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(head.headers.get("content-encoding"), undefined);
  assert.equal(head.headers.get("content-length"), undefined);
  assertMcpHeaders(head.headers, "stream");
  assert.match(await host.closed, /"text":"done"[^]*\r\n0\r\n\r\n$/);
  await app.close();
});

test("a quiet stream carries keep-alive comments, never an id, and exactly one message", async () => {
  await using quick = await openRelay({ RELAY_KEEP_ALIVE_SECONDS: "0.05" });
  const link = await quick.link();
  const app = await connectApp(link);
  const stream = await OpenStream.open(link.mcpUrl, CALL);
  const { id } = await app.next("call");
  const alive = ({ comments }: OpenStream): number =>
    comments.filter((comment) => comment === "keep-alive").length;
  await stream.until((so) => alive(so) >= 3);
  answerTo(app, id);
  const { result } = await stream.answer();
  assert.deepEqual(result, { content: [{ type: "text", text: "done" }], isError: false });
  const lines = stream.text.split("\n").filter((line) => line !== "");
  const [comments, others] = [
    lines.filter((line) => line.startsWith(":")),
    lines.filter((line) => !line.startsWith(":")),
  ];
  assert.ok(comments.length >= 4);
  assert.equal(others.length, 2);
  assert.equal(others[0], "event: message");
  assert.match(others[1] ?? "", /^data: \{"jsonrpc":"2.0","id":1,"result":/);
  assert.match(stream.text, /\n\n$/);
  await app.close();
});

test("Accept decides: JSON alone gets one body, everything else a stream, nothing gets 406", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { onCall: () => ({ type: "result", content: [] }) });
  const told: [string, "json" | "stream"][] = [
    ["application/json", "json"],
    ["application/*", "json"],
    ["application/json, text/event-stream;q=0", "json"],
    ["text/event-stream", "stream"],
    ["text/*", "stream"],
    ["application/json, text/event-stream", "stream"],
    ["*/*", "stream"],
    ["Application/JSON, TEXT/EVENT-STREAM", "stream"],
    ["text/html", "stream"],
    ["", "stream"],
  ];
  for (const [accept, kind] of told) {
    const answer = await post(link.mcpUrl, CALL, { Accept: accept });
    assert.equal(answer.status, 200, accept);
    const type = answer.headers.get("content-type");
    const expected = kind === "json" ? "application/json" : "text/event-stream; charset=utf-8";
    assert.equal(type, expected, accept);
    assert.deepEqual(answer.message, {
      jsonrpc: "2.0",
      id: 1,
      result: { content: [], isError: false },
    });
    assertMcpHeaders(answer.headers, accept);
    if (kind === "json") {
      const length = Buffer.byteLength(answer.text);
      assert.equal(answer.headers.get("content-length"), String(length));
    }
  }
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const bare = new RawConnection(relay.port);
  bare.send(requestText(relay.port, "POST", new URL(link.mcpUrl).pathname, headers, CALL));
  assert.match(rawAnswer(await bare.closed).headers.get("content-type") ?? "", /event-stream/);
  await app.close();
});

test("a host that takes only JSON gets nothing before the one body", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  const meta = '{"progressToken":1}';
  const host = new RawConnection(relay.port);
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  const { pathname } = new URL(link.mcpUrl);
  const text = callText('{"query":"x"}', { meta });
  host.send(requestText(relay.port, "POST", pathname, { ...headers, Connection: "close" }, text));
  const { id } = await app.next("call");
  app.send({ type: "progress", id, progress: 1 });
  app.send({ type: "ping" });
  await app.next("pong");
  assert.equal(host.text, "");
  answerTo(app, id);
  const { body } = rawAnswer(await host.closed);
  assert.equal(JSON.parse(body).result.content[0].text, "done");
  await app.close();
});

test("each stream gets the answer to its own call, whatever the order and the ids", async () => {
  const link = await relay.link();
  const waiting: string[] = [];
  // Answers in reverse order, in batches, so that every call overlaps with others.
  const app = await connectApp(link, {
    onCall: ({ id, arguments: given }, self) => {
      waiting.push(
        JSON.stringify({ type: "result", id, content: [{ type: "text", text: given.query }] }),
      );
      if (waiting.length < 10) return null;
      for (const frame of waiting.splice(0).toReversed()) self.send(frame);
      return null;
    },
  });
  const queries = Array.from({ length: 50 }, (_, n) => `query ${n}`);
  const answers = await Promise.all(
    queries.map((query, n) => callTool(link.mcpUrl, "search_notes", { query, host: n % 2 })),
  );
  assert.deepEqual(answers.map(textOf), queries);
  for (const { messages } of answers) assert.equal(messages.length, 1);
  await app.close();
});

const LOST =
  "The relay lost the connection to Notes while running the tool; it may or may not have completed.";

/** Opens a call, does something to it, and returns the text of the one answer its stream ends with. */
async function endOf(link: TestLink, act: (app: TestApp) => unknown): Promise<string> {
  const app = await connectApp(link);
  const stream = await OpenStream.open(link.mcpUrl, CALL);
  await app.next("call");
  await act(app);
  const { jsonrpc, id, result } = await stream.answer();
  assert.deepEqual([jsonrpc, id, result.isError], ["2.0", 1, true]);
  assert.equal(stream.messages.length, 1);
  assert.match(stream.text, /\n\n$/);
  app.socket.terminate();
  return result.content[0].text;
}

test("a stream ends with an answer when the app's socket closes, breaks off, is taken over or dropped", async () => {
  const link = await relay.link();
  assert.equal(await endOf(link, (app) => app.close()), LOST);
  assert.equal(await endOf(link, (app) => app.socket.terminate()), LOST);
  assert.equal(await endOf(link, () => connectApp(link)), LOST);
  assert.equal(await endOf(link, (app) => app.send(`"${"x".repeat(300_000)}"`)), LOST);
});

test("a stream ends with an answer when the link is revoked or the project suspended", async () => {
  const project = await relay.project();
  const [one, two] = [await project.link(), await project.link()];
  const path = `/v1/links/${one.linkId}/revoke`;
  assert.equal(await endOf(one, () => relay.rest("POST", path, project.secretKey)), LOST);
  assert.equal(await endOf(two, () => project.change({ suspended: true })), LOST);
});

test("a stream ends with an answer when Relay stops", async () => {
  await using other = await openRelay({ RELAY_DRAIN_SECONDS: "0.2" });
  assert.equal(await endOf(await other.link(), () => void other.stop()), LOST);
});
