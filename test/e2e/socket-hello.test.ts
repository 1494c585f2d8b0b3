/** A hello on the wire: what it is answered with, and in which order it is checked (SPEC 5). */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { after, test } from "node:test";
import { SEARCH_TOOL, TestApp, connectApp, helloOf, openRelay, post } from "./harness.ts";
import type { AppBehaviour, JsonObject, TestLink, TestProject } from "./harness.ts";
import { OPCODES, RawApp, frameBytes } from "./socket-client.ts";

const MANY = { RELAY_LINKS_PER_IP_PER_MINUTE: "100000" } as const;
const relay = await openRelay(MANY);
after(() => relay[Symbol.asyncDispose]());

const APP_ORIGIN = "https://app.example.com";
const BROKEN_TOOLS = [{ name: "no schema" }];

/** What an app that sends `hello` gets: its frames, and the close if it was refused. */
async function greet(
  link: Pick<TestLink, "socketUrl">,
  hello: unknown,
  headers: AppBehaviour["headers"] = {},
): Promise<{ frames: JsonObject[]; code: number; reason: string }> {
  const app = new TestApp(link.socketUrl, { headers });
  await app.opened();
  app.send(hello);
  const first = await Promise.race([app.closed, app.next("ready")]);
  const end = "code" in first ? await app.closed : await app.close();
  return { frames: app.frames, ...end };
}

function invalid(message: string, id: string | null = null): JsonObject {
  return { type: "error", id, code: "invalid_message", message };
}

const REASONS = {
  4400: "invalid hello or too many invalid frames",
  4401: "unknown or revoked link token",
  4403: "origin not allowed",
  4423: "the project is suspended",
  4429: "too many open sockets or hellos",
} as const;

/** The whole answer to a hello that was refused without a word on what to mend. */
function closed(code: keyof typeof REASONS): unknown {
  return { frames: [], code, reason: REASONS[code] };
}

function refused(message: string): unknown {
  return { frames: [invalid(message)], code: 4400, reason: REASONS[4400] };
}

test("a valid hello is answered with ready, and with nothing else", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  assert.deepEqual(app.frames, [
    {
      type: "ready",
      linkId: link.linkId,
      paused: false,
      limits: { callTimeoutSeconds: 180, resultMaxBytes: 131_072 },
    },
  ]);
  await app.close();
});

test("ready names the limits that are set, and says whether the link is paused", async () => {
  await using short = await openRelay({
    RELAY_CALL_TIMEOUT_SECONDS: "2.5",
    RELAY_RESULT_BYTES: "1000",
  });
  const project = await short.project();
  const link = await project.link();
  await short.rest("POST", `/v1/links/${link.linkId}/pause`, project.secretKey);
  const app = await connectApp(link);
  assert.deepEqual(app.frames, [
    {
      type: "ready",
      linkId: link.linkId,
      paused: true,
      limits: { callTimeoutSeconds: 2.5, resultMaxBytes: 1000 },
    },
  ]);
  await app.close();
});

test("ready warns of what is valid and yet hides a tool from some hosts", async () => {
  const project = await relay.project();
  const link = await project.link();
  const tools = [
    {
      name: "notes.search",
      inputSchema: { type: "object", properties: { ids: { type: "array" } }, anyOf: [{}] },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    },
  ];
  const expected = [
    {
      path: "tools[0].name",
      message: 'Has "." or "/": some hosts take only letters, digits, "_" and "-".',
    },
    {
      path: "tools[0].description",
      message: "Missing: a model can't tell what the tool is for.",
    },
    {
      path: "tools[0].inputSchema.anyOf",
      message:
        "At the top of an inputSchema: a model API may refuse the whole conversation for it.",
    },
    {
      path: "tools[0].inputSchema.properties.ids",
      message: "An array without items: some hosts refuse the tool.",
    },
  ];
  const app = await connectApp(link, { tools });
  assert.deepEqual(app.frames[0]?.["warnings"], expected);
  await app.close();
  const again = await connectApp(link, { tools });
  assert.deepEqual(again.frames[0]?.["warnings"], expected, "also when it was judged before");
  const view = await relay.rest("GET", `/v1/links/${link.linkId}`, project.secretKey);
  assert.deepEqual(view.body["warnings"], expected, "and the developer sees them");
  await again.close();
});

