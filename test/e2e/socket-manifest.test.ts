/** The rules of a manifest on the wire: each broken one is named, then 4400 (SPEC 5, limits table). */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TestApp, helloOf, openRelay, post } from "./harness.ts";
import type { JsonObject, TestLink } from "./harness.ts";

const relay = await openRelay();
after(() => relay[Symbol.asyncDispose]());
const link = await relay.link();

const DRAFT_04 = "http://json-schema.org/draft-04/schema#";
const inputSchema = { type: "object" };
const tool = (fields: JsonObject): JsonObject => ({ name: "a", inputSchema, ...fields });
const property = (schema: unknown): JsonObject =>
  tool({ inputSchema: { type: "object", properties: { x: schema } } });

/** What the app is told of a hello with these fields; null when it became ready. */
async function faultOf(changes: JsonObject, to: TestLink = link): Promise<string | null> {
  const app = new TestApp(to.socketUrl);
  await app.opened();
  app.send({ ...helloOf(to), ...changes });
  const first = await Promise.race([app.closed, app.next("ready").catch(() => app.closed)]);
  const { code } = "code" in first ? await app.closed : await app.close();
  const [frame = {}] = app.frames;
  if (frame["type"] === "ready") return null;
  assert.equal(code, 4400);
  assert.equal(app.frames.length, 1);
  const { message } = frame;
  assert.deepEqual(frame, { type: "error", id: null, code: "invalid_message", message });
  return String(message);
}

type Case = readonly [changes: JsonObject, message: string];

const NOT_VALID = "tools[0].inputSchema is not a valid JSON Schema";
const NAME_RULE = "tools[0].name must be 1 to 64 of the characters A-Z, a-z, 0-9, _, ., / and -";
const named = (name: unknown): JsonObject => ({ tools: [tool({ name })] });

const SIZE_CASES: readonly Case[] = [
  [
    { tools: [tool({ x: "y".repeat(65_536) })] },
    "app, instructions and tools: at most 65536 bytes as JSON together, not 65623",
  ],
  [
    { tools: Array.from({ length: 65 }, (_, n) => tool({ name: `t${n}` })) },
    "tools: at most 64 tools, not 65",
  ],
  [named("x".repeat(65)), NAME_RULE],
  [
    { tools: [tool({ description: "x".repeat(2001) })] },
    "tools[0].description must be at most 2000 characters",
  ],
  [{ instructions: "x".repeat(4001) }, "instructions must be at most 4000 characters"],
  [
    { app: { name: "x".repeat(65), version: "1" } },
    "app.name must be a string of 1 to 64 characters",
  ],
  [
    { app: { name: "Notes", version: "x".repeat(65) } },
    "app.version must be a string of 1 to 64 characters",
  ],
];

const SHAPE_CASES: readonly Case[] = [
  [{ app: { name: "", version: "1" } }, "app.name must be a string of 1 to 64 characters"],
  [{ app: { name: "Notes" } }, "app.version must be a string of 1 to 64 characters"],
  [{ instructions: "\ud800" }, "instructions must not hold half of a surrogate pair"],
  [{ tools: [5] }, "tools[0] must be an object"],
  [named(5), "tools[0].name must be a string"],
  [named(""), NAME_RULE],
  [named("a b"), NAME_RULE],
  [named("\u{1f600}"), NAME_RULE],
  [{ tools: [tool({}), tool({})] }, "tools[1].name is the name of tools[0] too"],
  [{ tools: [tool({ title: 5 })] }, "tools[0].title must be a string"],
  [{ tools: [tool({ description: 5 })] }, "tools[0].description must be a string"],
  [{ tools: [tool({ icons: [{}] })] }, "tools[0].icons[0].src must be a string"],
  [{ tools: [tool({ _meta: 5 })] }, "tools[0]._meta must be an object"],
  [
    { tools: [tool({ annotations: { readOnlyHint: "yes" } })] },
    "tools[0].annotations.readOnlyHint must be a boolean",
  ],
  [
    { tools: [tool({ execution: { taskSupport: "required" } })] },
    'tools[0].execution.taskSupport must not be "required": Relay has no tasks, so no host could call the tool',
  ],
  [
    { tools: [property({ type: "string", "x-mcp-header": "a b" })] },
    'tools[0].inputSchema.properties.x["x-mcp-header"] must be an HTTP header name',
  ],
];

