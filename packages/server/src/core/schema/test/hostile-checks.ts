import type { HostileCase } from "./hostile-cases.ts";
import { nest, record, times } from "./repeat.ts";

const KIB = 1024;

/** Definitions of which each refers to the next one twice: 2^levels ways through. */
function diamonds(levels: number, join: (ref: object) => object, end: unknown): object {
  const definitions = record(levels, (at) => [`d${at}`, join({ $ref: `#/$defs/d${at + 1}` })]);
  return { $ref: "#/$defs/d0", $defs: { ...definitions, [`d${levels}`]: end } };
}

/** Schemas that may be prepared, with values that make them work hard. */
export const HOSTILE_CHECKS: readonly HostileCase[] = [
  {
    name: "$async changes nothing",
    outcome: "invalid",
    schema: { $async: true, type: "object", required: ["a"] },
    value: {},
  },
  {
    name: "$data is ignored",
    outcome: "invalid",
    schema: { properties: { a: { const: { $data: "1/b" } } } },
    value: { a: 1, b: 1 },
  },
  { name: "a reference to itself", outcome: "too-complex", schema: { $ref: "#" }, value: {} },
  {
    name: "two references that go in a circle",
    outcome: "too-complex",
    schema: {
      $ref: "#/$defs/a",
      $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { anyOf: [{ $ref: "#/$defs/a" }] } },
    },
    value: {},
  },
  {
    name: "a circle through not and if",
    outcome: "too-complex",
    schema: { not: { if: { $ref: "#" }, then: false } },
    value: {},
  },
  {
    name: "allOf diamonds, 31 levels",
    outcome: "too-complex",
    schema: diamonds(31, (ref) => ({ allOf: [ref, ref] }), { type: "object" }),
    value: {},
  },
  {
    name: "anyOf diamonds that all fail, 31 levels",
    outcome: "too-complex",
    schema: diamonds(31, (ref) => ({ anyOf: [ref, ref] }), false),
    value: {},
  },
  {
    name: "oneOf diamonds, 31 levels",
    outcome: "too-complex",
    schema: diamonds(31, (ref) => ({ oneOf: [ref, { not: ref }] }), { minProperties: 1 }),
    value: { a: 1 },
  },
  {
    name: "if diamonds, 31 levels",
    outcome: "too-complex",
    schema: diamonds(31, (ref) => ({ if: ref, then: ref, else: ref }), { type: "object" }),
    value: {},
  },
  {
    name: "anyOf tree of depth 11 that fails everywhere",
    outcome: "too-complex",
    schema: nest(11, { type: "null" }, (inner) => ({ anyOf: [inner, inner] })),
    value: { a: "x" },
  },
  {
    name: "oneOf with 4,000 branches",
    outcome: "too-complex",
    schema: { oneOf: times(4_000, () => ({ type: "null" })) },
    value: { a: 1 },
  },
  {
    name: "4,000 branches over 3,000 items",
    outcome: "too-complex",
    schema: { items: { anyOf: [...times(3_999, () => ({ type: "null" })), {}] } },
    value: times(3_000, () => 1),
  },
  {
    name: "branches that fail with long texts",
    outcome: "invalid",
    schema: { anyOf: times(500, (at) => ({ required: [`${at}${"n".repeat(100)}`] })) },
    value: {},
  },
  {
    name: "enum of 12,000 numbers over 12,000 numbers",
    outcome: "valid",
    schema: { items: { enum: times(12_000, (at) => at) } },
    value: times(12_000, (at) => 11_999 - at),
  },
  {
    name: "enum of 3,000 objects over 2,500 objects",
    outcome: "valid",
    schema: { items: { enum: times(3_000, (at) => ({ a: at, b: [] })) } },
    value: times(2_500, (at) => ({ b: [], a: 2_499 - at })),
  },
  {
    name: "enum whose member is as long as the value, asked 17 times",
    outcome: "too-complex",
    schema: { allOf: times(17, () => ({ enum: [times(600, (at) => [at])] })) },
    value: times(600, (at) => [at]),
  },
  {
    name: "const of 40 KiB asked 300 times",
    outcome: "too-complex",
    schema: {
      allOf: times(300, () => ({ $ref: "#/$defs/c" })),
      $defs: { c: { const: record(2_500, (at) => [`key${at}`, at]) } },
    },
    value: record(2_500, (at) => [`key${2_499 - at}`, 2_499 - at]),
  },
  {
    name: "5,000 properties over 10,000 empty objects",
    outcome: "valid",
    schema: { items: { properties: record(5_000, (at) => [`p${at}`, true]) } },
    value: times(10_000, () => ({})),
  },
  {
    name: "2,600 properties over 2,600 objects with one each, the last wrong",
    outcome: "too-complex",
    schema: { items: { properties: record(2_600, (at) => [`p${at}`, { type: "null" }]) } },
    value: [...times(2_600, (at) => ({ [`p${at}`]: null })), { p1: 1 }],
  },
  {
    name: "5,000 required names over 10,000 objects",
    outcome: "invalid",
    schema: { items: { required: times(5_000, (at) => `p${at}`) } },
    value: times(10_000, () => ({})),
  },
  {
    name: "dependentSchemas for 800 names under unevaluatedProperties",
    outcome: "valid",
    schema: {
      dependentSchemas: record(800, (at) => [`k${at}`, { properties: { [`k${at}`]: true } }]),
      unevaluatedProperties: false,
    },
    value: record(800, (at) => [`k${at}`, at]),
  },
  {
    name: "dependentSchemas that each evaluate all 600 names",
    outcome: "too-complex",
    schema: {
      dependentSchemas: record(800, (at) => [`k${at}`, { $ref: "#/$defs/all" }]),
      unevaluatedProperties: false,
      $defs: { all: { patternProperties: { "^k": true } } },
    },
    value: record(800, (at) => [`k${at}`, at]),
  },
  {
    name: "dependentRequired for 1,000 names",
    outcome: "valid",
    schema: {
      dependentRequired: record(1_000, (at) => [
        `k${at}`,
        times(3, (next) => `k${(at + next) % 1_000}`),
      ]),
    },
    value: record(1_000, (at) => [`k${at}`, at]),
  },
  {
    name: "unevaluatedItems over 1,500 contains",
    outcome: "too-complex",
    schema: {
      allOf: times(1_500, (at) => ({ contains: { const: at } })),
      unevaluatedItems: false,
    },
    value: times(1_500, (at) => at),
  },
  {
    name: "unevaluatedProperties at 60 levels in place",
    outcome: "too-complex",
    schema: nest(60, { patternProperties: { "^k": true } }, (inner) => ({
      allOf: [inner],
      unevaluatedProperties: false,
    })),
    value: record(2_000, (at) => [`k${at}`, at]),
  },
  {
    name: "unevaluatedProperties with branches that fail late",
    outcome: "too-complex",
    schema: {
      anyOf: times(300, () => ({ patternProperties: { "^k": true }, required: ["missing"] })),
      unevaluatedProperties: true,
    },
    value: record(3_000, (at) => [`k${at}`, at]),
  },
  {
    name: "uniqueItems over 11,000 small arrays",
    outcome: "valid",
    schema: { uniqueItems: true },
    value: times(11_000, (at) => [at]),
  },
  {
    name: "uniqueItems over objects with 300 keys of a long common prefix",
    outcome: "valid",
    schema: { uniqueItems: true },
    value: times(4, (item) =>
      record(300, (at) => [`${"k".repeat(30)}${(at * 7_919) % 300}`, at + item]),
    ),
  },
  {
    name: "uniqueItems asked 3,000 times over 8 long strings",
    outcome: "too-complex",
    schema: { allOf: times(3_000, () => ({ uniqueItems: true })) },
    value: times(8, (at) => `${"s".repeat(8_000)}${at}`),
  },
  {
    name: "uniqueItems asked 3,000 times over 8 short strings",
    outcome: "too-complex",
    schema: { allOf: times(3_000, () => ({ uniqueItems: true })) },
    value: times(8, (at) => `${"s".repeat(60)}${at}`),
  },
  {
    name: "exponential backtracking",
    outcome: "invalid",
    schema: { pattern: "^(a+)+$" },
    value: `${"a".repeat(60 * KIB)}!`,
  },
  {
    name: "quadratic backtracking",
    outcome: "invalid",
    schema: { pattern: "\\s+$" },
    value: `${" ".repeat(60 * KIB)}!`,
  },
  {
    name: "alternatives that overlap",
    outcome: "invalid",
    schema: { pattern: "^(a|a|aa)+$" },
    value: `${"a".repeat(20 * KIB)}!`,
  },
  {
    name: "many threads over a long text",
    outcome: "invalid",
    schema: { pattern: "^(.?){200}b(.?){200}$" },
    value: "a".repeat(60 * KIB),
  },
  {
    name: "look-ahead at every place",
    outcome: "invalid",
    schema: { pattern: "^((?=.*b)a)*$" },
    value: "a".repeat(60 * KIB),
  },
  {
    name: "a counted repeat over the whole text",
    outcome: "invalid",
    schema: { pattern: "^[\\s\\S]{0,10000}$" },
    value: "x".repeat(60 * KIB),
  },
  {
    name: "250 patterns over a long text",
    outcome: "too-complex",
    schema: { allOf: times(250, (at) => ({ pattern: `^7*x{0,${at}}$` })) },
    value: "7".repeat(60 * KIB),
  },
  {
    name: "100 patternProperties over 3,000 names",
    outcome: "too-complex",
    schema: {
      patternProperties: record(100, (at) => [`^k.*${at}$`, true]),
      additionalProperties: { type: "null" },
    },
    value: record(3_000, (at) => [`k${at}k`, null]),
  },
  {
    name: "propertyNames with a pattern over 5,000 names",
    outcome: "valid",
    schema: { propertyNames: { pattern: "^([a-z]+[0-9]*)+$" } },
    value: record(5_000, (at) => [`key${at}`, 1]),
  },
  {
    name: "classes of all letters",
    outcome: "valid",
    schema: { pattern: "^(\\p{L}|\\p{N}|\\p{P})*$" },
    value: "né1.".repeat(6 * KIB),
  },
  {
    name: "dynamic references up and down",
    outcome: "too-complex",
    schema: {
      $dynamicAnchor: "n",
      allOf: [{ $ref: "b" }, { $ref: "b" }],
      $defs: {
        b: { $id: "b", $dynamicAnchor: "n", anyOf: [{ $ref: "c" }] },
        c: { $id: "c", $dynamicAnchor: "n", $dynamicRef: "#n" },
      },
    },
    value: {},
  },
  {
    name: "a deep value under a dynamic recursion",
    outcome: "valid",
    schema: {
      $dynamicAnchor: "n",
      properties: { a: { $dynamicRef: "#n" } },
      additionalProperties: false,
    },
    value: nest(120, {}, (a) => ({ a })),
  },
  {
    name: "a deep value under a plain recursion",
    outcome: "valid",
    schema: { items: { $ref: "#" } },
    value: nest(120, [], (inner) => [inner]),
  },
  {
    name: "a recursion that doubles at every level of the value",
    outcome: "too-complex",
    schema: { items: { allOf: [{ $ref: "#" }, { $ref: "#" }] } },
    value: nest(100, [], (inner) => [inner]),
  },
  {
    name: "propertyNames into itself",
    outcome: "valid",
    schema: { propertyNames: { $ref: "#" } },
    value: record(3_000, (at) => [`k${at}`, at]),
  },
  {
    name: "the 2020-12 meta-schema over a large schema",
    outcome: "valid",
    schema: { $ref: "https://json-schema.org/draft/2020-12/schema" },
    value: { properties: record(1_500, (at) => [`p${at}`, { type: "string", minLength: 1 }]) },
  },
  {
    name: "the 2019-09 meta-schema over a deep schema",
    outcome: "too-complex",
    schema: { $ref: "https://json-schema.org/draft/2019-09/schema" },
    value: nest(100, true, (not) => ({ not })),
  },
  {
    name: "the draft-07 meta-schema over a wide schema",
    outcome: "valid",
    schema: { $ref: "http://json-schema.org/draft-07/schema#" },
    value: { enum: times(8_000, (at) => at) },
  },
  {
    name: "multipleOf with extreme exponents over 5,000 numbers",
    outcome: "too-complex",
    schema: { items: { multipleOf: 5e-324 } },
    value: times(5_000, () => 1e308),
  },
  {
    name: "minLength and maxLength of astral text, 1,500 times",
    outcome: "too-complex",
    schema: { allOf: times(1_500, () => ({ minLength: 16_000, maxLength: 16_001 })) },
    value: "😀".repeat(16_000),
  },
  {
    name: "contains that counts arrays of arrays",
    outcome: "too-complex",
    schema: {
      contains: { contains: { contains: { const: 1 } } },
      minContains: 4_000,
    },
    value: times(4_000, (at) => [[at, 2]]),
  },
  {
    name: "a pointer into an enum, 1,000 times",
    outcome: "valid",
    schema: {
      allOf: times(1_000, () => ({ $ref: "#/enum/0/x" })),
      enum: [{ x: { type: "object" } }],
    },
    value: { x: { type: "object" } },
  },
  {
    name: "1,400 references through a long base",
    outcome: "valid",
    schema: {
      $id: `https://a.example/${"p/".repeat(KIB / 2 - 20)}`,
      allOf: times(1_400, () => ({ $ref: "../b#/$defs/c" })),
      $defs: { b: { $id: "../b", $defs: { c: { type: "object" } } } },
    },
    value: {},
  },
  {
    name: "names of __proto__ and constructor",
    outcome: "invalid",
    schema: JSON.parse(
      '{"properties":{"__proto__":{"type":"null"},"constructor":{"type":"null"}}}',
    ),
    value: JSON.parse('{"__proto__":1}'),
  },
  {
    name: "a name of 60 KiB that is not allowed, deep down",
    outcome: "invalid",
    schema: { additionalProperties: { additionalProperties: false } },
    value: { ["n".repeat(30 * KIB)]: { ["m".repeat(30 * KIB)]: 1 } },
  },
  {
    name: "64,000 numbers",
    outcome: "valid",
    schema: { type: "array", items: { type: "number" } },
    value: times(64_000, (at) => at % 10),
  },
  {
    name: "20,000 different numbers",
    outcome: "valid",
    schema: { type: "array", items: { type: "integer", minimum: 0 }, uniqueItems: true },
    value: times(20_000, (at) => at),
  },
  {
    name: "one pattern over 128 KiB",
    outcome: "valid",
    schema: { type: "string", pattern: "^[a-z ]*$" },
    value: "some text ".repeat(13 * KIB).slice(0, 128 * KIB - 2),
  },
];
