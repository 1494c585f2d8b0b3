import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { isJsonObject } from "./json-object.ts";
import { metaSchemas07 } from "./meta-schemas-07.ts";
import { metaSchemas2019 } from "./meta-schemas-2019.ts";
import { metaSchemas2020 } from "./meta-schemas-2020.ts";
import { prepareSchema } from "./prepare.ts";

const require = createRequire(import.meta.url);

/** Ajv's copies of the published documents. */
const PUBLISHED: Readonly<Record<string, string>> = {
  "http://json-schema.org/draft-07/schema#": "json-schema-draft-07.json",
  "http://json-schema.org/draft-06/schema#": "json-schema-draft-06.json",
  "https://json-schema.org/draft/2019-09/": "json-schema-2019-09/",
  "https://json-schema.org/draft/2020-12/": "json-schema-2020-12/",
};

test("the bundled meta-schemas say what the published ones say", () => {
  const documents = [...metaSchemas07(), ...metaSchemas2019(), ...metaSchemas2020()];
  assert.equal(documents.length, 17);
  for (const document of documents) {
    const id = String(document["$id"]);
    const published = publishedCopy(id);
    if (id === "http://json-schema.org/draft-07/schema#") {
      // Ajv's copy is of an older edition here.
      const properties: unknown = published["properties"];
      assert.ok(isJsonObject(properties));
      properties["enum"] = { type: "array", items: true };
      properties["writeOnly"] = { type: "boolean" };
    }
    assert.deepEqual(document, withoutProse(published), id);
  }
});

test("every bundled meta-schema is a valid schema in its own dialect", () => {
  for (const document of [...metaSchemas07(), ...metaSchemas2019(), ...metaSchemas2020()]) {
    const { $schema, $id } = document;
    const preparation = prepareSchema({ $schema, $ref: $id });
    assert.ok(preparation.ok, String($id));
  }
});

function publishedCopy(id: string): Record<string, unknown> {
  for (const [prefix, file] of Object.entries(PUBLISHED)) {
    if (!id.startsWith(prefix)) continue;
    const rest = id.slice(prefix.length);
    const json: unknown = require(
      `ajv/dist/refs/${file}${file.endsWith("/") ? `${rest}.json` : ""}`,
    );
    assert.ok(isJsonObject(json));
    return structuredClone(json);
  }
  return assert.fail(id);
}

const PROSE = new Set(["$comment", "title", "default", "deprecated"]);

/** Drops what only informs, but not the properties of these names that a meta-schema describes. */
function withoutProse(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutProse(item));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => isMap || !PROSE.has(key))
      .map(([key, value]) => [key, withoutProse(value, !isMap && MAPS.has(key))]),
  );
}

const MAPS = new Set(["properties", "$defs", "definitions", "$vocabulary"]);
