import assert from "node:assert/strict";
import { test } from "node:test";
import { placeText } from "./schema/place.ts";
import { visitSubschemas } from "./subschemas.ts";

function placesOf(schema: Record<string, unknown>): readonly string[] {
  const places: string[] = [];
  visitSubschemas(schema, (_, keys) => void places.push(placeText(keys)));
  return places;
}

test("every keyword that holds schemas is entered, in the order of the text", () => {
  const keywords = {
    one: "additionalItems additionalProperties contains contentSchema else if items not propertyNames",
    more: "then unevaluatedItems unevaluatedProperties",
    list: "allOf anyOf items oneOf prefixItems",
    map: "$defs definitions dependencies dependentSchemas patternProperties properties",
  };
  for (const keyword of `${keywords.one} ${keywords.more}`.split(" ")) {
    assert.deepEqual(placesOf({ [keyword]: { not: {} } }), ["", keyword, `${keyword}.not`]);
  }
  for (const keyword of keywords.list.split(" ")) {
    const schema = { [keyword]: [{}, true, { not: {} }] };
    const places = ["[0]", "[1]", "[2]", "[2].not"].map((place) => `${keyword}${place}`);
    assert.deepEqual(placesOf(schema), ["", ...places]);
  }
  for (const keyword of keywords.map.split(" ")) {
    const schema = { [keyword]: { a: {}, ["__proto__"]: {}, not: { not: {} } } };
    const names = ["a", "__proto__", "not", "not.not"];
    assert.deepEqual(placesOf(schema), ["", ...names.map((name) => `${keyword}.${name}`)]);
  }
});

test("a visit is told the keyword that holds the sub-schema", () => {
  const holders: string[] = [];
  const schema = { properties: { a: true, items: { items: {} } }, allOf: [{}] };
  visitSubschemas(schema, (part, _keys, holder) => void holders.push(`${holder} ${typeof part}`));
  const expected = [" object", "properties boolean", "properties object", "items object"];
  assert.deepEqual(holders, [...expected, "allOf object"]);
});

test("what only looks like a schema is left alone", () => {
  const data = { properties: { a: {} }, not: {} };
  const schema = { const: data, default: data, enum: [data], examples: [data], other: data };
  assert.deepEqual(placesOf({ ...schema, dependencies: { a: ["b"] }, items: [["x"]] }), [""]);
});
