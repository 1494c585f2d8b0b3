/** Every case of `cases.ts` is shown by tests that exist. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CASES } from "./cases.ts";

const root = join(import.meta.dirname, "..");
const list = join(root, "../shared/cases/cases.md");

/** Whether the file has a test of exactly this name, but for a seed behind it. */
function hasTest(source: string, name: string): boolean {
  const written = JSON.stringify(name).slice(1, -1);
  const quoted = written.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\b(?:test|it)\\(\\s*["'\`]${quoted}(?:["'\`]| \\(seed )`).test(source);
}

test("a case is shown by tests that are there, under the names they are said to have", () => {
  for (const one of CASES) {
    assert.ok(one.shownBy.length > 0, one.id);
    for (const [file, name] of one.shownBy) {
      const path = join(root, file);
      assert.ok(existsSync(path), `${one.id}: there is no ${file}`);
      assert.ok(hasTest(readFileSync(path, "utf8"), name), `${one.id}: ${file} has no "${name}"`);
    }
  }
});

const skip = existsSync(list) ? false : "the list of cases is not beside this tree";

test("every case of the list has its place here, and only those", { skip }, () => {
  const ids = [...readFileSync(list, "utf8").matchAll(/^- \*\*(D-[A-Z]\d+) /gm)].map(
    ([, id]) => id,
  );
  assert.ok(ids.length > 0);
  assert.deepEqual(
    CASES.map(({ id }) => id),
    ids,
  );
});
