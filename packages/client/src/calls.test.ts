import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./test/fake-clock.ts";
import { Stage } from "./test/test-app.ts";
import type { TestApp } from "./test/test-app.ts";
import { tool } from "./tool.ts";
import type { CallContext, Tool } from "./tool.ts";

/** An app with one tool `do`, online. */
async function withTool(
  run: (args: Record<string, unknown>, context: CallContext) => object | string,
  stage = new Stage(),
): Promise<{
  readonly stage: Stage;
  readonly app: TestApp;
  readonly link: Stage["relay"]["link"];
}> {
  const app = await stage.online({ tools: [doing(run)] });
  return { stage, app, link: stage.relay.link };
}

function doing(
  run: (args: Record<string, unknown>, context: CallContext) => object | string,
): Tool {
  return tool("do", { description: "Does it", run });
}

/** A promise, and how to settle it. */
function later(): { readonly promise: Promise<string>; readonly resolve: (text: string) => void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { promise, resolve };
}

const RETURNS: readonly [what: string, value: unknown, content: unknown, structured?: unknown][] = [
  ["a string", "done", [{ type: "text", text: "done" }]],
  ["nothing", undefined, []],
  ["an empty string", "", []],
  ["a number", 42, [{ type: "text", text: "42" }]],
  ["a list", [1, "two"], [{ type: "text", text: '[1,"two"]' }]],
  ["an empty list", [], []],
  ["an object", { notes: 3 }, [{ type: "text", text: '{"notes":3}' }], { notes: 3 }],
  [
    "an object of the app's with a field content",
    { content: ["a"], title: "b" },
    [{ type: "text", text: '{"content":["a"],"title":"b"}' }],
    { content: ["a"], title: "b" },
  ],
  [
    "an object of the app's whose content is blocks, and more",
    { content: [{ type: "text", text: "a" }], title: "b" },
    [{ type: "text", text: '{"content":[{"type":"text","text":"a"}],"title":"b"}' }],
    { content: [{ type: "text", text: "a" }], title: "b" },
  ],
  [
    "blocks",
    [{ type: "image", data: "aGk=", mimeType: "image/png" }],
    [{ type: "image", data: "aGk=", mimeType: "image/png" }],
  ],
  [
    "a whole result",
    { content: [{ type: "text", text: "3" }], structuredContent: { notes: 3 } },
    [{ type: "text", text: "3" }],
    { notes: 3 },
  ],
];
for (const [what, value, content, structuredContent] of RETURNS) {
  test(`a handler may return ${what}`, async () => {
    const { link, app } = await withTool(() => value as object);
    const answer = await link.call("do");
    assert.deepEqual(answer.content, content);
    assert.deepEqual(answer.structuredContent, structuredContent);
    assert.equal(answer.outcome, "ok");
    assert.deepEqual(app.calls, ["do running", "do done"]);
  });
}

test("a result may say that it is an error", async () => {
  const content = [{ type: "text", text: "no such note" }] as const;
  const { link } = await withTool(() => ({ content, isError: true }));
  const answer = await link.call("do");
  assert.equal(answer.isError, true);
  assert.equal(answer.outcome, "ok");
});

for (const [what, thrown, text] of [
  ["an error", new Error("database is locked"), "database is locked"],
  ["an error without a message", new TypeError(), "TypeError"],
  ["a string", "database is locked", "database is locked"],
  ["null", null, "null"],
] as const) {
  test(`what a handler throws is told to the model: ${what}`, async () => {
    const { link, app } = await withTool(() => {
      throw thrown;
    });
    const answer = await link.call("do");
    assert.deepEqual([answer.outcome, answer.text], ["tool_error", text]);
    assert.deepEqual(app.calls, ["do running", "do failed"]);
  });
}

test("an error's text is cut, so that its frame always fits", async () => {
  const { link } = await withTool(() => {
    throw new Error("\u0000".repeat(300_000));
  });
  assert.equal((await link.call("do")).text.length, 10_000);
});

test("what can't be written as JSON is an error of the tool's", async () => {
  const circle: { self?: object } = {};
  circle.self = circle;
  const { link } = await withTool(() => circle);
  assert.match((await link.call("do")).text, /circular|cyclic/i);
});

test("a result over the limit is never sent: the model hears why, the connection stays", async () => {
  const { link, app } = await withTool(() => "x".repeat(200_000));
  const answer = await link.call("do");
  assert.equal(answer.outcome, "tool_error");
  assert.match(
    answer.text,
    /^content and structuredContent together must be at most 131072 bytes as JSON, not 2000\d\d$/,
  );
  assert.equal(app.relay.state.status, "online");
});

test("sizes are those of UTF-8", async () => {
  const { link } = await withTool(() => "é".repeat(66_000));
  assert.match((await link.call("do")).text, /not 1320\d\d$/);
});

test("an object that fits once but not twice goes without its text", async () => {
  const { link } = await withTool(() => ({ text: "x".repeat(100_000) }));
  const answer = await link.call("do");
  assert.equal(answer.outcome, "ok");
  assert.deepEqual(answer.content, []);
  assert.equal(String(answer.structuredContent?.["text"]).length, 100_000);
});

test("calls overlap, and are answered in any order", async () => {
  const waiting = new Map<unknown, ReturnType<typeof later>>();
  const { link } = await withTool(({ n }) => {
    const one = later();
    waiting.set(n, one);
    return one.promise;
  });
  const answers = [1, 2, 3].map((n) => link.call("do", { n }));
  await settled();
  for (const n of [2, 3, 1]) waiting.get(n)?.resolve(`answer ${n}`);
  const texts = (await Promise.all(answers)).map(({ text }) => text);
  assert.deepEqual(texts, ["answer 1", "answer 2", "answer 3"]);
});

