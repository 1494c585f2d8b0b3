import assert from "node:assert/strict";
import { test } from "node:test";
import { checkValue, stepsFor } from "./check.ts";
import type { Complaint } from "./check.ts";
import { prepareSchema } from "./prepare.ts";
import type { PreparedSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { DIALECTS } from "./test/ajv-oracle.ts";
import { Random } from "./test/random.ts";
import { SchemaMaker } from "./test/random-schema.ts";
import { fittingValue } from "./test/random-value.ts";

const SEED = 77_001;

test("two tenants with the same $id and different schemas never see each other", () => {
  const $id = "https://tenant.example/tool";
  const texts = prepared({
    $id,
    $anchor: "it",
    $defs: { x: { $id: "x", type: "string" } },
    $ref: "x",
  });
  const numbers = prepared({
    $id,
    $anchor: "it",
    $defs: { x: { $id: "x", type: "number" } },
    $ref: "x",
  });
  for (let round = 0; round < 3; round += 1) {
    assert.equal(check(texts, "a"), null);
    assert.equal(check(numbers, 1), null);
    assert.notEqual(check(texts, 1), null);
    assert.notEqual(check(numbers, "a"), null);
  }
});

test("no schema can refer to the $id or the anchor of another one", () => {
  prepared({
    $id: "https://victim.example/secret",
    $defs: { a: { $anchor: "key", const: "s3cret" } },
  });
  for (const $ref of [
    "https://victim.example/secret",
    "https://victim.example/secret#key",
    "relay:///s#key",
    "#key",
  ]) {
    assert.equal(prepareSchema({ $ref }).ok, false, $ref);
  }
});

test("no schema can stand in for a meta-schema", () => {
  const $id = "https://json-schema.org/draft/2020-12/schema";
  const impostor = prepared({ $id, $dynamicAnchor: "meta", $defs: { a: true } });
  assert.equal(check(impostor, 5), null);
  const honest = prepared({ $ref: $id });
  assert.notEqual(check(honest, { type: 5 }), null);
  assert.equal(check(honest, { type: "string" }), null);
});

test("a pointer into a meta-schema leaves nothing behind for others", () => {
  const $ref = "https://json-schema.org/draft/2020-12/schema#/properties";
  for (let round = 0; round < 2; round += 1) {
    const preparation = prepareSchema({ $ref });
    assert.ok(!preparation.ok);
    assert.equal(preparation.reason, "refers to nothing in this schema");
  }
});

test(`the answer depends on schema, value and budget only (seed ${SEED})`, () => {
  const random = new Random(SEED);
  const makers = DIALECTS.map((dialect) => new SchemaMaker(random, dialect));
  const cases = makers.flatMap((maker) =>
    Array.from({ length: 120 }, () => {
      const schema = maker.root();
      const values = Array.from({ length: 6 }, () => fittingValue(random, schema, schema));
      return { text: JSON.stringify(schema), schema: prepared(schema), values };
    }),
  );
  const all = cases.flatMap(({ schema, values, text }) =>
    values.flatMap((value) => [20, 200, 20_000].map((budget) => ({ schema, text, value, budget }))),
  );
  const answers = all.map(({ schema, value, budget }) => answer(schema, value, budget));
  const complaints = new Set(answers.map(({ complaint }) => complaint?.type ?? "valid"));
  assert.deepEqual([...complaints].toSorted(), ["invalid", "too-complex", "valid"]);
  for (let round = 0; round < 3; round += 1) {
    for (const [index] of all.entries()) {
      // Another order every round, a fresh preparation every other time, a value of its own.
      const at = (index * 7_919 + round) % all.length;
      const { schema, text, value, budget } = all[at] ?? assert.fail();
      const own = index % 2 === 0 ? schema : prepared(JSON.parse(text));
      const copy: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(answer(own, copy, budget), answers[at], text);
    }
  }
});

test("a check changes neither the value nor the prepared schema", () => {
  const schema = deepFreeze(prepared(SAMPLE));
  for (const value of SAMPLE_VALUES) check(schema, deepFreeze(structuredClone(value)));
});

test("what is inherited is never taken for data, even while Object.prototype is polluted", () => {
  const schemas = [
    { required: ["polluted"] },
    { properties: { polluted: false } },
    { additionalProperties: false },
    { propertyNames: false },
    { maxProperties: 0 },
    { dependentRequired: { polluted: ["more"] } },
    { const: {} },
    { patternProperties: { "^p": false }, unevaluatedProperties: false },
  ].map((schema) => prepared(schema));
  const before = schemas.map((schema) => check(schema, {}));
  Reflect.defineProperty(Object.prototype, "polluted", {
    value: 1,
    enumerable: true,
    configurable: true,
  });
  try {
    assert.deepEqual(
      schemas.map((schema) => check(schema, {})),
      before,
    );
    assert.equal(check(prepared({ properties: { a: { type: "string" } } }), { a: "x" }), null);
  } finally {
    Reflect.deleteProperty(Object.prototype, "polluted");
  }
});

test("__proto__ is a name like any other, in schemas and in values", () => {
  const schema = prepared(
    JSON.parse('{"properties":{"__proto__":{"type":"number"}},"required":["__proto__"]}'),
  );
  assert.equal(check(schema, JSON.parse('{"__proto__":1}')), null);
  assert.match(
    textOf(check(schema, JSON.parse('{"__proto__":"x"}'))),
    /\/__proto__ must be number/,
  );
  assert.match(textOf(check(schema, {})), /required property '__proto__'/);
  assert.notEqual(check(prepared({ required: ["toString", "constructor"] }), {}), null);
  const enumeration = prepared(JSON.parse('{"enum":[{"__proto__":{"a":1}}]}'));
  assert.equal(check(enumeration, JSON.parse('{"__proto__":{"a":1}}')), null);
  assert.notEqual(check(enumeration, {}), null);
});

const SAMPLE = {
  $defs: { node: { properties: { next: { $ref: "#/$defs/node" } }, unevaluatedProperties: false } },
  $ref: "#/$defs/node",
  anyOf: [{ required: ["a"] }, { contains: { const: 1 } }, { uniqueItems: true }],
  patternProperties: { "^a": { enum: [1, "x", { b: [1] }] } },
};

const SAMPLE_VALUES = [{}, { a: 1 }, { next: { next: { next: 5 } } }, { a: { b: [1] } }, [1, 1]];

function prepared(schema: unknown): PreparedSchema {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok, JSON.stringify(schema));
  return preparation.schema;
}

function answer(schema: PreparedSchema, value: unknown, budget: number): Answer {
  const steps = new Steps(budget);
  const complaint = checkValue(schema, value, steps, "arguments");
  return { complaint, used: steps.used };
}

interface Answer {
  readonly complaint: Complaint | null;
  readonly used: number;
}

function check(schema: PreparedSchema, value: unknown): Complaint | null {
  return checkValue(schema, value, new Steps(stepsFor(0)), "arguments");
}

function textOf(complaint: Complaint | null): string {
  assert.equal(complaint?.type, "invalid");
  return complaint.text;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (!ArrayBuffer.isView(value)) Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
