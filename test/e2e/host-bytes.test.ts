/** Texts that travel as they were written, from the host to the app and back (SPEC 8). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { connectApp, openRelay, post, textOf } from "./harness.ts";
import type { AppBehaviour, TestApp } from "./harness.ts";
import { callText } from "./calls-rows.ts";

const relay = await openRelay({ RELAY_CALLS_PER_MINUTE: "1000" });
after(() => relay[Symbol.asyncDispose]());

const ANY_TOOL = { name: "any", inputSchema: { type: "object" } };

/** The raw text of the arguments in the last call the app got. */
function argumentsIn(app: TestApp): string {
  const text = app.texts.at(-1) ?? "";
  const found =
    /^\{"type":"call","id":"c_[0-9A-Za-z]{16}","tool":"any","arguments":(.*),"deadline":"[^"]*"\}$/s;
  const [, raw = ""] = found.exec(text) ?? [];
  return raw;
}

/** Answers with the raw arguments as `structuredContent`, on several lines. */
const MIRROR: AppBehaviour = {
  tools: [ANY_TOOL],
  onCall: ({ id }, app) => {
    const raw = argumentsIn(app);
    app.send(`{\r\n"type":"result",\n"id":"${id}","structuredContent" :${raw}\r\n,"content":[ ]}`);
    return null;
  },
};

const oneLine = (raw: string): string => raw.replaceAll(/[\r\n]/g, " ");

const NUMBERS = ["9007199254740993", "-9007199254740993", "1.0", "-0", "-0.0", "1E400", "-1e400"];
const MORE_NUMBERS = [
  "0.1e-400",
  "1E2",
  "1e+2",
  "0.10",
  "123456789012345678901234567890",
  "5e-324",
];

const TEXTS: readonly (readonly [string, string])[] = [
  ...[...NUMBERS, ...MORE_NUMBERS, "7".repeat(400)].map((raw) => [raw, `{"n":${raw}}`] as const),
  ["keys that look like integers, in odd order", '{"10":1,"9":2,"b":3,"1":4,"-1":5,"a":6,"01":7}'],
  ["keys of objects in general", '{"__proto__":{"x":1},"constructor":2,"toString":3,"":4}'],
  ["escaped and literal non-ASCII", '{"\\u00e9":"\\u00E9é","e\\u0301":"é","\\/":"/\\/"}'],
  ["an escaped and a literal pair", '{"a":"\\ud83d\\ude00😀\\uD83D\\uDE00"}'],
  [
    "dash, emoji family, CJK, combining marks, right to left",
    '{"a":"– 👩\u200d👩\u200d👧 漢字 e\u0301 \u200fשלום"}',
  ],
  [
    "line separators and NUL, escaped and not",
    '{"a":"\\u2028\u2028\\u2029\u2029\\u0000\\u001f\u007f"}',
  ],
  ["what would split an event", '{"a":"\\r\\n\\n\\ndata: x\\n\\nid: 1\\n\\n","data: ":"\\n"}'],
  ["pretty-printed", '{\r\n  "a": [\n    1,\r    2\t\n  ],\n  "b" : { }\n}'],
  ["blanks in odd places", '{ "a" :\t[ 1 ,2 , { } ] ,\n"b":"\\n" }'],
  ["nested", `${'{"a":['.repeat(50)}1${"]}".repeat(50)}`],
];

test("arguments reach the app, and its answer the host, byte for byte; line breaks become blanks", async () => {
  const link = await relay.link();
  const app = await connectApp(link, MIRROR);
  for (const accept of ["application/json, text/event-stream", "application/json"]) {
    for (const [what, raw] of TEXTS) {
      const body = callText(raw, { tool: "any" });
      const answer = await post(link.mcpUrl, body, { Accept: accept });
      assert.equal(argumentsIn(app), oneLine(raw), what);
      const result = `{"content":[ ],"structuredContent":${oneLine(raw)},"isError":false}`;
      const whole = `{"jsonrpc":"2.0","id":1,"result":${result}}`;
      const isStream = accept.includes("stream");
      const tail = isStream ? `event: message\ndata: ${whole}\n\n` : whole;
      assert.equal(answer.text, isStream ? `: open\n\n${tail}` : tail, what);
    }
  }
  await app.close();
});

test("a whole body on many lines, its members in any order, is read the same", async () => {
  const link = await relay.link();
  const app = await connectApp(link, MIRROR);
  const body =
    '{\r\n "params" : {\n "arguments" :\n{ "n" : 1.0 }\n, "extra" : [1,\n2] ,"name":\t"any" },\r "method":"tools\\/call",\n"id" : 1.0 ,"jsonrpc":"2.0"}';
  const answer = await post(link.mcpUrl, body);
  assert.equal(argumentsIn(app), '{ "n" : 1.0 }');
  assert.match(answer.text, /"id":1\.0,.*"structuredContent":\{ "n" : 1\.0 \}/);
  await app.close();
});

