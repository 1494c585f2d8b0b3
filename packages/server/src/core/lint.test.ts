import assert from "node:assert/strict";
import { test } from "node:test";
import { countCodePoints } from "@relay/protocol";
import { lintTools, WARNINGS_MAX } from "./lint.ts";
import type { ToolDefinition } from "./tool-shape.ts";

const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const clean: ToolDefinition = {
  name: "search_notes",
  description: "Full-text search",
  annotations,
  inputSchema: { type: "object", properties: { query: { type: "string" } } },
};

/** The warnings about one tool as `path: message`, the path without `tools[0].`. */
function warningsOf(changes: Partial<ToolDefinition>): readonly string[] {
  const warnings = lintTools([{ ...clean, ...changes }]);
  return warnings.map(({ path, message }) => `${path.replace("tools[0].", "")}: ${message}`);
}

/** The same for an input schema with one property `a`. */
function warningsOfProperty(a: unknown): readonly string[] {
  return warningsOf({ inputSchema: { type: "object", properties: { a } } });
}

test("a tool that every host takes has no warnings", () => {
  const properties = {
    plain: { type: "string" },
    list: { type: ["array", "null"], items: { $ref: "#/$defs/item" } },
    either: { anyOf: [{ type: "string" }, { oneOf: [{ const: 1 }] }] },
    // Names of properties that look like keywords.
    properties: { type: "object", properties: { items: { type: "string" } } },
    $dynamicRef: { type: "string" },
    sample: { type: "object", default: { type: "array" }, examples: [{ properties: { a: {} } }] },
  };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    $defs: { item: { type: "object", oneOf: [{ required: ["a"] }] } },
  };
  assert.deepEqual(warningsOf({ inputSchema: schema, outputSchema: schema }), []);
  assert.deepEqual(warningsOf({ name: "x".repeat(48) }), []);
});

test("a long name, and one with a dot or a slash", () => {
  const long =
    "name: Over 48 characters: hosts put the connector's name before it, and some then hide the tool.";
  const odd = 'name: Has "." or "/": some hosts take only letters, digits, "_" and "-".';
  assert.deepEqual(warningsOf({ name: "x".repeat(49) }), [long]);
  assert.deepEqual(warningsOf({ name: "notes.search" }), [odd]);
  assert.deepEqual(warningsOf({ name: `notes/${"x".repeat(48)}` }), [long, odd]);
});

test("no description, or none to speak of", () => {
  const missing = ["description: Missing: a model can't tell what the tool is for."];
  const { description: _, ...without } = clean;
  assert.deepEqual(lintTools([without]), [
    { path: "tools[0].description", message: "Missing: a model can't tell what the tool is for." },
  ]);
  assert.deepEqual(warningsOf({ description: " \n" }), missing);
});

test("annotations that leave a hint unsaid", () => {
  assert.deepEqual(warningsOf({ annotations: {} }), [
    "annotations: Without readOnlyHint, destructiveHint, openWorldHint: some hosts want each one said.",
  ]);
  assert.deepEqual(warningsOf({ annotations: { readOnlyHint: true, openWorldHint: false } }), [
    "annotations: Without destructiveHint: some hosts want each one said.",
  ]);
  const { annotations: _, ...without } = clean;
  assert.equal(lintTools([without])[0]?.path, "tools[0].annotations");
});

test("oneOf, anyOf and allOf at the top of an inputSchema, but not of an outputSchema", () => {
  const choices = { oneOf: [{}], anyOf: [{}], allOf: [{}] };
  const schema = { type: "object", ...choices };
  const message =
    "At the top of an inputSchema: a model API may refuse the whole conversation for it.";
  assert.deepEqual(warningsOf({ inputSchema: schema }), [
    `inputSchema.oneOf: ${message}`,
    `inputSchema.anyOf: ${message}`,
    `inputSchema.allOf: ${message}`,
  ]);
  assert.deepEqual(warningsOf({ outputSchema: schema }), []);
});

test("an array without items, at any depth of an inputSchema", () => {
  const message = "An array without items: some hosts refuse the tool.";
  assert.deepEqual(warningsOfProperty({ type: "array" }), [`inputSchema.properties.a: ${message}`]);
  assert.deepEqual(
    warningsOfProperty({ anyOf: [{ type: "string" }, { not: { type: ["null", "array"] } }] }),
    [`inputSchema.properties.a.anyOf[1].not: ${message}`],
  );
});

test("a property without a type", () => {
  const message = "A property without a type: some hosts skip the tool.";
  for (const a of [{}, { enum: ["x"] }, { description: "d" }]) {
    assert.deepEqual(warningsOfProperty(a), [`inputSchema.properties.a: ${message}`]);
  }
  assert.deepEqual(
    warningsOfProperty({ type: "object", properties: { "b c": true, d: { type: "null" } } }),
    [`inputSchema.properties.a.properties["b c"]: ${message}`],
  );
});

test("a $dynamicRef", () => {
  assert.deepEqual(warningsOfProperty({ type: "object", $dynamicRef: "#x" }), [
    "inputSchema.properties.a.$dynamicRef: Some hosts refuse a tool with it.",
  ]);
});

test("in both schemas: another dialect than 2020-12, a list under items, a number out of range", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { a: { type: "array", items: [{ type: "integer", enum: [1, Infinity] }] } },
  };
  assert.deepEqual(warningsOf({ inputSchema: schema }), olderDialectWarnings("inputSchema"));
  assert.deepEqual(warningsOf({ outputSchema: schema }), olderDialectWarnings("outputSchema"));
});

function olderDialectWarnings(field: string): readonly string[] {
  return [
    `${field}.$schema: Not 2020-12, the only dialect that some hosts and model APIs take.`,
    `${field}.properties.a.items[0].enum[1]: A number too large for a double: some hosts then hide every tool.`,
    `${field}.properties.a.items: A list of schemas is called prefixItems in 2020-12; some hosts refuse the tool.`,
  ];
}

test("tools are warned of in their order, and the place of each is named", () => {
  const tools = [clean, { ...clean, name: "a.b" }, { ...clean, annotations: {} }];
  const paths = lintTools(tools).map(({ path }) => path);
  assert.deepEqual(paths, ["tools[1].name", "tools[2].annotations"]);
});

test("past 64 warnings one more tells how many there were besides", () => {
  const properties = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`p${n}`, {}]));
  const schema = { type: "object", properties };
  const warnings = lintTools([{ ...clean, inputSchema: schema }]);
  assert.equal(warnings.length, WARNINGS_MAX + 1);
  assert.equal(warnings[63]?.path, "tools[0].inputSchema.properties.p63");
  assert.deepEqual(warnings[64], { path: "tools", message: "And 6 more." });
});

test("a path is cut at 200 characters", () => {
  let schema: Record<string, unknown> = {};
  for (let depth = 0; depth < 20; depth += 1) {
    schema = { type: "object", properties: { ["\u00e9".repeat(60)]: schema } };
  }
  const [warning] = lintTools([{ ...clean, inputSchema: schema }]);
  assert.ok(warning !== undefined && warning.path.endsWith("\u2026"));
  assert.equal(countCodePoints(warning.path), 200);
});
