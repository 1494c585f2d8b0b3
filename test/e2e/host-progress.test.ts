/** Progress: what of the app's reports a host gets, and what it gets while the app says nothing. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { connectApp, openRelay } from "./harness.ts";
import type { JsonObject, TestApp, TestLink, TestRelay } from "./harness.ts";
import { callText } from "./calls-rows.ts";
import { OpenStream } from "./host-open-stream.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());

type Running = { link: TestLink; app: TestApp; id: string; stream: OpenStream };

/** Starts a call that wants progress, unless `meta` says otherwise. */
async function running(at: TestRelay = relay, meta = '{"progressToken":"t"}'): Promise<Running> {
  const link = await at.link();
  const app = await connectApp(link);
  const stream = await OpenStream.open(link.mcpUrl, callText('{"query":"x"}', { meta }));
  const { id } = await app.next("call");
  return { link, app, id, stream };
}

const finish = async ({ app, id, stream }: Running): Promise<void> => {
  app.send({ type: "result", id, content: [] });
  await stream.ended;
  assert.deepEqual(stream.messages.at(-1)?.["result"], { content: [], isError: false });
  await app.close();
};

const notes = (stream: OpenStream): JsonObject[] =>
  stream.messages.filter(({ method }) => method === "notifications/progress");
const valuesOf = (stream: OpenStream): number[] =>
  notes(stream).map(({ params }) => params.progress);

test("progress reaches a host that gave a token, with total and message, before the answer", async () => {
  const call = await running();
  const { app, id, stream } = call;
  app.send({ type: "progress", id, progress: 0 });
  app.send({ type: "progress", id, progress: 1.5, total: 3, message: "half \ud83d\ude00" });
  await finish(call);
  const [first, second] = notes(stream);
  assert.deepEqual(first, {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "t", progress: 0 },
  });
  assert.deepEqual(second?.["params"], {
    progressToken: "t",
    progress: 1.5,
    total: 3,
    message: "half \ud83d\ude00",
  });
  assert.equal(stream.messages.length, 3);
});

test("the host's token comes back as it was written", async () => {
  for (const token of ["1", "1.0", '"1"', '""', '"a\\u0000b"', "9007199254740993"]) {
    const call = await running(relay, `{"progressToken":${token}}`);
    call.app.send({ type: "progress", id: call.id, progress: 1 });
    await finish(call);
    assert.ok(call.stream.text.includes(`"progressToken":${token},`), token);
  }
});

test("without a token nothing is forwarded", async () => {
  for (const meta of ["{}", '{"progressToken":null}', '{"progressToken":{}}']) {
    const call = await running(relay, meta);
    call.app.send({ type: "progress", id: call.id, progress: 1 });
    await finish(call);
    assert.equal(call.stream.messages.length, 1, meta);
  }
});

test("a value that is not above the last one the host got is dropped", async () => {
  const call = await running();
  for (const progress of [-1, 0, 0, 5, 4, 5, 5.5]) {
    call.app.send({ type: "progress", id: call.id, progress });
  }
  await finish(call);
  assert.deepEqual(valuesOf(call.stream), [0, 5, 5.5]);
});

test("of a burst ten go out, then the newest that is left, before the answer", async () => {
  const call = await running();
  for (let progress = 1; progress <= 200; progress += 1) {
    call.app.send({ type: "progress", id: call.id, progress });
  }
  await finish(call);
  const values = valuesOf(call.stream);
  assert.deepEqual(values.slice(0, 10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(values.at(-1), 200);
  // Ten a second while the burst was read, which on a busy machine may take a while.
  assert.ok(values.length < 60, String(values.length));
  assert.deepEqual(
    values,
    values.toSorted((a, b) => a - b),
  );
});

test("what was held back goes out a little later by itself", async () => {
  const call = await running();
  for (let progress = 1; progress <= 50; progress += 1) {
    call.app.send({ type: "progress", id: call.id, progress });
  }
  await call.stream.until((stream) => valuesOf(stream).at(-1) === 50);
  await finish(call);
});

test("progress that no JSON number can carry, or of a call that is over, is not forwarded", async () => {
  const call = await running();
  const { app, id, stream } = call;
  for (const bad of ["1E400", "-1E400", '"1"', "null"]) {
    app.send(`{"type":"progress","id":"${id}","progress":${bad}}`);
    const error = await app.next("error");
    assert.deepEqual([error["id"], error["code"]], [id, "invalid_message"], bad);
  }
  app.send(`{"type":"progress","id":"${id}","progress":1,"total":1E400}`);
  assert.equal((await app.next("error"))["code"], "invalid_message");
  app.send(`{"type":"progress","id":"${id}","progress":1,"message":"${"m".repeat(1001)}"}`);
  assert.equal((await app.next("error"))["code"], "invalid_message");
  app.send({ type: "progress", id: "c_somebodyElses01", progress: 1 });
  app.send({ type: "progress", id, progress: 2, message: "😀".repeat(1000) });
  app.send({ type: "result", id, content: [] });
  app.send({ type: "progress", id, progress: 3 });
  await stream.ended;
  assert.deepEqual(valuesOf(stream), [2]);
  await app.close();
});

test("half a surrogate pair in a message reaches the host as U+FFFD", async () => {
  const call = await running();
  call.app.send(`{"type":"progress","id":"${call.id}","progress":1,"message":"a\\ud83db"}`);
  await finish(call);
  assert.equal(notes(call.stream)[0]?.["params"].message, "a\ufffdb");
});

test("while the app is silent the value grows by 0.001, so that the app's own still can", async () => {
  await using quick = await openRelay({ RELAY_KEEP_ALIVE_SECONDS: "0.05" });
  const call = await running(quick);
  const { app, id, stream } = call;
  await stream.until((so) => valuesOf(so).length >= 2);
  app.send({ type: "progress", id, progress: 1 });
  await stream.until((so) => valuesOf(so).filter((value) => value >= 1).length >= 3);
  await finish(call);
  const values = valuesOf(stream);
  const own = values.indexOf(1);
  assert.ok(own >= 2);
  assert.deepEqual(values.slice(0, 2), [0.001, 0.002]);
  assert.deepEqual(values.slice(own, own + 3), [1, 1.001, 1 + 0.001 + 0.001]);
  for (const { params } of notes(stream)) {
    assert.deepEqual(Object.keys(params), ["progressToken", "progress"]);
  }
});

test("no keep-alive goes out in an interval in which the app reported, and none without a token", async () => {
  await using quick = await openRelay({ RELAY_KEEP_ALIVE_SECONDS: "0.4" });
  const silent = await running(quick, "{}");
  const call = await running(quick);
  const comments = (stream: OpenStream): number => stream.comments.length;
  let progress = 0;
  // Reports far more often than once an interval, until three intervals are over.
  while (comments(call.stream) < 4) {
    progress += 1;
    call.app.send({ type: "progress", id: call.id, progress });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await finish(call);
  await finish(silent);
  assert.deepEqual(
    valuesOf(call.stream).filter((value) => !Number.isInteger(value)),
    [],
  );
  assert.equal(silent.stream.messages.length, 1);
});
