import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Seal } from "./seal.ts";

test("what was sealed opens with its key, and the sealed bytes do not show it", () => {
  const seal = new Seal(randomBytes(32));
  const url = "http://localhost:8787/v1/mcp/ut_example";
  const sealed = seal.close(url);
  assert.equal(seal.open(sealed), url);
  assert.ok(!sealed.toString("latin1").includes("ut_"));
  assert.notDeepEqual(seal.close(url), sealed);
});

test("another key, a changed byte, or something else opens to nothing", () => {
  const sealed = new Seal(randomBytes(32)).close("secret");
  const key = randomBytes(32);
  assert.equal(new Seal(key).open(sealed), null);
  const changed = new Seal(key).close("secret");
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  assert.equal(new Seal(key).open(changed), null);
  assert.equal(new Seal(key).open(Buffer.from("short")), null);
});