test("a call of a tool that is not there any more is an error, not silence", async () => {
  const { stage, app, link } = await withTool(() => "x");
  const answer = link.call("do");
  app.relay.setTools([tool("other", { description: "", run: () => "" })]);
  assert.equal((await answer).outcome, "ok");
  await stage.clock.pass(1_000);
  assert.deepEqual(
    link.tools.map(({ name }) => name),
    ["other"],
  );
});

test("the deadline is the device's own, however wrong its clock", async () => {
  const deadlines: number[] = [];
  const { stage, link } = await withTool((_, { deadline }) => {
    deadlines.push(deadline);
    return "";
  });
  stage.clock.epoch -= 86_400_000;
  await link.call("do");
  assert.deepEqual(deadlines, [stage.clock.wall() + 180_000]);
});

test("a cancelled call's signal aborts, and its late answer goes nowhere", async () => {
  const work = later();
  const signals: AbortSignal[] = [];
  const { stage, app, link } = await withTool((_, { signal }) => {
    signals.push(signal);
    return work.promise;
  });
  const host = new AbortController();
  const answer = link.call("do", {}, { signal: host.signal });
  await settled();
  host.abort();
  assert.equal((await answer).outcome, "cancelled");
  await settled();
  assert.equal(signals[0]?.aborted, true);
  assert.equal(signals[0]?.reason.code, "CANCELLED");
  const sent = spyOnSent(link);
  work.resolve("late");
  await stage.clock.pass(1_000);
  assert.deepEqual(sent, []);
  assert.deepEqual(app.calls, ["do running", "do cancelled"]);
});

test("a call that runs into its deadline is cancelled", async () => {
  const { stage, app, link } = await withTool(() => later().promise);
  const answer = link.call("do");
  await stage.clock.pass(180_000);
  assert.equal((await answer).outcome, "timeout");
  assert.deepEqual(app.calls, ["do running", "do cancelled"]);
});

test("an answer to a call of an older socket is kept for nobody", async () => {
  const work = later();
  const reasons: unknown[] = [];
  const { stage, app, link } = await withTool((_, { signal }) => {
    signal.addEventListener("abort", () => reasons.push(signal.reason.code));
    return work.promise;
  });
  const answer = link.call("do");
  await settled();
  stage.relay.drop();
  assert.equal((await answer).outcome, "disconnected");
  await stage.clock.pass(1_000);
  assert.equal(app.relay.state.status, "online");
  const sent = spyOnSent(link);
  work.resolve("late");
  await stage.clock.pass(1_000);
  assert.deepEqual(sent, []);
  assert.deepEqual(reasons, ["LOST"]);
  assert.deepEqual(app.calls, ["do running", "do lost"]);
});

test("an answer that Relay refuses is an error event", async () => {
  const { link, app } = await withTool(() => ({
    content: [],
    structuredContent: [1] as never,
  }));
  assert.match((await link.call("do")).text, /could not accept: structuredContent must be/);
  await settled();
  assert.deepEqual(app.errors, ["invalid_result: structuredContent must be an object"]);
});

test("progress goes out at most ten times a second, the newest wins, and the last before the answer", async () => {
  const work = later();
  const { stage, link } = await withTool((_, { progress }) => {
    for (let step = 1; step <= 50; step += 1) progress(step, { total: 50, message: `${step}` });
    return work.promise;
  });
  const heard: unknown[] = [];
  const answer = link.call("do", {}, { onProgress: ({ message }) => heard.push(message) });
  await settled();
  assert.deepEqual(heard, ["1"]);
  await stage.clock.pass(100);
  assert.deepEqual(heard, ["1", "50"]);
  work.resolve("");
  await answer;
  assert.deepEqual(heard, ["1", "50"]);
});

test("progress that waits goes out before the answer, and none after it", async () => {
  const contexts: CallContext[] = [];
  const { stage, link } = await withTool((_, context) => {
    contexts.push(context);
    context.progress(1);
    context.progress(2);
    return "";
  });
  const heard: number[] = [];
  await link.call("do", {}, { onProgress: ({ progress }) => heard.push(progress) });
  assert.deepEqual(heard, [1, 2]);
  const sent = spyOnSent(link);
  contexts[0]?.progress(3);
  await stage.clock.pass(1_000);
  assert.deepEqual(sent, []);
});

test("a cancelled call that works on says no more", async () => {
  const contexts: CallContext[] = [];
  const { stage, link } = await withTool((_, context) => {
    contexts.push(context);
    return later().promise;
  });
  const host = new AbortController();
  const answer = link.call("do", {}, { signal: host.signal });
  await settled();
  host.abort();
  await answer;
  await settled();
  const sent = spyOnSent(link);
  contexts[0]?.progress(1);
  await stage.clock.pass(1_000);
  assert.deepEqual(sent, []);
});

test("progress that is no number is left out, and a long message is cut: neither costs a strike", async () => {
  const { link, app } = await withTool((_, { progress }) => {
    progress(Number.NaN);
    progress(1, { message: "🙂".repeat(2_000) });
    return "";
  });
  const heard: (string | undefined)[] = [];
  await link.call("do", {}, { onProgress: ({ message }) => heard.push(message) });
  assert.deepEqual(heard, ["🙂".repeat(1_000)]);
  assert.deepEqual(app.errors, []);
});

/** What the app sends from now on, pings aside. */
function spyOnSent(link: Stage["relay"]["link"]): string[] {
  const sent: string[] = [];
  const receive = link.receive.bind(link);
  link.receive = (text) => {
    if (!text.includes('"ping"')) sent.push(text);
    receive(text);
  };
  return sent;
}
