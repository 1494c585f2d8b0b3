/** What Relay makes of an app's answer before a host sees it, and of arguments before an app does. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ECHO, callTool, connectApp, openRelay, post, textOf } from "./harness.ts";
import type { HostAnswer, JsonObject, TestApp, TestLink } from "./harness.ts";
import { callText, rowsOf, usageOf } from "./calls-rows.ts";

const relay = await openRelay({ RELAY_CALLS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

const KIB = 1024;
const object = { type: "object" };
const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const TOOLS = [
  { name: "any", inputSchema: object },
  { name: "strict", inputSchema: object, outputSchema },
];

/** Calls `tool` and answers with the rest of a raw `result` frame; returns what the host gets. */
async function answered(
  link: TestLink,
  app: TestApp,
  members: string,
  tool = "any",
): Promise<HostAnswer> {
  const pending = post(link.mcpUrl, callText("{}", { tool }));
  const { id } = await app.next("call");
  app.send(`{"type":"result","id":"${id}",${members}}`);
  const answer = await pending;
  ids.set(answer, id);
  return answer;
}
const ids = new WeakMap<HostAnswer, string>();

/** The answer was refused: the host is told why, and so is the app, with the call's id. */
async function assertUnusable(app: TestApp, answer: HostAnswer, reason: RegExp): Promise<void> {
  const { result } = answer.message;
  assert.equal(result.isError, true, answer.text.slice(0, 500));
  assert.equal("structuredContent" in result, false);
  const prefix = "The app sent an answer the relay could not accept: ";
  const text = textOf(answer);
  assert.ok(text.startsWith(prefix), text.slice(0, 500));
  assert.match(text.slice(prefix.length), reason);
  const frame = await app.next("error");
  assert.deepEqual(frame, {
    type: "error",
    id: ids.get(answer),
    code: "invalid_result",
    message: text.slice(prefix.length),
  });
}

test("every kind of content block passes, and fields MCP does not name with it", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { tools: TOOLS });
  const blocks = [
    '{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5},"own":1}',
    '{"type":"image","data":"aGk=","mimeType":"image/png"}',
    '{"type":"audio","data":"aGk=","mimeType":"audio/wav"}',
    '{"type":"resource_link","name":"n","uri":"file:///a"}',
    '{"type":"resource","resource":{"uri":"file:///a","text":"t"}}',
  ];
  for (const content of ["[]", ...blocks.map((block) => `[${block}]`), `[${blocks.join(",")}]`]) {
    const answer = await answered(link, app, `"content":${content}`);
    assert.ok(answer.text.includes(`"result":{"content":${content},"isError":false}`), content);
  }
  await app.close();
});

test("an unusable answer ends its call with the reason for host and app, counts, and is no strike", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, { tools: TOOLS });
  const unusable: [string, RegExp][] = [
    ['"content":5', /^content must be/],
    ['"content":null', /^content must be/],
    ['"contents":[]', /^content is missing$/],
    ['"content":[5]', /^content\[0\] must be/],
    ['"content":[{"type":"text"}]', /^content\[0\]\.text/],
    ['"content":[{"type":"text","text":"a"},{"type":"video"}]', /^content\[1\]\.type/],
    ['"content":[{"type":"image","data":"a b!","mimeType":"x/y"}]', /^content\[0\]\.data .*base64/],
    ['"content":[{"type":"image","data":"aGk="}]', /^content\[0\]\.mimeType/],
    ['"content":[],"structuredContent":[1]', /^structuredContent must be an object$/],
    ['"content":[],"structuredContent":null', /^structuredContent must be an object$/],
    ['"content":[],"isError":1', /^isError must be a boolean$/],
    ['"content":[],"isError":null', /^isError must be a boolean$/],
    ['"content":[],"content":[]', /repeat a key/],
    [`"content":[],"x":${"[".repeat(5000)}${"]".repeat(5000)}`, /128 levels/],
  ];
  for (const [members, reason] of unusable) {
    await assertUnusable(app, await answered(link, app, members), reason);
  }
  const { byOutcome, counted } = await usageOf(project, unusable.length);
  assert.deepEqual([byOutcome, counted], [{ tool_error: unusable.length }, unusable.length]);
  assert.equal(textOf(await answered(link, app, '"content":[{"type":"text","text":"ok"}]')), "ok");
  await app.close();
});

test("structuredContent is held to the tool's outputSchema, and stands alone if it must", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { tools: TOOLS });
  const strict = (members: string): Promise<HostAnswer> => answered(link, app, members, "strict");
  const alone = await strict('"structuredContent":{"n":1.0}');
  assert.match(
    alone.text,
    /"result":\{"content":\[\],"structuredContent":\{"n":1\.0\},"isError":false\}/,
  );
  const missing = /^structuredContent is missing, and the tool has an outputSchema$/;
  await assertUnusable(app, await strict('"content":[]'), missing);
  const wrong = /^structuredContent\/n must be integer$/;
  await assertUnusable(app, await strict('"content":[],"structuredContent":{"n":"1"}'), wrong);
  await app.close();
});

test("an answer that is an error is not held to the outputSchema, loses its structuredContent, and is ok", async () => {
  const project = await relay.project();
  const link = await project.link();
  const app = await connectApp(link, { tools: TOOLS });
  const content = '"content":[{"type":"text","text":"no"}],"isError":true';
  for (const more of ["", ',"structuredContent":{"n":"1"}']) {
    const answer = await answered(link, app, content + more, "strict");
    assert.deepEqual(answer.message["result"], {
      content: [{ type: "text", text: "no" }],
      isError: true,
    });
  }
  for (const row of await rowsOf(project, 2)) assert.equal(row["outcome"], "ok");
  await app.close();
});

