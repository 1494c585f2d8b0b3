import assert from "node:assert/strict";
import { test } from "node:test";
import { chargeable, checkValue, stepsFor } from "./check.ts";
import { prepareSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { DIALECT_URIS } from "./test/ajv-oracle.ts";

test("a value that fits gives null", () => {
  assert.equal(complaintOf({ type: "object", required: ["a"] }, { a: 1 }), null);
});

test("the text is the one that a person would expect from Ajv", () => {
  const cases: readonly (readonly [schema: unknown, value: unknown, text: string])[] = [
    [{ required: ["query"] }, {}, "arguments must have required property 'query'"],
    [{ type: ["string", "null"] }, 1, "arguments must be string,null"],
    [{ properties: { a: { type: "integer" } } }, { a: 1.5 }, "arguments/a must be integer"],
    [{ properties: { "x/y~": false } }, { "x/y~": 1 }, "arguments/x~1y~0 boolean schema is false"],
    [{ additionalProperties: false }, { b: 1 }, "arguments must NOT have additional properties"],
    [{ items: { minLength: 2 } }, ["ab", "c"], "arguments/1 must NOT have fewer than 2 characters"],
    [{ enum: ["a", "b"] }, "c", "arguments must be equal to one of the allowed values"],
    [{ multipleOf: 0.01 }, 0.015, "arguments must be multiple of 0.01"],
    [{ maxItems: 1 }, [1, 2], "arguments must NOT have more than 1 items"],
    [{ pattern: "^a$" }, "b", 'arguments must match pattern "^a$"'],
    [
      { anyOf: [{ type: "string" }, { minimum: 5 }] },
      3,
      "arguments must be string, arguments must be >= 5, arguments must match a schema in anyOf",
    ],
    [
      { dependentRequired: { a: ["b", "c"] } },
      { a: 1, b: 1 },
      "arguments must have properties b, c when property a is present",
    ],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, 5, { b: 2, a: 1 }],
      "arguments must NOT have duplicate items (items ## 0 and 2 are identical)",
    ],
  ];
  for (const [schema, value, text] of cases) assert.equal(textOf(schema, value), text);
});

test("the text begins with the name it is given", () => {
  const text = textOf({ properties: { a: { type: "null" } } }, { a: 1 }, "structuredContent");
  assert.equal(text, "structuredContent/a must be null");
});

test("at most five errors are named", () => {
  const schema = { anyOf: Array.from({ length: 9 }, (_, at) => ({ required: [`p${at}`] })) };
  const text = textOf(schema, {});
  assert.equal(text.split(", ").length, 5);
  assert.match(text, /'p0'.*'p4'$/);
});

test("a text is cut at 500 code points, and not inside of a character", () => {
  const text = textOf({ required: ["😀".repeat(1_000)] }, {});
  assert.equal(Array.from(text).length, 500);
  assert.ok(text.endsWith("😀…"));
  const whole = textOf({ required: ["x".repeat(460)] }, {});
  assert.equal(whole.length, 500);
  assert.ok(whole.endsWith("x'"));
  assert.ok(textOf({ required: ["x".repeat(461)] }, {}).endsWith("x…"));
});

test("a check that runs out of steps or goes too deep is too complex, not invalid", () => {
  const tooComplex = { type: "too-complex" };
  assert.deepEqual(complaintOf({ items: { type: "null" } }, [1, 2, 3], 8), tooComplex);
  assert.deepEqual(complaintOf({ $ref: "#" }, {}), tooComplex);
  assert.deepEqual(complaintOf({ not: { $ref: "#" } }, {}), tooComplex);
  assert.deepEqual(complaintOf({ items: { $ref: "#" } }, nested(190)), null);
  assert.deepEqual(complaintOf({ items: { $ref: "#" } }, nested(210)), tooComplex);
});

test("the budget is 100,000 steps and 4 a byte, and only what is above the bytes is charged", () => {
  assert.equal(stepsFor(0), 100_000);
  assert.equal(stepsFor(1_000), 104_000);
  assert.equal(chargeable(3_999, 1_000), 0);
  assert.equal(chargeable(4_001, 1_000), 1);
  assert.equal(chargeable(stepsFor(1_000), 1_000), 100_000);
});

test("ordinary arguments take a few hundred steps", () => {
  const schema = {
    type: "object",
    properties: { query: { type: "string", minLength: 1 }, limit: { type: "integer" } },
    required: ["query"],
    additionalProperties: false,
  };
  const steps = new Steps(stepsFor(40));
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok);
  assert.equal(checkValue(preparation.schema, { query: "x", limit: 5 }, steps, "arguments"), null);
  assert.ok(steps.used < 50, `${steps.used}`);
});

test("format only informs, and unknown keywords do nothing", () => {
  const schema = {
    format: "email",
    nullable: false,
    "x-unknown": 5,
    $async: true,
    discriminator: 1,
  };
  for (const value of ["not an address", null, 5]) assert.equal(complaintOf(schema, value), null);
});

test("1.0 is an integer and 1 is 1.0, and so is what has an exponent too large for a double", () => {
  const integer = { type: "integer" };
  for (const json of ["1.0", "1e3", "-0", "9007199254740993", "1E400"]) {
    assert.equal(complaintOf(integer, JSON.parse(json)), null, json);
  }
  assert.notEqual(complaintOf(integer, JSON.parse("1.5")), null);
  assert.equal(complaintOf({ const: 1 }, JSON.parse("1.0")), null);
  assert.equal(complaintOf({ enum: [0] }, JSON.parse("-0")), null);
  assert.equal(complaintOf({ const: [{ a: -0 }] }, JSON.parse('[{"a":0.0}]')), null);
});

