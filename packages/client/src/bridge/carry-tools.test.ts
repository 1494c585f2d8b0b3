import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestFault } from "../manifest-fault.ts";
import type { ToolDefinition } from "../tool.ts";
import { carryTools } from "./carry-tools.ts";

const tool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: "x",
  inputSchema: { type: "object" },
  ...more,
});

function carried(offered: readonly ToolDefinition[], instructions = "") {
  const { tools, notes } = carryTools(offered, instructions);
  // Whatever was offered: Relay takes what comes out.
  const app = { name: "🙂".repeat(64), version: "🙂".repeat(64) };
  const definitions = tools.map(({ definition }) => definition);
  assert.equal(manifestFault({ app, instructions, tools: definitions }), "");
  return {
    names: tools.map(({ serverName, definition }) => [serverName, definition.name]),
    notes,
    definitions,
  };
}

test("what Relay can carry passes, every field of it, without a note", () => {
  const offered = [tool("read_file", { title: "Read", annotations: { readOnlyHint: true } })];
  const { definitions, notes } = carried(offered);
  assert.deepEqual(definitions, offered);
  assert.deepEqual(notes, []);
});

test("names are written in Relay's alphabet, and stay different from each other", () => {
  const { names, notes } = carried([tool("a b"), tool("a_b"), tool("a:b"), tool("🙂"), tool("")]);
  assert.deepEqual(names, [
    ["a b", "a_b"],
    ["a_b", "a_b_2"],
    ["a:b", "a_b_3"],
    ["🙂", "__"],
    ["", "tool"],
  ]);
  assert.equal(notes[0], "a b is called a_b here");
});

test("long names are cut, and still different", () => {
  const { names } = carried([tool("x".repeat(70)), tool("x".repeat(71))]);
  assert.deepEqual(
    names.map(([, name]) => name),
    ["x".repeat(64), `${"x".repeat(62)}_2`],
  );
});

test("long descriptions are cut, between characters", () => {
  const { definitions, notes } = carried([tool("a", { description: "🙂".repeat(2_500) })]);
  assert.equal(definitions[0]?.description, "🙂".repeat(2_000));
  assert.deepEqual(notes, ["a: its description is cut at 2000 characters"]);
});

test("what can't be carried is left out with its reason", () => {
  const { names, notes } = carried([
    tool("task", { execution: { taskSupport: "required" } }),
    tool("list", { inputSchema: { type: "array" } }),
    tool("fine"),
  ]);
  assert.deepEqual(names, [["fine", "fine"]]);
  assert.match(notes[0] ?? "", /^task is left out: it runs as a task only/);
  assert.match(notes[1] ?? "", /^list is left out: inputSchema is not a valid JSON Schema for MCP/);
});

test("no more than 64 tools and 64 KiB are carried, instructions included", () => {
  const many = Array.from({ length: 70 }, (_, index) => tool(`tool_${index}`));
  assert.equal(carried(many).names.length, 64);
  const large = Array.from({ length: 60 }, (_, index) =>
    tool(`tool_${index}`, { description: "é".repeat(1_000) }),
  );
  const { names, notes } = carried(large, "é".repeat(4_000));
  assert.ok(names.length > 20 && names.length < 30, String(names.length));
  assert.match(notes.at(-1) ?? "", /^tool_59 is left out: the tools together are too large/);
});
