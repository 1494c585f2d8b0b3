import assert from "node:assert/strict";
import { test } from "node:test";
import { checkValue, stepsFor } from "./check.ts";
import { PREPARE_LIMITS, prepareSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { DIALECT_URIS } from "./test/ajv-oracle.ts";

test("the first fault is named with its exact place and a phrase that follows it", () => {
  const cases: readonly (readonly [schema: unknown, path: string, reason: string | RegExp])[] = [
    [5, "", "must be an object or a boolean"],
    [{ type: "strin" }, "type", /^must be one of array, boolean, /],
    [{ type: ["string", "strin"] }, "type[1]", /^must be one of /],
    [{ type: [] }, "type", "must not be empty"],
    [{ properties: { code: { pattern: "(" } } }, "properties.code.pattern", /./],
    [{ properties: { code: { pattern: "(a)\\1" } } }, "properties.code.pattern", /back-reference/],
    [{ properties: { "a b": { minLength: -1 } } }, 'properties["a b"].minLength', /non-negative/],
    [{ anyOf: [true, {}, { not: [] }] }, "anyOf[2].not", "must be an object or a boolean"],
    [{ anyOf: [] }, "anyOf", "must not be empty"],
    [{ required: ["a", "a"] }, "required[1]", "repeats an earlier entry"],
    [{ required: "a" }, "required", "must be an array"],
    [{ dependentRequired: { a: [1] } }, "dependentRequired.a[0]", "must be a string"],
    [{ patternProperties: { "(": true } }, 'patternProperties["("]', /./],
    [{ multipleOf: 0 }, "multipleOf", "must be greater than 0"],
    [{ minimum: "1" }, "minimum", "must be a number"],
    [{ $defs: { x: { $ref: "#/$defs/y" } } }, "$defs.x.$ref", "refers to nothing in this schema"],
    [{ $ref: "other.json" }, "$ref", "refers to another document, which Relay does not support"],
    [{ $schema: "http://json-schema.org/draft-04/schema#" }, "$schema", /unsupported/],
    [{ $schema: 7 }, "$schema", /unsupported/],
    [{ $anchor: "a b" }, "$anchor", "must be a plain name"],
    [{ $id: "a#b" }, "$id", "must not have a fragment"],
    [{ title: 5 }, "title", "must be a string"],
    [{ allOf: [{ $ref: "#/x" }], x: { type: 1 } }, "x.type", "must be a string"],
  ];
  for (const [schema, path, reason] of cases) {
    const preparation = prepareSchema(schema);
    assert.ok(!preparation.ok, JSON.stringify(schema));
    assert.equal(preparation.path, path, JSON.stringify(schema));
    if (typeof reason === "string") assert.equal(preparation.reason, reason);
    else assert.match(preparation.reason, reason);
  }
});

test("a key in the place is cut, since strangers choose it", () => {
  const preparation = prepareSchema({ properties: { ["k".repeat(9_000)]: 5 } });
  assert.ok(!preparation.ok && preparation.path.length < 100);
  const odd = prepareSchema({ properties: { "\ud800": 5 } });
  assert.ok(!odd.ok);
  assert.equal(odd.path, 'properties["\\ud800"]');
});

test("the dialects are read from $schema, with http or https and with or without a closing #", () => {
  for (const uri of [
    ...Object.values(DIALECT_URIS),
    "http://json-schema.org/draft-06/schema#",
    "https://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft/2020-12/schema#",
  ]) {
    assert.ok(prepareSchema({ $schema: uri, type: "object" }).ok, uri);
  }
  for (const uri of [
    "http://json-schema.org/draft-03/schema#",
    "https://example.com/x",
    "",
    null,
  ]) {
    assert.ok(!prepareSchema({ $schema: uri }).ok);
  }
});

test("a schema that names no dialect may use the older forms of items", () => {
  const tuple = { items: [{ type: "string" }, { type: "number" }], additionalItems: false };
  assert.ok(fits(tuple, ["a", 1]));
  assert.ok(!fits(tuple, ["a", "b"]));
  assert.ok(!fits(tuple, ["a", 1, 2]));
  assert.ok(fits({ items: [], definitions: { a: true } }, [1, "a"]));
  const old = {
    definitions: { short: { maxLength: 3 } },
    properties: { a: { $ref: "#/definitions/short" } },
    dependencies: { a: ["b"], b: { required: ["c"] } },
  };
  assert.ok(fits(old, { a: "abc", b: 1, c: 1 }));
  assert.ok(!fits(old, { a: "abcd", b: 1, c: 1 }));
  assert.ok(!fits(old, { a: "abc" }));
  assert.ok(!fits(old, { b: 1 }));
});

test("a schema that names 2020-12 is held to it", () => {
  const $schema = DIALECT_URIS["2020-12"];
  const preparation = prepareSchema({ $schema, items: [{ type: "string" }] });
  assert.ok(!preparation.ok);
  assert.equal(preparation.path, "items");
  assert.ok(!prepareSchema({ items: [true], prefixItems: [true] }).ok);
  assert.ok(fits({ $schema, items: true, additionalItems: false }, [1, 2]));
});

test("in draft-07 a $ref stands alone, and later its siblings count", () => {
  const schema = { $ref: "#/definitions/a", maxLength: 1, definitions: { a: { type: "string" } } };
  assert.ok(fits({ $schema: DIALECT_URIS["draft-07"], ...schema }, "abc"));
  assert.ok(!fits({ $schema: DIALECT_URIS["2019-09"], ...schema }, "abc"));
  assert.ok(!prepareSchema({ $schema: DIALECT_URIS["draft-07"], ...schema, maxLength: -1 }).ok);
});

test("references find places, anchors, embedded ids and what no keyword holds", () => {
  const schema = {
    $id: "https://a.example/root",
    $defs: {
      "x/y~": { $anchor: "named", type: "string" },
      inner: { $id: "inner", $defs: { deep: { type: "number" } }, type: "boolean" },
    },
    custom: { type: "null" },
    properties: {
      pointer: { $ref: "#/$defs/x~1y~0" },
      escaped: { $ref: "#/%24defs/x~1y~0" },
      anchor: { $ref: "root#named" },
      id: { $ref: "/inner" },
      inside: { $ref: "inner#/$defs/deep" },
      across: { $ref: "#/$defs/inner/$defs/deep" },
      unknown: { $ref: "#/custom" },
      index: { $ref: "#/oneOf/1" },
    },
    oneOf: [false, { type: "object" }],
  };
  const right = {
    pointer: "a",
    escaped: "a",
    anchor: "a",
    id: true,
    inside: 1,
    across: 1,
    unknown: null,
    index: {},
  };
  assert.ok(fits(schema, right));
  for (const name of Object.keys(right)) assert.ok(!fits(schema, { ...right, [name]: [] }), name);
});

test("the official meta-schemas can be referred to", () => {
  for (const $ref of [
    ...Object.values(DIALECT_URIS),
    "http://json-schema.org/draft-06/schema#",
    "https://json-schema.org/draft/2020-12/meta/validation",
  ]) {
    assert.ok(fits({ $ref }, { minLength: 1 }), $ref);
    assert.ok(!fits({ $ref }, { minLength: -1 }), $ref);
  }
  assert.ok(!prepareSchema({ $ref: "http://json-schema.org/draft-04/schema#" }).ok);
});

test("each limit refuses one more and takes what is just within", () => {
  const chain = (depth: number): unknown => (depth === 0 ? {} : { not: chain(depth - 1) });
  const list = <Item>(length: number, make: (at: number) => Item) =>
    Array.from({ length }, (_, at) => make(at));
  const { depth, schemas, references, ids, patternsPerManifest } = PREPARE_LIMITS;
  const makers: readonly (readonly [limit: number, make: (count: number) => unknown])[] = [
    [depth, (count) => chain(count - 1)],
    [schemas, (count) => ({ anyOf: list(count - 1, () => ({})) })],
    [
      references,
      (count) => ({ anyOf: list(count, () => ({ $ref: "#/$defs/a" })), $defs: { a: true } }),
    ],
    [ids, (count) => ({ anyOf: list(count, (at) => ({ $id: `i${at}` })) })],
    [patternsPerManifest, (count) => ({ anyOf: list(count, (at) => ({ pattern: `${at}` })) })],
  ];
  for (const [limit, make] of makers) {
    assert.ok(prepareSchema(make(limit)).ok, `${limit}`);
    const beyond = prepareSchema(make(limit + 1));
    assert.ok(!beyond.ok && beyond.reason.includes(`more than ${limit} `), `${limit}`);
  }
});

test("the same pattern many times is compiled and counted once", () => {
  const use = { patterns: 0, instructions: 0 };
  const many = { anyOf: Array.from({ length: 1_000 }, () => ({ pattern: "^a+$" })) };
  assert.ok(prepareSchema(many, use).ok);
  assert.equal(use.patterns, 1);
});

test("whatever JSON it is given, it answers and does not throw", () => {
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  const texts = [
    "null",
    "[]",
    '"x"',
    deep,
    `{"const":${deep}}`,
    `{"default":${deep}}`,
    `{"x":${deep},"$ref":"#/x"}`,
    '{"$ref":"#/%"}',
    '{"$ref":"#/~2"}',
    '{"properties":{"__proto__":{"$id":"__proto__"}},"$ref":"__proto__"}',
    '{"type":{"toString":1}}',
  ];
  for (const text of texts) {
    assert.equal(typeof prepareSchema(JSON.parse(text)).ok, "boolean", text.slice(0, 50));
  }
});

function fits(schema: unknown, value: unknown): boolean {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok, JSON.stringify(preparation.ok ? "" : preparation));
  return checkValue(preparation.schema, value, new Steps(stepsFor(0)), "arguments") === null;
}
