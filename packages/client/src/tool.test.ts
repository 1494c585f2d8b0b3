import assert from "node:assert/strict";
import { test } from "node:test";
import * as z from "zod";
import { RelayError } from "./relay-error.ts";
import { tool } from "./tool.ts";
import type { CallContext, Tool } from "./tool.ts";

/** Fails to compile unless each of the two can stand for the other. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : never;

const context: CallContext = {
  signal: new AbortController().signal,
  deadline: 0,
  progress: () => undefined,
};

/** Runs a tool as a call does, its schemas included. */
async function call(defined: Tool, args: unknown): Promise<unknown> {
  const value = await defined.run(await defined.readArguments(args), context);
  return defined.readResult(value);
}

const description = "For a test";

test("zod: the arguments are what the schema's output says, defaults and transforms included", async () => {
  const search = tool("search", {
    description,
    input: z.object({
      query: z.string().transform((text) => text.toUpperCase()),
      limit: z.number().int().max(50).default(10),
    }),
    run: (args) => {
      const same: Same<typeof args, { query: string; limit: number }> = true;
      // @ts-expect-error there is no such argument
      const missing: unknown = args.nothing;
      return { same, missing: missing === undefined, ...args };
    },
  });
  const expected = { same: true, missing: true, query: "TULIPS", limit: 10 };
  assert.deepEqual(await call(search, { query: "tulips" }), expected);
  assert.deepEqual(search.definition.inputSchema["required"], ["query"]);
  assert.equal(search.definition.inputSchema["type"], "object");
});

test("zod: what JSON Schema can't say is checked before the tool runs, and told to the model", async () => {
  const pick = tool("pick", {
    description,
    input: z
      .object({ from: z.number(), tags: z.array(z.string()) })
      .refine((args) => args.from > 0, {
        message: "from must be above 0",
      }),
    run: () => "",
  });
  await assert.rejects(call(pick, { from: 0, tags: [] }), {
    message: "Invalid arguments for tool pick: from must be above 0",
  });
  await assert.rejects(call(pick, { from: 1, tags: [1] }), /pick: tags: 0: Invalid input/);
});

test("zod: a result is checked, and its type is the schema's", async () => {
  const output = z.object({ count: z.number() });
  const count = tool("count", { description, output, run: () => ({ count: 3, secret: "x" }) });
  assert.deepEqual(await call(count, {}), { count: 3 });
  assert.deepEqual(count.definition.outputSchema?.["required"], ["count"]);
  const wrong = tool("count", {
    description,
    output,
    // @ts-expect-error the count must be a number
    run: () => ({ count: "three" }),
  });
  await assert.rejects(call(wrong, {}), /^Error: Invalid result of tool count: count: /);
});

test("zod: a handler with an output may also return a whole result, such as an error", () => {
  tool("count", {
    description,
    output: z.object({ count: z.number() }),
    run: () => ({ content: [{ type: "text", text: "no notes" }], isError: true }),
  });
});

test("JSON Schema: the types of the arguments come from the literal", async () => {
  const echo = tool("echo", {
    description,
    input: {
      type: "object",
      properties: {
        text: { type: "string" },
        times: { type: "integer" },
        loud: { type: "boolean" },
        mood: { enum: ["calm", "merry"] },
        kind: { const: "note" },
        tags: { type: "array", items: { type: "string" } },
        place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
        maybe: { type: ["string", "null"] },
        any: { anyOf: [{ type: "string" }] },
      },
      required: ["text", "mood"],
    },
    run: (args) => {
      const same: Same<
        typeof args,
        {
          text: string;
          mood: "calm" | "merry";
          times?: number;
          loud?: boolean;
          kind?: "note";
          tags?: string[];
          place?: { x: number };
          maybe?: string | null;
          any?: unknown;
        }
      > = true;
      return { same, text: args.text };
    },
  });
  assert.deepEqual(await call(echo, { text: "hi" }), { same: true, text: "hi" });
});

test("JSON Schema: an output binds what the handler returns", () => {
  const output = {
    type: "object",
    properties: { count: { type: "integer" } },
    required: ["count"],
  } as const;
  tool("count", { description, output, run: () => ({ count: 3 }) });
  // @ts-expect-error the count is missing
  tool("count", { description, output, run: () => ({}) });
});

test("a schema that was read from somewhere else says nothing, and the arguments are unknown", () => {
  const input: { type: "object"; properties: Record<string, unknown> } = JSON.parse(
    '{"type":"object","properties":{"a":{}}}',
  );
  tool("echo", {
    description,
    input,
    run: (args) => {
      const same: Same<(typeof args)[string], unknown> = true;
      return { same };
    },
  });
});

test("a tool without input takes any object and is sent an object schema", async () => {
  const now = tool("now", {
    description,
    run: (args) => {
      const same: Same<typeof args, Record<string, unknown>> = true;
      return { same, ...args };
    },
  });
  assert.deepEqual(now.definition.inputSchema, { type: "object" });
  assert.deepEqual(await call(now, { a: 1 }), { same: true, a: 1 });
});

test("handlers that can't be are rejected by the compiler", () => {
  const spec = { description } as const;
  // @ts-expect-error a handler is missing
  tool("a", { ...spec });
  // @ts-expect-error a description is missing
  tool("a", { run: () => "" });
  // @ts-expect-error a symbol is no result
  tool("a", { ...spec, run: () => Symbol("x") });
  // @ts-expect-error an annotation is a boolean
  tool("a", { ...spec, annotations: { readOnlyHint: "yes" }, run: () => "" });
});

test("what hosts get of a tool is its definition, every field of it", () => {
  const remove = tool("remove_note", {
    description,
    title: "Remove a note",
    annotations: { destructiveHint: true },
    icons: [{ src: "https://notes.example/icon.png" }],
    _meta: { "notes.example/kind": "write" },
    run: () => "",
  });
  assert.deepEqual(JSON.parse(JSON.stringify(remove.definition)), {
    name: "remove_note",
    description,
    title: "Remove a note",
    annotations: { destructiveHint: true },
    icons: [{ src: "https://notes.example/icon.png" }],
    _meta: { "notes.example/kind": "write" },
    inputSchema: { type: "object" },
  });
});

for (const [what, define, message] of [
  [
    "a name",
    () => tool("a b", { description, run: () => "" }),
    /^tool a b: name must be 1 to 64 of/,
  ],
  [
    "a description",
    () => tool("a", { description: "x".repeat(2_001), run: () => "" }),
    /^tool a: description must be at most 2000 characters$/,
  ],
  [
    "an input that is no object",
    () => tool("a", { description, input: z.string(), run: () => "" }),
    /^tool a: inputSchema is not a valid JSON Schema for MCP clients: type must be "object"$/,
  ],
] as const) {
  test(`${what} that Relay would refuse is refused where the tool is defined`, () => {
    assert.throws(define, (error) => {
      assert.ok(error instanceof RelayError);
      assert.equal(error.code, "INVALID_MANIFEST");
      assert.match(error.message, message);
      return true;
    });
  });
}
