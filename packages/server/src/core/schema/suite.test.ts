import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { checkValue, stepsFor } from "./check.ts";
import { isJsonObject } from "./json-object.ts";
import { prepareSchema } from "./prepare.ts";
import type { PreparedSchema } from "./prepare.ts";
import { Steps } from "./steps.ts";
import { AjvOracle, DIALECTS } from "./test/ajv-oracle.ts";
import type { DialectName } from "./test/ajv-oracle.ts";
import { SUITE_FOLDERS, readSuiteFile } from "./test/suite.ts";
import type { SuiteGroup } from "./test/suite.ts";

const SUITE = new URL("../../../../../../shared/data/json-schema-test-suite/", import.meta.url);
const skip = existsSync(SUITE) ? false : "the JSON-Schema-Test-Suite is not beside the repository";

const AGREEMENTS_MIN: Readonly<Record<DialectName, number>> = {
  "2020-12": 1254,
  "2019-09": 1223,
  "draft-07": 904,
};

for (const dialect of DIALECTS) {
  test(`every required test of the official suite agrees: ${dialect}`, { skip }, (t) => {
    let total = 0;
    let agreed = 0;
    for (const group of readSuite(dialect)) {
      total += group.tests.length;
      const preparation = prepareSchema(group.schema);
      if (group.needsRemote) {
        t.diagnostic(`skipped, needs a remote document: ${group.name} (${group.tests.length})`);
        assert.ok(!preparation.ok, group.name);
        assert.match(preparation.reason, /another document/);
        continue;
      }
      assert.ok(preparation.ok, group.name);
      for (const { name, data, valid, needsVocabulary } of group.tests) {
        if (needsVocabulary) {
          t.diagnostic(`skipped, needs a custom vocabulary: ${group.name}: ${name}`);
          continue;
        }
        const text = check(preparation.schema, data);
        assert.equal(text === null, valid, `${group.name}: ${name}: ${text}`);
        agreed += 1;
      }
    }
    t.diagnostic(`${dialect}: ${agreed} of ${total} agree`);
    assert.ok(agreed >= AGREEMENTS_MIN[dialect]);
  });
}

test("the error texts are Ajv's in at least 97 % of the suite's failing cases", { skip }, (t) => {
  let total = 0;
  let same = 0;
  for (const dialect of DIALECTS) {
    const ajv = new AjvOracle(dialect);
    for (const group of readSuite(dialect)) {
      const preparation = prepareSchema(group.schema);
      if (!preparation.ok || !isSchema(group.schema)) continue;
      const oracle = ajv.compile(group.schema);
      for (const { name, data, valid } of group.tests) {
        const verdict = valid ? undefined : oracle?.(data);
        if (verdict?.type !== "invalid") continue;
        total += 1;
        const ours = check(preparation.schema, data);
        const theirs = verdict.texts.slice(0, 5).join(", ");
        if (ours === theirs) same += 1;
        else t.diagnostic(`${dialect} ${group.name}: ${name}: "${ours}", Ajv "${theirs}"`);
      }
    }
  }
  t.diagnostic(`${same} of ${total} texts are the same`);
  assert.ok(total > 1_200);
  assert.ok(same / total >= 0.97);
});

test("no schema of the suite is refused that its meta-schema allows", { skip }, () => {
  for (const dialect of DIALECTS) {
    const oracle = new AjvOracle(dialect);
    for (const { name, schema, needsRemote } of readSuite(dialect)) {
      assert.ok(isSchema(schema));
      assert.equal(oracle.accepts(schema), true, name);
      assert.equal(prepareSchema(schema).ok, !needsRemote, `${dialect} ${name}`);
    }
  }
});

function readSuite(dialect: DialectName): SuiteGroup[] {
  const folder = new URL(`${SUITE_FOLDERS[dialect]}/`, SUITE);
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => {
      const json: unknown = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
      return readSuiteFile(dialect, file, json);
    });
}

function isSchema(schema: unknown): schema is object | boolean {
  return isJsonObject(schema) || typeof schema === "boolean";
}

function check(schema: PreparedSchema, value: unknown): string | null {
  const complaint = checkValue(schema, value, new Steps(stepsFor(0)), "arguments");
  if (complaint === null) return null;
  assert.equal(complaint.type, "invalid");
  return complaint.text;
}