const SCHEMA_CASES: readonly Case[] = [
  [{ tools: [{ name: "a" }] }, `${NOT_VALID}: it must be an object or a boolean`],
  [
    { tools: [tool({}), tool({ name: "b" }), tool({ name: "c", inputSchema: { type: "x" } })] },
    "tools[2].inputSchema is not a valid JSON Schema: type must be one of array, boolean, integer, null, number, object and string",
  ],
  [
    { tools: [property({ type: "string", minLength: -1 })] },
    `${NOT_VALID}: properties.x.minLength must be a non-negative integer`,
  ],
  [
    { tools: [property({ $ref: "#/$defs/X" })] },
    `${NOT_VALID}: properties.x.$ref refers to nothing in this schema`,
  ],
  [
    { tools: [tool({ inputSchema: { type: "array" } })] },
    `${NOT_VALID} for MCP clients: type must be "object"`,
  ],
  [{ tools: [property(true)] }, `${NOT_VALID} for MCP clients: properties.x must not be a boolean`],
  [
    { tools: [tool({ outputSchema: { type: "string" } })] },
    'tools[0].outputSchema is not a valid JSON Schema for MCP clients: type must be "object"',
  ],
  [
    { tools: [property({ $ref: "https://example.com/x.json" })] },
    "tools[0].inputSchema.properties.x.$ref refers to another document, which Relay does not support",
  ],
  [
    { tools: [tool({ inputSchema: { ...inputSchema, $schema: DRAFT_04 } })] },
    "tools[0].inputSchema.$schema names an unsupported JSON Schema dialect",
  ],
  [
    { tools: [property({ pattern: "(?<=a)b" })] },
    "tools[0].inputSchema.properties.x.pattern uses a look-behind, which Relay does not support",
  ],
  [
    { tools: [property({ pattern: "(a)\\1" })] },
    "tools[0].inputSchema.properties.x.pattern uses a back-reference, which Relay does not support",
  ],
];

for (const [what, cases] of [
  ["over a size", SIZE_CASES],
  ["of the wrong shape", SHAPE_CASES],
  ["with a schema that can't be used", SCHEMA_CASES],
] as const) {
  test(`a manifest ${what} is refused with its place, then 4400`, async () => {
    for (const [changes, message] of cases) {
      assert.equal(await faultOf(changes), message, JSON.stringify(changes).slice(0, 200));
    }
  });
}

test("a manifest at every limit at once is accepted", async () => {
  const face = "\u{1f600}";
  const longNamed = (n: number): JsonObject => tool({ name: `${n}`.padStart(64, "_") });
  const filler: JsonObject = { ...longNamed(63), x: "" };
  const tools = [
    { ...longNamed(0), description: face.repeat(2000) },
    ...Array.from({ length: 62 }, (_, n) => longNamed(n + 1)),
    filler,
  ];
  const changes = {
    app: { name: face.repeat(64), version: face.repeat(64) },
    instructions: face.repeat(4000),
    tools,
  };
  const raw = (part: unknown): number => Buffer.byteLength(JSON.stringify(part));
  const used = raw(changes.app) + raw(changes.instructions) + raw(tools);
  filler["x"] = "y".repeat(65_536 - used);
  assert.equal(await faultOf(changes), null);
  filler["x"] += "y";
  assert.match((await faultOf(changes)) ?? "", /at most 65536 bytes/);
});

test("a manifest without tools or instructions is accepted, and names every object has are names", async () => {
  assert.equal(await faultOf({ tools: [], instructions: undefined }), null);
  const tools = ["toString", "__proto__", "constructor"].map((name) => tool({ name }));
  assert.equal(await faultOf({ tools }), null);
});

test("a manifest replaces the one before as a whole, its fields as they were written", async () => {
  const own = await relay.link();
  const list = async (): Promise<string> =>
    (await post(own.mcpUrl, { jsonrpc: "2.0", id: 1, method: "tools/list" })).text;
  assert.equal(await faultOf({ tools: [tool({ name: "first" })] }, own), null);
  assert.match(await list(), /"first"/);
  assert.equal(await faultOf({ tools: [tool({ name: "second", x: { y: [1] } })] }, own), null);
  const listed = await list();
  assert.ok(listed.includes('{"name":"second","inputSchema":{"type":"object"},"x":{"y":[1]}}'));
  assert.ok(!listed.includes("first"));
});
