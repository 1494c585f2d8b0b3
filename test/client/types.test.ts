/** What the workspace's compiler leaves out, since it knows no page: the widget, and a page with it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";

const root = join(import.meta.dirname, "..", "..");

for (const [what, folder] of [
  ["the widget", "packages/client/src/widget"],
  ["a page that uses it", "test/client/page-types"],
] as const) {
  test(`the types of ${what} hold, with those of pages`, () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "--noEmit", "-p", folder], {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  });
}
