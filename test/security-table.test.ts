/** SECURITY.md names a test for each defence: each is there, in that file and by that name. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const text = readFileSync(join(ROOT, "SECURITY.md"), "utf8");

type Named = { readonly path: string; readonly name: string };

const named: readonly Named[] = [...text.matchAll(/\[[^\]]+\]\(([^)]+)\): “([^”]+)”/g)].map(
  ([, path = "", name = ""]) => ({ path, name }),
);

/** Whether a file has a test whose name is this, or begins with it where a seed follows. */
function hasTest({ path, name }: Named): boolean {
  const file = join(ROOT, path);
  if (!existsSync(file)) return false;
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`test\\(\\s*(["\`])${escaped}(\\1| \\()`).test(readFileSync(file, "utf8"));
}

test("each test that SECURITY.md names is there", () => {
  assert.ok(named.length > 50, `only ${named.length} tests are named`);
  const missing = named.filter((one) => !hasTest(one));
  assert.deepEqual(missing, []);
});

test("each defence of SECURITY.md names a test", () => {
  const rows = text.split("\n").filter((line) => /^\| (?!---|tries to|what happens)/.test(line));
  const bare = rows.filter((row) => !/\.test\.ts\): “/.test(row));
  assert.ok(rows.length > 30, `only ${rows.length} defences`);
  assert.deepEqual(bare, []);
});