test("a JSON-RPC id comes back as it was written, at once and on a stream", async () => {
  const link = await relay.link();
  const app = await connectApp(link, MIRROR);
  const numbers = ["1", "1.0", "0", "-0", "-5", "1E2", "1.5", "9007199254740993", "1E400"];
  const strings = [
    '"1"',
    '"007"',
    '""',
    '"a\\u0000b"',
    '"\\u2028\u2028"',
    '"\\ud83d"',
    '"é\\u00e9"',
  ];
  for (const id of [...numbers, ...strings, `"${"x".repeat(4096)}"`, '"\\n\\r"']) {
    const called = await post(link.mcpUrl, callText("{}", { id, tool: "any" }));
    assert.ok(called.text.includes(`data: {"jsonrpc":"2.0","id":${id},"result":`), id);
    const refused = await post(link.mcpUrl, callText("{}", { id, tool: "other" }));
    assert.ok(refused.text.startsWith(`{"jsonrpc":"2.0","id":${id},"error":`), id);
    const ping = await post(link.mcpUrl, `{"jsonrpc":"2.0","id": ${id} ,"method":"ping"}`);
    assert.equal(ping.text, `{"jsonrpc":"2.0","id":${id},"result":{}}`);
    const wrong = await post(link.mcpUrl, `{"id":${id},"method":"ping"}`);
    assert.ok(wrong.text.startsWith(`{"jsonrpc":"2.0","id":${id},"error":`), id);
  }
  await app.close();
});

test("half a surrogate pair passes to the app, and becomes \\ufffd on the way to the host", async () => {
  const link = await relay.link();
  const app = await connectApp(link, MIRROR);
  const raw = '{"a":"\\ud83d","b":"x\\uDE00y","c":"\\ud83d\\ude00","d":"\\\\ud83d","\\uD800":1}';
  const answer = await post(link.mcpUrl, callText(raw, { tool: "any" }));
  assert.equal(argumentsIn(app), raw);
  const replaced =
    '{"a":"\\ufffd","b":"x\\ufffdy","c":"\\ud83d\\ude00","d":"\\\\ud83d","\\ufffd":1}';
  assert.ok(answer.text.includes(`"structuredContent":${replaced},`), answer.text);
  await app.close();
  const failing = await connectApp(link, {
    tools: [ANY_TOOL],
    onCall: ({ id }, self) => {
      self.send(`{"type":"error","id":"${id}","message":"a\\ud83d \\"b\\" \\u2028\\n"}`);
      return null;
    },
  });
  const failed = await post(link.mcpUrl, callText("{}", { tool: "any" }));
  assert.equal(textOf(failed), 'a\ufffd "b" \u2028\n');
  assert.ok(failed.text.includes('"text":"a\\ufffd \\"b\\" \\u2028\\n"'), failed.text);
  await failing.close();
});

test("text is UTF-8 both ways and says so", async () => {
  const link = await relay.link();
  const app = await connectApp(link, {
    tools: [ANY_TOOL],
    onCall: (call) => ({ type: "result", content: [{ type: "text", text: call["arguments"].a }] }),
  });
  const text = "– “quotes” 漢字 😀 e\u0301 ﷽ \u{10ffff}";
  const answer = await post(link.mcpUrl, callText(JSON.stringify({ a: text }), { tool: "any" }));
  assert.equal(textOf(answer), text);
  assert.match(answer.headers.get("content-type") ?? "", /charset=utf-8/);
  await app.close();
});

test("names of every object's own methods are ordinary tool names", async () => {
  const link = await relay.link();
  const app = await connectApp(link, { ...MIRROR, tools: [ANY_TOOL] });
  for (const tool of ["toString", "__proto__", "constructor", "hasOwnProperty"]) {
    const { message } = await post(link.mcpUrl, callText("{}", { tool }));
    assert.deepEqual(message["error"], { code: -32602, message: `Unknown tool: ${tool}` });
  }
  await app.close();
  const named = { name: "__proto__", inputSchema: { type: "object" } };
  const own = await connectApp(link, {
    tools: [named],
    onCall: (call) => ({ type: "result", content: [{ type: "text", text: call["tool"] }] }),
  });
  assert.equal(textOf(await post(link.mcpUrl, callText("{}", { tool: "__proto__" }))), "__proto__");
  await own.close();
});
