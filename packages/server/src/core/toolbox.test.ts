import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultLimits } from "@relay/protocol";
import { checkValue } from "./schema/check.ts";
import type { PreparedSchema } from "./schema/prepare.ts";
import { Steps } from "./schema/steps.ts";
import { Toolbox } from "./toolbox.ts";

const LIMITS = defaultLimits();
const inputSchema = { type: "object" };

function judge(...tools: readonly unknown[]): Toolbox {
  const judged = Toolbox.judge(tools, LIMITS);
  assert.ok(judged.ok, judged.ok ? "" : judged.message);
  return judged.toolbox;
}

function refusalOf(...tools: readonly unknown[]): string {
  const judged = Toolbox.judge(tools, LIMITS);
  assert.ok(!judged.ok, `refused: ${JSON.stringify(tools)}`);
  return judged.message;
}

/** What is said of one tool with these fields besides its name. */
function refusalOfSchema(schema: unknown): string {
  return refusalOf({ name: "a", inputSchema: schema });
}

function fits(schema: PreparedSchema | null | undefined, value: unknown): boolean {
  assert.ok(schema !== null && schema !== undefined);
  return checkValue(schema, value, new Steps(10_000), "x") === null;
}

const SEARCH = {
  name: "search",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string", pattern: "^q", "x-mcp-header": "Query" } },
    required: ["query"],
  },
  outputSchema: { type: "object", required: ["hits"] },
};

describe("names", () => {
  test("are 1 to 64 characters of MCP's alphabet", () => {
    for (const name of ["a", "search_notes", "A.b/c-9", "x".repeat(64)]) {
      assert.ok(judge({ name, inputSchema }).get(name) !== undefined);
    }
    const expected = "tools[0].name must be 1 to 64 of the characters A-Z, a-z, 0-9, _, ., / and -";
    for (const name of ["", "a b", "a\n", "\u00e9", "\u{1f600}", "x".repeat(65), "a:b"]) {
      assert.equal(refusalOf({ name, inputSchema }), expected);
    }
  });

  test("are unique", () => {
    const [a, b] = [
      { name: "a", inputSchema },
      { name: "b", inputSchema },
    ];
    assert.equal(refusalOf(a, b, { ...b }), "tools[2].name is the name of tools[1] too");
    assert.equal(judge(a, b, { name: "A", inputSchema }).size, 3);
  });

  test("that objects inherit are ordinary ones: found when given, unknown when not", () => {
    const names = ["toString", "constructor", "__proto__", "hasOwnProperty"];
    const none = judge({ name: "a", inputSchema });
    for (const name of names) assert.equal(none.get(name), undefined);
    const all = judge(...names.map((name) => ({ name, inputSchema })));
    for (const name of names) assert.equal(all.get(name)?.name, name);
  });
});

describe("a tool", () => {
  test("is ready for calls: its arguments, its results and its mirrored parameters", () => {
    const tool = judge(SEARCH).get("search");
    assert.ok(fits(tool?.input, { query: "q1" }) && !fits(tool?.input, { query: "x" }));
    assert.ok(fits(tool?.output, { hits: 1 }) && !fits(tool?.output, {}));
    assert.deepEqual(tool?.headerParams, [
      { header: "Mcp-Param-Query", path: ["query"], type: "string" },
    ]);
    const plain = judge({ name: "a", inputSchema }).get("a");
    assert.ok(plain !== undefined && plain.output === null && plain.headerParams.length === 0);
  });

  test("must have the shape that clients parse", () => {
    assert.equal(refusalOf(null), "tools[0] must be an object");
    assert.equal(
      refusalOf(SEARCH, { name: "a", inputSchema, annotations: { readOnlyHint: "yes" } }),
      "tools[1].annotations.readOnlyHint must be a boolean",
    );
  });

  test("has a description of at most 2,000 characters, counted in code points", () => {
    const description = "\u{1f600}".repeat(2_000);
    judge({ name: "a", inputSchema, description });
    assert.equal(
      refusalOf({ name: "a", inputSchema, description: `${description}x` }),
      "tools[0].description must be at most 2000 characters",
    );
  });

  test("must not need tasks", () => {
    for (const taskSupport of ["optional", "forbidden"]) {
      judge({ name: "a", inputSchema, execution: { taskSupport } });
    }
    assert.equal(
      refusalOf({ name: "a", inputSchema, execution: { taskSupport: "required" } }),
      'tools[0].execution.taskSupport must not be "required": Relay has no tasks, so no host could call the tool',
    );
  });
});

const INVALID = "tools[0].inputSchema is not a valid JSON Schema";