test("an error frame's message becomes the tool error; one that is no string is unusable", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { tools: TOOLS });
  const failed = async (members: string): Promise<HostAnswer> => {
    const pending = post(link.mcpUrl, callText("{}", { tool: "any" }));
    const { id } = await app.next("call");
    app.send(`{"type":"error","id":"${id}"${members}}`);
    const answer = await pending;
    ids.set(answer, id);
    return answer;
  };
  assert.equal(textOf(await failed(',"message":"database is locked"')), "database is locked");
  assert.equal(textOf(await failed(',"message":""')), "");
  for (const members of ["", ',"message":5', ',"message":null']) {
    await assertUnusable(app, await failed(members), /^message must be a string$/);
  }
  const tooLong = `,"message":"${"m".repeat(128 * KIB)}"`;
  await assertUnusable(app, await failed(tooLong), /131072 bytes/);
  await app.close();
});

test("an image of 127 KiB passes, larger ones get an error that names the limit, over a frame the socket drops", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { tools: TOOLS });
  const image = (bytes: number): string =>
    `"content":[{"type":"image","data":"${"A".repeat(bytes - (bytes % 4))}","mimeType":"image/png"}]`;
  const fits = await answered(link, app, image(127 * KIB));
  assert.equal(fits.message["result"].content[0].data.length, 127 * KIB);
  for (const bytes of [129 * KIB, 250 * KIB]) {
    await assertUnusable(app, await answered(link, app, image(bytes)), /131072 bytes/);
  }
  const dropped = await answered(link, app, image(300 * KIB));
  assert.match(textOf(dropped), /^The relay lost the connection to Notes/);
  assert.equal((await app.closed).code, 1006);
});

test("content and structuredContent share 128 KiB of UTF-8, to the byte", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { tools: TOOLS });
  const sized = (bytes: number): string => {
    const content = '[{"type":"text","text":"é"}]';
    const used = Buffer.byteLength(content) + '{"a":""}'.length;
    return `"content":${content},"structuredContent":{"a":"${"x".repeat(bytes - used)}"}`;
  };
  const fits = await answered(link, app, sized(128 * KIB));
  assert.equal(fits.message["result"].isError, false);
  await assertUnusable(app, await answered(link, app, sized(128 * KIB + 1)), /131072 bytes/);
  await app.close();
});

test("an answer to a call that is unknown, over, or another link's goes nowhere, silently", async () => {
  const [link, other] = [await relay.link(), await relay.link()];
  const [app, thief] = [await connectApp(link), await connectApp(other)];
  const pending = callTool(link.mcpUrl);
  const { id } = await app.next("call");
  for (const frame of [
    { type: "result", id, content: [] },
    { type: "error", id, message: "stolen" },
    { type: "result", id: "c_0000000000000000", content: 5 },
    { type: "result", id: "", content: [] },
  ]) {
    thief.send(frame);
  }
  thief.send({ type: "ping" });
  await thief.next("pong");
  const content = [{ type: "text", text: "mine" }];
  app.send({ type: "result", id, content });
  app.send({ type: "result", id, content: [{ type: "text", text: "again" }] });
  const answer = await pending;
  assert.deepEqual([textOf(answer), answer.messages.length], ["mine", 1]);
  app.send({ type: "ping" });
  await app.next("pong");
  for (const { frames } of [app, thief]) {
    assert.deepEqual(
      frames.filter(({ type }) => type === "error"),
      [],
    );
  }
  await Promise.all([app.close(), thief.close()]);
});

test("arguments over 64 KiB, or no object, are invalid before the app sees them; none are {}", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { ...ECHO, tools: TOOLS });
  const padded = (bytes: number): string => `{"a":"${"x".repeat(bytes - '{"a":""}'.length)}"}`;
  const ask = async (argumentsText: string): Promise<JsonObject> =>
    (await post(link.mcpUrl, callText(argumentsText, { tool: "any" }))).message;
  assert.equal((await ask(padded(64 * KIB)))["result"].isError, false);
  const refused: [string, string][] = [
    [padded(64 * KIB + 1), "arguments must be at most 64 KiB as JSON"],
    [`{"a":"${"é".repeat(32 * KIB)}"}`, "arguments must be at most 64 KiB as JSON"],
    ["[]", "arguments must be object"],
    ["null", "arguments must be object"],
    ['"x"', "arguments must be object"],
  ];
  for (const [argumentsText, why] of refused) {
    const { error } = await ask(argumentsText);
    assert.deepEqual(error, { code: -32602, message: `Invalid arguments for tool any: ${why}` });
  }
  const none = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "any" } };
  assert.equal(textOf(await post(link.mcpUrl, none)), "{}");
  assert.equal(app.frames.filter(({ type }) => type === "call").length, 2);
  await app.close();
});

test("nested arguments pass to the depth a body may have; deeper ones are refused and Relay stays up", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { ...ECHO, tools: TOOLS });
  const nested = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const ask = (levels: number): Promise<HostAnswer> =>
    post(link.mcpUrl, callText(nested(levels), { tool: "any", id: '"deep"' }));
  assert.equal(textOf(await ask(100)), nested(100));
  for (const levels of [5_000, 30_000]) {
    const answer = await ask(levels);
    assert.deepEqual([answer.status, answer.message["id"]], [400, "deep"]);
    assert.equal(answer.message["error"].code, -32600);
  }
  assert.equal(textOf(await ask(100)), nested(100));
  await app.close();
});

test("the message of invalid arguments is that of the product spec's example", async () => {
  const link = await relay.link();
  const app = await connectApp(link, ECHO);
  const { message } = await callTool(link.mcpUrl, "search_notes", {});
  assert.deepEqual(message["error"], {
    code: -32602,
    message:
      "Invalid arguments for tool search_notes: arguments must have required property 'query'",
  });
  await app.close();
});