test("lengths are code points", () => {
  assert.equal(complaintOf({ maxLength: 2, minLength: 2 }, "😀😀"), null);
  assert.notEqual(complaintOf({ maxLength: 1 }, "😀😀"), null);
  assert.notEqual(complaintOf({ minLength: 3 }, "😀😀"), null);
  assert.equal(complaintOf({ maxLength: 2 }, "\ud83d\ud83d"), null);
  assert.equal(complaintOf({ minLength: 1 }, "\ude00"), null);
});

test("items are twins when they are equal as JSON, and a text is never its canonical twin", () => {
  const unique = { uniqueItems: true };
  const twins = [
    [1, JSON.parse("1.0")],
    [
      { a: [1], b: 2 },
      { b: 2, a: [1] },
    ],
    [null, 0, null],
    ["[1]", "[1]"],
    [[], "x", []],
  ];
  const different = [
    [1, true, "1", "true", [1], ["1"], [[1]], { a: 1 }, { a: "1" }],
    ["[1]", [1], '"[1]', '""[1]', "{}", {}, '"{}'],
    [0, false, null, "", [], {}, "null", "false", "0"],
    [{ a: 1, b: 2 }, { a: 2, b: 1 }, { a: 1 }, { "a:1,b": 2 }],
  ];
  for (const items of twins) {
    assert.notEqual(complaintOf(unique, items), null, JSON.stringify(items));
    assert.notEqual(complaintOf(unique, [...items, ...range(10)]), null);
  }
  for (const items of different) {
    assert.equal(complaintOf(unique, items), null, JSON.stringify(items));
    assert.equal(complaintOf(unique, [...items, ...range(10)]), null);
  }
});

test("what a failed branch evaluated does not count as evaluated", () => {
  const branches = [
    { additionalProperties: true, patternProperties: { "^a": true } },
    { properties: { a: true, b: true } },
    { unevaluatedProperties: true },
  ].flatMap((part) => [{ allOf: [part, false] }, { allOf: [part, { required: ["x"] }] }]);
  for (const branch of branches) {
    for (const key of ["anyOf", "oneOf"]) {
      const schema = { [key]: [branch, true], unevaluatedProperties: false };
      assert.notEqual(complaintOf(schema, { a: 1, b: 2 }), null, JSON.stringify(schema));
    }
    const schema = { if: branch, unevaluatedProperties: false };
    assert.notEqual(complaintOf(schema, { a: 1 }), null, JSON.stringify(schema));
  }
  for (const part of [{ items: true }, { prefixItems: [true] }, { contains: true }]) {
    const failing = { allOf: [part, { minItems: 9 }] };
    const schema = { anyOf: [failing, true], unevaluatedItems: false };
    assert.notEqual(complaintOf(schema, [1]), null, JSON.stringify(schema));
    assert.equal(complaintOf({ anyOf: [part, true], unevaluatedItems: false }, [1]), null);
  }
});

test("an item that contains matched is evaluated since 2020-12, and not before", () => {
  const schema = { contains: { const: 1 }, unevaluatedItems: { const: 2 } };
  assert.equal(complaintOf(schema, [1, 2, 1]), null);
  assert.notEqual(complaintOf(schema, [1, 3]), null);
  assert.notEqual(complaintOf({ $schema: DIALECT_URIS["2019-09"], ...schema }, [1, 2]), null);
});

test("a dynamic scope that was left is not looked into", () => {
  const schema = {
    $id: "https://a.example/main",
    properties: { first: { $ref: "first" }, second: { $ref: "second" } },
    $defs: {
      first: { $id: "first", not: false, $defs: { a: { $dynamicAnchor: "t", const: 1 } } },
      second: {
        $id: "second",
        $ref: "list",
        $defs: { a: { $dynamicAnchor: "t", type: "number" } },
      },
      list: {
        $id: "list",
        items: { $dynamicRef: "#t" },
        $defs: { a: { $dynamicAnchor: "t", type: "null" } },
      },
    },
  };
  assert.equal(complaintOf(schema, { first: "x", second: [2] }), null);
  assert.notEqual(complaintOf(schema, { first: "x", second: [null] }), null);
});

test("enum and const compare the smallest objects and arrays right", () => {
  const members = [{}, [], { "": 0 }, { "": {} }, [[]], [{}], [0], [""], { a: [] }];
  for (const member of members) {
    for (const other of members) {
      const isSame = JSON.stringify(member) === JSON.stringify(other);
      assert.equal(complaintOf({ const: member }, other) === null, isSame);
      assert.equal(complaintOf({ enum: [7, member] }, other) === null, isSame);
    }
  }
});

function range(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `item ${at}`);
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function complaintOf(schema: unknown, value: unknown, limit = stepsFor(0), name = "arguments") {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok, JSON.stringify(schema));
  return checkValue(preparation.schema, value, new Steps(limit), name);
}

function textOf(schema: unknown, value: unknown, name = "arguments"): string {
  const complaint = complaintOf(schema, value, stepsFor(0), name);
  assert.equal(complaint?.type, "invalid");
  return complaint.text;
}
