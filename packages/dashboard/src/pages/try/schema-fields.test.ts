import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentsText, fieldsOf, sketchOf } from "./schema-fields.ts";

const schema = {
  type: "object",
  properties: {
    query: { type: "string", description: "What to look for" },
    limit: { type: "integer" },
    exact: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    order: { enum: ["new", "old"] },
  },
  required: ["query"],
};

test("a schema of plain properties becomes a form", () => {
  const fields = fieldsOf(schema) ?? [];
  assert.deepEqual(
    fields.map(({ name, kind, required }) => [name, kind, required]),
    [
      ["query", "text", true],
      ["limit", "whole number", false],
      ["exact", "boolean", false],
      ["tags", "list of text", false],
      ["order", "text", false],
    ],
  );
});

test("what a form can't show whole is left to the JSON editor", () => {
  const nested = { type: "object", properties: { where: { type: "object" } } };
  const either = { type: "object", anyOf: [{ required: ["a"] }] };
  const numbers = { type: "object", properties: { n: { enum: [1, 2] } } };
  const reference = { $ref: "#/$defs/a", $defs: { a: { type: "object" } } };
  for (const odd of [nested, either, numbers, reference]) assert.equal(fieldsOf(odd), null);
});

test("numbers go out as typed, and what is empty is left out", () => {
  const typed = { query: 'a "b"', limit: "9007199254740993", exact: "", tags: "x\n\ny", order: "" };
  assert.equal(
    argumentsText(schema, typed),
    String.raw`{ "query": "a \"b\"", "limit": 9007199254740993, "tags": ["x","y"] }`,
  );
  assert.equal(argumentsText(schema, {}), '{ "query": "" }');
  assert.equal(argumentsText({ type: "object" }, {}), "{}");
});

test("the JSON editor begins with every required property", () => {
  const odd = {
    type: "object",
    properties: { a: { type: "object" }, b: { type: "integer" }, c: {} },
    required: ["a", "b"],
  };
  assert.deepEqual(JSON.parse(sketchOf(odd)), { a: {}, b: 0 });
});
