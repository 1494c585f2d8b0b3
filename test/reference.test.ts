import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { referencePages } from "../docs/generate.ts";

const folder = join(import.meta.dirname, "..", "docs", "reference");

test("the reference pages are what the tables in code say", () => {
  const pages = referencePages();
  assert.deepEqual(readdirSync(folder).toSorted(), [...pages.keys()].toSorted());
  for (const [name, text] of pages) {
    assert.equal(readFileSync(join(folder, name), "utf8"), text, `run npm run docs:reference`);
  }
});
