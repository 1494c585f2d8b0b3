import assert from "node:assert/strict";
import { test } from "node:test";
import { applyHunks, readPatch } from "./apply-patch.ts";

const PATCH = `Fault: two is three
Killed by: some/file.test.ts
Test: ^two
--- a/some/file.ts
+++ b/some/file.ts
@@ -2,3 +2,3 @@
 one
-two
+three

@@ -9,2 +9,1 @@
 end
-last
`;

const hunks = readPatch(PATCH).files.get("some/file.ts") ?? [];

test("a patch says what is broken, who notices, and what changes where", () => {
  const { fault, killedBy, test: name } = readPatch(PATCH);
  assert.deepEqual([fault, killedBy, name], ["two is three", "some/file.test.ts", "^two"]);
  assert.deepEqual(hunks, [
    { line: 2, before: ["one", "two", ""], after: ["one", "three", ""] },
    { line: 9, before: ["end", "last"], after: ["end"] },
  ]);
});

test("hunks apply where their lines stand, also if others moved them", () => {
  const text = ["new", "new", "head", "one", "two", "", "more", "end", "last", ""].join("\n");
  const after = ["new", "new", "head", "one", "three", "", "more", "end", ""].join("\n");
  assert.equal(applyHunks(text, hunks), after);
});

test("lines that are not there, or stand in several places, are not guessed at", () => {
  assert.throws(() => applyHunks("one\n2\n\nend\nlast\n", hunks), /does not hold/);
  const twice = "one\ntwo\n\n\none\ntwo\n\nend\nlast\n";
  assert.throws(() => applyHunks(twice, hunks), /holds more than once/);
});

test("a patch without its first lines, without a diff, or cut off is refused", () => {
  assert.throws(() => readPatch("--- a/x\n+++ b/x\n"), /must begin with Fault/);
  assert.throws(() => readPatch("Fault: x\nKilled by: y\n"), /no unified diff/);
  assert.throws(() => readPatch(`${PATCH}@@ -1,9 +1,9 @@\n x`), /cut off/);
});