test("the first frame is hello, or the socket closes with 4400", async () => {
  const link = await relay.link();
  const firsts: readonly (readonly [unknown, string])[] = [
    [{ type: "ping" }, "the first frame must be hello"],
    [{ type: "link.revoke", id: "r1" }, "the first frame must be hello"],
    [{ type: "result", id: "c_0000000000000000", content: [] }, "the first frame must be hello"],
    [{ type: "progress", id: "c_0000000000000000", progress: 1 }, "the first frame must be hello"],
    [{ type: "error", id: "c_0", message: 1 }, "the first frame must be hello"],
    ['{"type":"result","id":"a","id":"b"}', "the first frame must be hello"],
    ["hello", "not valid JSON"],
    ["[]", "a frame must be a JSON object"],
    ["{}", "type must be a string"],
    [{ type: "helo" }, 'unknown frame type "helo"'],
    ['{"type":"hello","type":"hello"}', "JSON must not repeat a key in one object"],
  ];
  for (const [frame, message] of firsts) {
    assert.deepEqual(await greet(link, frame), refused(message), JSON.stringify(frame));
  }
  const app = new TestApp(link.socketUrl);
  await app.opened();
  app.socket.send(Buffer.from(JSON.stringify(helloOf(link))), { binary: true });
  assert.equal((await app.closed).code, 4400);
  assert.deepEqual(app.frames, [invalid("frames are JSON text, not binary")]);
});

test("a hello of the wrong shape is told which field is wrong", async () => {
  const link = await relay.link();
  const shapes: readonly (readonly [JsonObject, string])[] = [
    [{ protocol: "1" }, "protocol must be an integer"],
    [{ protocol: undefined }, "protocol must be an integer"],
    [{ token: 5 }, "token must be a string"],
    [{ app: "Notes" }, "app must be an object"],
    [{ instructions: 5 }, "instructions must be a string"],
    [{ tools: {} }, "tools must be an array"],
    [{ protocol: 2 }, "protocol 2 is not supported; this Relay speaks 1"],
    [{ protocol: 0 }, "protocol 0 is not supported; this Relay speaks 1"],
  ];
  for (const [changes, message] of shapes) {
    const answer = await greet(link, { ...helloOf(link), ...changes });
    assert.deepEqual(answer, refused(message), JSON.stringify(changes));
  }
});

test("a link token that nobody has closes with 4401, whatever is wrong with it", async () => {
  const project = await relay.project();
  const link = await project.link();
  const revoked = await project.link();
  await relay.rest("POST", `/v1/links/${revoked.linkId}/revoke`, project.secretKey);
  const tokens = [
    `lt_${"0".repeat(32)}`,
    revoked.linkToken,
    link.mcpUrl.split("/").at(-1),
    project.secretKey,
    link.linkToken.slice(0, -1),
    `${link.linkToken} `,
    "",
  ];
  for (const token of tokens) {
    assert.deepEqual(await greet(link, { ...helloOf(link), token }), closed(4401), token);
  }
});

test("an Origin that the project does not allow closes with 4403", async () => {
  const project = await relay.project({ allowedOrigins: [APP_ORIGIN] });
  const link = await project.link();
  for (const origin of [
    "https://evil.example",
    "null",
    `${APP_ORIGIN}:8443`,
    "http://app.example.com",
  ]) {
    const answer = await greet(link, helloOf(link), { Origin: origin });
    assert.deepEqual(answer, closed(4403), origin);
  }
  for (const headers of [{ Origin: APP_ORIGIN }, {}]) {
    const { code } = await greet(link, helloOf(link), headers);
    assert.equal(code, 1000, "no browser, or one of the list");
  }
  const open = await relay.link();
  const { code } = await greet(open, helloOf(open), { Origin: "https://anyone.example" });
  assert.equal(code, 1000, "an empty list allows every origin");
});

test("a suspended project's hello closes with 4423, and its open sockets do", async () => {
  const project = await relay.project();
  const [one, two, three] = [await project.link(), await project.link(), await project.link()];
  const live = [await connectApp(one), await connectApp(two)];
  const silent = new TestApp(three.socketUrl);
  await silent.opened();
  await project.change({ suspended: true });
  for (const app of live) {
    assert.deepEqual(await app.closed, { code: 4423, reason: REASONS[4423] });
  }
  silent.send(helloOf(three));
  assert.equal((await silent.closed).code, 4423, "a socket that had not said hello");
  assert.deepEqual(await greet(one, helloOf(one)), closed(4423));
  await project.change({ suspended: false });
  assert.equal((await greet(one, helloOf(one))).code, 1000, "until it is suspended no more");
});

