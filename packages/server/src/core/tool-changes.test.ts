import assert from "node:assert/strict";
import { test } from "node:test";
import { toolChanges } from "./tool-changes.ts";

test("the tools of a first manifest are all added", () => {
  const changes = toolChanges(null, '[{"name":"b"},{"name":"a"}]');
  assert.deepEqual(changes, { added: ["b", "a"], removed: [], changed: [] });
});

test("tools are added, removed and changed by name", () => {
  const before = '[{"name":"keep","n":1},{"name":"drop"},{"name":"edit","description":"Reads"}]';
  const after = '[{"name":"new"},{"name":"edit","description":"Deletes"},{"name":"keep","n":1}]';
  assert.deepEqual(toolChanges(before, after), {
    added: ["new"],
    removed: ["drop"],
    changed: ["edit"],
  });
});

test("another way to write the same tools is no change", () => {
  const before = '[{"name":"a","x":{"p":1,"q":[1.0,-0]}},{"name":"b","y":"\\u00e9"}]';
  const after = ' [ {"y":"é","name":"b"} , {"x":{"q":[1,0],"p":1e0},"name":"a"} ] ';
  assert.deepEqual(toolChanges(before, after), { added: [], removed: [], changed: [] });
});

test("a change is seen however deep it is, and under whatever key", () => {
  const of = (inner: string) => `[{"name":"a","x":{"y":[${inner}]}}]`;
  const pairs = [
    ['{"__proto__":1}', '{"__proto__":2}'],
    ['{"__proto__":1}', "{}"],
    ['"1"', "1"],
    ["null", "false"],
    ["[1,2]", "[2,1]"],
    ["{}", "[]"],
    ['{"k\\\\":1}', '{"k\\u005c":2}'],
  ] as const;
  for (const [before, after] of pairs) {
    const { changed } = toolChanges(of(before), of(after));
    assert.deepEqual(changed, ["a"], `${before} to ${after}`);
  }
});

test("a tool may be named like a property that objects inherit", () => {
  const tools = '[{"name":"constructor"},{"name":"__proto__"}]';
  assert.deepEqual(toolChanges("[]", tools).added, ["constructor", "__proto__"]);
  assert.deepEqual(toolChanges(tools, "[]").removed, ["constructor", "__proto__"]);
});