describe("a schema", () => {
  test("that is no JSON Schema is refused with what is wrong in it", () => {
    const notOne = `${INVALID}: it must be an object or a boolean`;
    for (const schema of [undefined, null, [], "object", 5]) {
      assert.equal(refusalOfSchema(schema), notOne);
    }
    assert.equal(
      refusalOfSchema({ type: "object", properties: { query: { type: "text" } } }),
      `${INVALID}: properties.query.type must be one of array, boolean, integer, null, number, object and string`,
    );
    assert.equal(
      refusalOfSchema({ type: "object", required: true }),
      `${INVALID}: required must be an array`,
    );
    assert.equal(
      refusalOfSchema({ type: "object", properties: { a: { $ref: "#/$defs/none" } } }),
      `${INVALID}: properties.a.$ref refers to nothing in this schema`,
    );
    assert.equal(
      refusalOf({ name: "a", inputSchema, outputSchema: { type: "object", minProperties: -1 } }),
      "tools[0].outputSchema is not a valid JSON Schema: minProperties must be a non-negative integer",
    );
    assert.match(
      refusalOf({ name: "a", inputSchema, outputSchema: null }),
      /^tools\[0\]\.outputSchema is not a valid JSON Schema: it /,
    );
  });

  test("that is one, but not what MCP clients take, is refused as that", () => {
    const clients = `${INVALID} for MCP clients`;
    assert.equal(refusalOfSchema(true), `${clients}: it must be an object`);
    assert.equal(refusalOfSchema({}), `${clients}: type must be "object"`);
    assert.equal(refusalOfSchema({ type: "array" }), `${clients}: type must be "object"`);
    assert.equal(
      refusalOfSchema({ type: "object", properties: { a: true } }),
      `${clients}: properties.a must not be a boolean`,
    );
    const nullable = { type: "object", properties: { a: { nullable: true } } };
    judge({ name: "a", inputSchema: nullable });
    assert.equal(
      refusalOf({ name: "a", inputSchema, outputSchema: nullable }),
      "tools[0].outputSchema is not a valid JSON Schema for MCP clients: properties.a.nullable must stand beside a type",
    );
  });

  test("that Relay does not support is refused as that", () => {
    const code = { type: "string", pattern: String.raw`(a)\1` };
    assert.equal(
      refusalOfSchema({ type: "object", properties: { code } }),
      "tools[0].inputSchema.properties.code.pattern uses a back-reference, which Relay does not support",
    );
    assert.equal(
      refusalOfSchema({ type: "object", patternProperties: { "(?<=a)b": {} } }),
      'tools[0].inputSchema.patternProperties["(?<=a)b"] uses a look-behind, which Relay does not support',
    );
    assert.match(
      refusalOfSchema({ $schema: "http://json-schema.org/draft-04/schema#", type: "object" }),
      /^tools\[0\]\.inputSchema\.\$schema .*unsupported/,
    );
    assert.match(
      refusalOfSchema({ type: "object", $ref: "https://example.com/s" }),
      /^tools\[0\]\.inputSchema\.\$ref .*, which Relay does not support$/,
    );
  });

  test("must have well-formed x-mcp-header annotations", () => {
    const region = { type: "number", "x-mcp-header": "Region" };
    assert.equal(
      refusalOfSchema({ type: "object", properties: { region } }),
      'tools[0].inputSchema.properties.region["x-mcp-header"] may stand only on properties of type string, integer or boolean',
    );
  });

  test("counts its patterns together with those of the other tools", () => {
    const patterns = Object.fromEntries(Array.from({ length: 160 }, (_, n) => [`^p${n}$`, {}]));
    const a = { name: "a", inputSchema: { type: "object", patternProperties: patterns } };
    judge(a);
    assert.match(refusalOf(a, { ...a, name: "b" }), /^tools\[1\]\.inputSchema .*patterns/);
  });
});

describe("a stored manifest", () => {
  test("gives the same tools as when it was judged", () => {
    const tools = [SEARCH, { name: "__proto__", inputSchema }];
    const judged = judge(...tools);
    const stored = Toolbox.fromStored(JSON.stringify(tools));
    assert.equal(stored.size, judged.size);
    assert.equal(stored.bytes, judged.bytes);
    assert.ok(stored.bytes > 0);
    for (const { name } of tools) {
      assert.deepEqual(stored.get(name)?.headerParams, judged.get(name)?.headerParams);
    }
    assert.ok(fits(stored.get("search")?.input, { query: "q" }));
    assert.ok(!fits(stored.get("search")?.input, { query: "x" }));
  });

  test("leaves out a tool that would be refused today, and keeps the others", () => {
    const stored = Toolbox.fromStored(JSON.stringify([{ name: "a" }, SEARCH, null]));
    assert.deepEqual([stored.size, stored.get("a")], [1, undefined]);
    assert.equal(stored.get("search")?.name, "search");
  });
});