test("past the project's sockets a hello closes with 4429; a takeover is exempt", async () => {
  await using small = await openRelay({ RELAY_SOCKETS_PER_PROJECT: "2" });
  const project = await small.project();
  const links = [await project.link(), await project.link(), await project.link()] as const;
  const [first, second] = [await connectApp(links[0]), await connectApp(links[1])];
  assert.deepEqual(await greet(links[2], helloOf(links[2])), closed(4429));
  const newer = await connectApp(links[0]);
  assert.equal((await first.closed).code, 4001, "it takes over its own place");
  assert.deepEqual(await greet(links[2], helloOf(links[2])), closed(4429), "the place is taken");
  const other = await small.link();
  assert.equal((await greet(other, helloOf(other))).code, 1000, "another project has its own");
  await second.close();
  // The end of a socket takes its moment.
  let code = 4429;
  for (let tries = 0; code === 4429 && tries < 100; tries += 1) {
    ({ code } = await greet(links[2], helloOf(links[2])));
  }
  assert.equal(code, 1000, "a place that is given back can be had");
  await newer.close();
});

test("hellos that come at once can't pass the project's sockets together", async () => {
  await using small = await openRelay({ RELAY_SOCKETS_PER_PROJECT: "5" });
  const project = await small.project();
  const links = await Promise.all(Array.from({ length: 20 }, () => project.link()));
  const apps = await Promise.all(
    links.map(async (link) => {
      const app = new TestApp(link.socketUrl);
      await app.opened();
      return app;
    }),
  );
  for (const [at, link] of links.entries()) apps[at]?.send(helloOf(link));
  const answers = await Promise.all(
    apps.map((app) => Promise.race([app.closed, app.next("ready").catch(() => app.closed)])),
  );
  const codes = answers.map((answer) => ("code" in answer ? answer.code : "ready"));
  assert.equal(codes.filter((code) => code === "ready").length, 5);
  assert.equal(codes.filter((code) => code === 4429).length, 15);
  for (const app of apps) app.socket.terminate();
});

test("the 121st hello of a link in a minute closes with 4429, refused ones included", async () => {
  const project = await relay.project();
  const link = await project.link();
  const broken = { ...helloOf(link), tools: BROKEN_TOOLS };
  for (let round = 0; round < 12; round += 1) {
    const codes = await Promise.all(
      Array.from({ length: 10 }, async () => (await greet(link, broken)).code),
    );
    assert.deepEqual(new Set(codes), new Set([4400]));
  }
  assert.deepEqual(await greet(link, helloOf(link)), closed(4429));
  const other = await project.link();
  assert.equal((await greet(other, helloOf(other))).code, 1000, "each link has its own minute");
});

test("where several rules are broken, the first of the order answers", async () => {
  await using small = await openRelay({ ...MANY, RELAY_SOCKETS_PER_PROJECT: "1" });
  const suspended = await small.project({ allowedOrigins: [APP_ORIGIN] });
  const foreign = await small.project({ allowedOrigins: [APP_ORIGIN] });
  const full = await small.project();
  const apps = [await connectApp(await foreign.link()), await connectApp(await full.link())];
  const inSuspended = await suspended.link();
  await suspended.change({ suspended: true });
  const evil = { Origin: "https://evil.example" };
  const broken = { tools: BROKEN_TOOLS };
  const ask = async (link: TestLink, changes: JsonObject): Promise<number> =>
    (await greet(link, { ...helloOf(link), ...changes }, evil)).code;

  const unknown = { token: `lt_${"0".repeat(32)}` };
  const badShape = { ...helloOf(inSuspended), tools: 5, protocol: 2 };
  assert.deepEqual(await greet(inSuspended, badShape, evil), refused("tools must be an array"));
  const badProtocol = { ...helloOf(inSuspended), ...unknown, ...broken, protocol: 2 };
  assert.deepEqual(
    await greet(inSuspended, badProtocol, evil),
    refused("protocol 2 is not supported; this Relay speaks 1"),
  );
  assert.equal(await ask(inSuspended, { ...unknown, ...broken }), 4401, "token before manifest");
  assert.equal(await ask(inSuspended, broken), 4423, "suspended before origin");
  assert.equal(await ask(await foreign.link(), broken), 4403, "origin before sockets");
  assert.equal(await ask(await full.link(), broken), 4429, "sockets before manifest");
  for (const app of apps) await app.close();
});

