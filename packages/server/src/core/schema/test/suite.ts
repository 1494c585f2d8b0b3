import { isJsonObject } from "../json-object.ts";
import { DIALECT_URIS } from "./ajv-oracle.ts";
import type { DialectName } from "./ajv-oracle.ts";

/** The folders of the official JSON-Schema-Test-Suite. */
export const SUITE_FOLDERS: Readonly<Record<DialectName, string>> = {
  "2020-12": "draft2020-12",
  "2019-09": "draft2019-09",
  "draft-07": "draft7",
};

/** A group of the official suite: one schema and the values to check against it. */
export interface SuiteGroup {
  readonly name: string;
  readonly schema: unknown;
  readonly needsRemote: boolean;
  readonly tests: readonly SuiteTest[];
}

export interface SuiteTest {
  readonly name: string;
  readonly data: unknown;
  readonly valid: boolean;
  /** True when the verdict hangs on a meta-schema of the suite's own that turns keywords off. */
  readonly needsVocabulary: boolean;
}

/** Groups outside of refRemote.json which refer to documents on the suite's own server. */
const REMOTE = [
  "strict-tree schema, guards against misspelled properties",
  "tests for implementation dynamic anchor and reference link",
  "$ref and $dynamicAnchor are independent of order - $defs first",
  "$ref and $dynamicAnchor are independent of order - $ref first",
  "$ref to $dynamicRef finds detached $dynamicAnchor",
];

const VOCABULARY = "no validation: invalid number, but it still validates";

/** Reads one file of the suite. A schema that names no dialect gets the folder's. */
export function readSuiteFile(dialect: DialectName, file: string, json: unknown): SuiteGroup[] {
  return arrayOf(json).map((group) => {
    const description = String(group["description"]);
    return {
      name: `${file}: ${description}`,
      schema: withDialect(dialect, group["schema"]),
      needsRemote: file === "refRemote.json" || REMOTE.includes(description),
      tests: arrayOf(group["tests"]).map((test) => ({
        name: String(test["description"]),
        data: test["data"],
        valid: test["valid"] === true,
        needsVocabulary: test["description"] === VOCABULARY,
      })),
    };
  });
}

/** The suite's own meta-schemas switch vocabularies; here such a schema is read as its dialect. */
function withDialect(dialect: DialectName, schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const named = schema["$schema"];
  if (typeof named === "string" && !named.startsWith("http://localhost")) return schema;
  return { ...schema, $schema: DIALECT_URIS[dialect] };
}

function arrayOf(json: unknown): Record<string, unknown>[] {
  return Array.isArray(json) ? json.filter((item) => isJsonObject(item)) : [];
}
