import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShapeFault } from "./json-shape.ts";
import type { JsonObject } from "./schema/json-object.ts";
import { placeText } from "./schema/place.ts";
import { inputSchemaFault, outputSchemaFault, readTool } from "./tool-shape.ts";

const inputSchema = { type: "object" };
const bare = { name: "a", inputSchema };

function written(fault: ShapeFault | null): string | null {
  return fault === null ? null : `${placeText(fault.path)} ${fault.reason}`.trim();
}

function faultOf(tool: unknown): string | null {
  const reading = readTool(tool);
  return reading.ok ? null : written(reading.fault);
}

test("a tool with every field of MCP is read, and so is one with the two it needs", () => {
  assert.equal(faultOf(bare), null);
  const full = {
    ...bare,
    title: "A",
    description: "",
    icons: [{ src: "data:," }],
    outputSchema: {},
    annotations: {
      title: "A",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    execution: { taskSupport: "optional" },
    _meta: { "x/y": [] },
  };
  const reading = readTool(full);
  assert.ok(reading.ok);
  assert.equal(reading.tool, full);
});

test("fields that MCP does not name pass, whatever they hold", () => {
  assert.equal(faultOf({ ...bare, other: null, annotations: { other: 1 }, execution: {} }), null);
});

const FAULTS: readonly (readonly [unknown, string])[] = [
  [null, "must be an object"],
  [[], "must be an object"],
  ["tool", "must be an object"],
  [{ inputSchema }, "name must be a string"],
  [{ ...bare, name: 5 }, "name must be a string"],
  [{ ...bare, title: null }, "title must be a string"],
  [{ ...bare, description: null }, "description must be a string"],
  [{ ...bare, icons: null }, "icons must be an array"],
  [{ ...bare, icons: [{ src: "s", sizes: "any" }] }, "icons[0].sizes must be an array"],
  [{ ...bare, annotations: null }, "annotations must be an object"],
  [{ ...bare, annotations: { title: 1 } }, "annotations.title must be a string"],
  [{ ...bare, execution: "x" }, "execution must be an object"],
  [
    { ...bare, execution: { taskSupport: "maybe" } },
    'execution.taskSupport must be "required", "optional" or "forbidden"',
  ],
  [{ ...bare, _meta: null }, "_meta must be an object"],
];

test("what a client would not parse is refused with its place", () => {
  for (const [tool, expected] of FAULTS) assert.equal(faultOf(tool), expected);
});

test("every hint is a boolean", () => {
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
    const expected = `annotations.${hint} must be a boolean`;
    assert.equal(faultOf({ ...bare, annotations: { [hint]: "true" } }), expected);
  }
});

test("clients want an object at the root of a schema, and no booleans under properties", () => {
  const cases: readonly (readonly [unknown, string | null])[] = [
    [true, "must be an object"],
    [{ type: "object" }, null],
    [{ type: "object", properties: {} }, null],
    [{ type: "object", properties: { a: {}, b: { properties: { c: true } } } }, null],
    [{}, 'type must be "object"'],
    [{ type: "array" }, 'type must be "object"'],
    [{ type: ["object"] }, 'type must be "object"'],
    [{ type: "object", properties: { a: {}, b: true } }, "properties.b must not be a boolean"],
    [
      { type: "object", properties: { ["__proto__"]: false } },
      "properties.__proto__ must not be a boolean",
    ],
  ];
  for (const [schema, expected] of cases) {
    assert.equal(written(inputSchemaFault(schema)), expected);
    assert.equal(written(outputSchemaFault(schema)), expected);
  }
});

/** Schemas of one property `a` that are valid, and that the SDK's Ajv throws at. */
const UNCOMPILABLE: readonly (readonly [JsonObject, string])[] = [
  [{ enum: [] }, "properties.a.enum must not be empty"],
  [{ nullable: true }, "properties.a.nullable must stand beside a type"],
  [{ type: "string", nullable: 1 }, "properties.a.nullable must be a boolean"],
  [
    { type: ["null", "string"], nullable: false },
    'properties.a.nullable must not be false beside the type "null"',
  ],
  [{ id: "x" }, 'properties.a.id must be "$id"'],
  [
    { $ref: "https://json-schema.org/draft/2020-12/schema" },
    "properties.a.$ref must not lead to a meta-schema",
  ],
  [
    { pattern: String.raw`\@` },
    "properties.a.pattern must be a pattern that is valid in Unicode mode",
  ],
  [
    { patternProperties: { a: {}, [String.raw`\-`]: {} } },
    "properties.a.patternProperties must be a pattern that is valid in Unicode mode",
  ],
  [{ anyOf: [{}, { not: { enum: [] } }] }, "properties.a.anyOf[1].not.enum must not be empty"],
];

test("what clients can't compile is refused in an outputSchema, and passes in an inputSchema", () => {
  for (const [a, expected] of UNCOMPILABLE) {
    const schema = { type: "object", properties: { a } };
    assert.equal(inputSchemaFault(schema), null);
    assert.equal(written(outputSchemaFault(schema)), expected);
  }
});

test("an outputSchema may use nullable beside a type, an ordinary pattern, and a $ref of its own", () => {
  const schema = {
    type: "object",
    properties: {
      a: { type: "string", nullable: true },
      b: { type: "string", nullable: false, pattern: String.raw`^[\w-]+$` },
      c: { $ref: "#/$defs/c" },
      d: { enum: [1] },
      id: { type: "string" },
      enum: { default: { enum: [] }, const: { id: 1 } },
    },
    patternProperties: { "^x": {} },
    $defs: { c: {} },
  };
  assert.equal(written(outputSchemaFault(schema)), null);
});