test("a hello that is refused leaves the link's older socket as it was", async () => {
  const project = await relay.project({ allowedOrigins: [APP_ORIGIN] });
  const link = await project.link();
  const older = await connectApp(link, {
    onCall: () => ({ type: "result", content: [{ type: "text", text: "older" }] }),
  });
  await greet(link, { ...helloOf(link), tools: BROKEN_TOOLS });
  await greet(link, { ...helloOf(link), protocol: 2 });
  await greet(link, helloOf(link), { Origin: "https://evil.example" });
  await greet(link, { type: "ping" });
  const params = { name: SEARCH_TOOL.name, arguments: { query: "x" } };
  const answer = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  assert.equal(answer.message["result"].content[0].text, "older");
  assert.deepEqual(
    older.frames.map(({ type }) => type),
    ["ready", "call"],
  );
  await older.close();
});

test("a second hello is an invalid frame and changes nothing", async () => {
  const link = await relay.link();
  const app = await connectApp(link);
  app.send({ ...helloOf(link), tools: [], app: { name: "Other", version: "2" } });
  assert.deepEqual(
    await app.next("error"),
    invalid("hello was already accepted; reconnect to change it"),
  );
  const list = await post(link.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  assert.equal(list.message["result"].tools[0].name, SEARCH_TOOL.name);
  await app.close();
});

test("frames right behind hello are answered after ready, in the order they came", async () => {
  const link = await relay.link();
  const texts = [helloOf(link), { type: "ping" }, { type: "nope", id: "n1" }, { type: "ping" }];
  const app = await RawApp.open(link.socketUrl, {
    behind: Buffer.concat([
      ...texts.map((frame) => frameBytes(OPCODES.text, JSON.stringify(frame))),
      frameBytes(OPCODES.binary, "{}"),
      frameBytes(OPCODES.text, '{"type":"ping"}'),
    ]),
  });
  const types: unknown[] = [];
  for (let count = 0; count < 6; count += 1) {
    const { type, message } = await app.next();
    types.push(message ?? type);
  }
  assert.deepEqual(types, [
    "ready",
    "pong",
    'unknown frame type "nope"',
    "pong",
    "frames are JSON text, not binary",
    "pong",
  ]);
  app.destroy();
});

test("a socket without a hello is told so and closed with 4400 when its time is over", async () => {
  await using quick = await openRelay({ RELAY_HELLO_TIMEOUT_SECONDS: "0.3" });
  const link = await quick.link();
  const app = new TestApp(link.socketUrl);
  assert.deepEqual(await app.closed, { code: 4400, reason: REASONS[4400] });
  assert.deepEqual(app.frames, [invalid("no hello within 0.3 seconds")]);
  const ready = await connectApp(link);
  const half = await RawApp.open(link.socketUrl);
  half.tcp.write(frameBytes(OPCODES.text, JSON.stringify(helloOf(link))).subarray(0, 40));
  assert.equal((await half.ended).code, 4400, "half a hello is none");
  assert.equal(ready.socket.readyState, ready.socket.OPEN, "a hello in time stops the clock");
  await ready.close();
});

test("a hello that can't be stored closes with 1011, and the older socket stays", async () => {
  const project: TestProject = await relay.project();
  const link = await project.link();
  const older = await connectApp(link);
  const db = new DatabaseSync(join(relay.dataDir, "relay.db"));
  db.exec("BEGIN IMMEDIATE");
  const answer = await greet(link, helloOf(link));
  db.exec("ROLLBACK");
  db.close();
  assert.deepEqual(answer, {
    frames: [
      {
        type: "error",
        id: null,
        code: "internal",
        message: "the relay could not store the hello",
      },
    ],
    code: 1011,
    reason: "internal error",
  });
  assert.equal(older.socket.readyState, older.socket.OPEN);
  assert.equal((await greet(link, helloOf(link))).code, 1000, "it works again when it can");
  assert.equal((await older.closed).code, 4001);
});
