import assert from "node:assert/strict";
import { test } from "node:test";
import { KEYWORDS } from "./keywords.ts";
import { prepareSchema } from "./prepare.ts";
import { AjvOracle, DIALECTS, DIALECT_URIS } from "./test/ajv-oracle.ts";
import { AJV_LACKS, AJV_NARROWS, ODD_VALUES, RELAY_LIMITS } from "./test/odd-values.ts";

for (const dialect of DIALECTS) {
  test(`every keyword takes the shapes that the meta-schema allows: ${dialect}`, (t) => {
    const oracle = new AjvOracle(dialect);
    const counts = { accepted: 0, refused: 0, excused: 0 };
    for (const keyword of [...KEYWORDS.keys(), "unknown", "id", "nullable", "$async", "$data"]) {
      if (keyword === "$schema") continue;
      for (const value of ODD_VALUES) {
        for (const wrap of WRAPS) {
          const schema = { $schema: DIALECT_URIS[dialect], ...wrap({ [keyword]: value }) };
          counts[compare(oracle, keyword, schema)] += 1;
        }
      }
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.accepted > 500 && counts.refused > 500);
  });
}

const WRAPS: readonly ((schema: object) => object)[] = [
  (schema) => schema,
  (schema) => ({ properties: { "a b": schema } }),
  (schema) => ({ allOf: [true, schema] }),
  (schema) => ({ definitions: { x: { not: schema } } }),
];

function compare(
  oracle: AjvOracle,
  keyword: string,
  schema: object,
): "accepted" | "refused" | "excused" {
  const ours = prepareSchema(schema);
  const theirs = oracle.accepts(schema);
  if (ours.ok === theirs) return ours.ok ? "accepted" : "refused";
  const what = `${JSON.stringify(schema)}: ${JSON.stringify(ours)}, Ajv ${theirs}`;
  if (ours.ok) assert.ok(AJV_NARROWS.includes(keyword), what);
  else if (!AJV_LACKS.includes(keyword)) {
    assert.ok(
      RELAY_LIMITS.some((limit) => ours.reason.startsWith(limit)),
      what,
    );
  }
  return "excused";
}
