import assert from "node:assert/strict";
import { test } from "node:test";
import { checkValue, stepsFor } from "./check.ts";
import type { JsonObject } from "./json-object.ts";
import { prepareSchema } from "./prepare.ts";
import type { PreparedSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { AJV_FAULTS, rewrite } from "./test/ajv-faults.ts";
import type { AjvFault } from "./test/ajv-faults.ts";
import { AjvOracle, DIALECTS } from "./test/ajv-oracle.ts";
import type { DialectName, Oracle } from "./test/ajv-oracle.ts";
import { Random } from "./test/random.ts";
import { SchemaMaker } from "./test/random-schema.ts";
import { fittingValue } from "./test/random-value.ts";

const SEED = 20_260_801;
/** 100,800 pairs in all with `TEST_FULL=1` and in `npm run long`, a quarter otherwise. */
const SCHEMAS =
  process.env["TEST_FULL"] === undefined && process.env["TEST_LONG"] === undefined ? 175 : 700;
const VALUES_PER_SCHEMA = 48;
const SAME_TEXT = "invalid, the same text";
const OTHER_TEXT = "invalid, another text";

for (const dialect of DIALECTS) {
  test(`Ajv agrees on ${SCHEMAS * VALUES_PER_SCHEMA} random pairs: ${dialect} (seed ${SEED})`, (t) => {
    const random = new Random(SEED);
    const maker = new SchemaMaker(random, dialect);
    const ajv = new AjvOracle(dialect, true);
    const tally = new Map<string, number>();
    const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
    for (let schemas = 0; schemas < SCHEMAS;) {
      const schema = maker.root();
      const oracle = ajv.compile(schema);
      if (oracle === null) continue;
      schemas += 1;
      for (let values = 0; values < VALUES_PER_SCHEMA; values += 1) {
        const value = fittingValue(random, schema, schema);
        count(compare(dialect, schema, value, oracle));
      }
    }
    for (const [what, times] of tally) t.diagnostic(`${times} × ${what}`);
    for (const [keyword, made] of maker.made) {
      assert.ok(made > SCHEMAS / 14, `${keyword}: ${made}`);
    }
    const times = (what: string): number => tally.get(what) ?? 0;
    const enough = (SCHEMAS * VALUES_PER_SCHEMA) / 7;
    assert.ok(times("valid") > enough && times(SAME_TEXT) > enough);
    assert.ok(times(OTHER_TEXT) < 0.03 * times(SAME_TEXT));
  });
}

test("the texts show how Ajv puts functions together, as its users know them", () => {
  const $defs = {
    number: { type: "number" },
    through: { $ref: "#/$defs/number", maximum: 0 },
    many: { contains: { $ref: "#/$defs/number" } },
  };
  const schemas: readonly JsonObject[] = [
    { if: true, then: { type: "null" } },
    { if: true, then: { $ref: "#/$defs/number" } },
    { if: true, then: { $ref: "#/$defs/through" } },
    { anyOf: [{ if: true, then: { type: "null" } }] },
    { anyOf: [{ contains: { type: "null" } }, { $ref: "#/$defs/many" }] },
    { contains: { type: "null" }, minContains: 2, maxContains: 3 },
    { allOf: [{ contains: { anyOf: [{ type: "null" }] } }] },
    {
      oneOf: [
        { type: ["null", "boolean"], enum: [1] },
        { type: "string", not: {} },
      ],
    },
    { oneOf: [{ maxLength: 9 }, { minItems: 0 }, { type: "null" }] },
    { propertyNames: { minLength: 3, pattern: "^x" } },
    { type: "object", minimum: 5, minLength: 5, minItems: 5, enum: [0] },
    { type: "integer", minimum: 5, enum: [0] },
    { type: "string", minimum: 5, minLength: 2 },
    { not: { anyOf: [{}] }, items: false },
    { prefixItems: [true], items: false },
    { properties: { a: { dependentSchemas: { b: false } } }, required: ["a"] },
    { unevaluatedProperties: false, unevaluatedItems: false, type: ["object", "array"] },
  ];
  const values = [1, "ab", null, [], [1, "x"], ["x", "x"], {}, { a: 1 }, { a: { b: 1 } }];
  const ajv = new AjvOracle("2020-12", true);
  let compared = 0;
  for (const schema of schemas.map((each) => ({ ...each, $defs }))) {
    const oracle = ajv.compile(schema);
    for (const value of values) {
      const theirs = oracle?.(value);
      const text = theirs?.type === "invalid" ? theirs.texts.join(", ") : null;
      assert.equal(
        check(schema, value),
        text,
        `${JSON.stringify(schema)} ${JSON.stringify(value)}`,
      );
      if (text !== null) compared += 1;
    }
  }
  assert.ok(compared > 70, `${compared}`);
});

function compare(dialect: DialectName, schema: JsonObject, value: unknown, oracle: Oracle): string {
  const ours = check(schema, value);
  const theirs = oracle(value);
  const what = `${JSON.stringify(schema)}\n${JSON.stringify(value)}\nours: ${ours}\nAjv: ${JSON.stringify(theirs)}`;
  assert.notEqual(theirs.type, "threw", what);
  if ((ours === null) !== (theirs.type === "valid")) {
    const fault = AJV_FAULTS.find(
      (known) => known.dialects.includes(dialect) && explains(known, dialect, schema, value),
    );
    assert.ok(fault !== undefined, what);
    return `Ajv's fault: ${fault.name}`;
  }
  if (theirs.type !== "invalid") return "valid";
  const text = theirs.texts.slice(0, 5).join(", ");
  return ours === text ? SAME_TEXT : OTHER_TEXT;
}

/** A fault explains a difference when Ajv agrees with us once its way around is taken. */
function explains(
  fault: AjvFault,
  dialect: DialectName,
  schema: JsonObject,
  value: unknown,
): boolean {
  const detour = detourOf(fault, dialect, schema);
  if (detour === null) return false;
  const theirs = detour.oracle?.(value).type;
  const ours = check(detour.schema, value) === null ? "valid" : "invalid";
  const before = check(schema, value) === null ? "valid" : "invalid";
  return ours === theirs && (!fault.keepsMeaning || ours === before);
}

interface Detour {
  readonly schema: JsonObject;
  readonly oracle: Oracle | null;
}

/** Compiling is what takes the time: once per schema and fault. */
const detours = new WeakMap<JsonObject, Map<AjvFault, Detour | null>>();

function detourOf(fault: AjvFault, dialect: DialectName, schema: JsonObject): Detour | null {
  const known = detours.get(schema) ?? new Map<AjvFault, Detour | null>();
  detours.set(schema, known);
  const found = known.get(fault);
  if (found !== undefined) return found;
  const around = rewrite(schema, fault.around);
  const oracle = around === null ? null : new AjvOracle(dialect).compile(around);
  const detour = around === null ? null : { schema: around, oracle };
  known.set(fault, detour);
  return detour;
}

const prepared = new WeakMap<JsonObject, PreparedSchema>();

function check(schema: JsonObject, value: unknown): string | null {
  const known = prepared.get(schema) ?? prepare(schema);
  prepared.set(schema, known);
  const complaint = checkValue(known, value, new Steps(stepsFor(0)), "arguments");
  if (complaint === null) return null;
  assert.equal(complaint.type, "invalid", JSON.stringify(schema));
  return complaint.text;
}

function prepare(schema: JsonObject): PreparedSchema {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok, JSON.stringify(schema));
  return preparation.schema;
}
