import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "../../packages/protocol/src/index.ts";
import { readHeaderParams } from "../../packages/server/src/core/header-params.ts";
import { admitManifest } from "../../packages/server/src/core/hello.ts";
import { prepareSchema } from "../../packages/server/src/core/schema/prepare.ts";
import { isJsonObject, jsonText, oddValue, Random, spoil } from "./odd-json.ts";
import type { JsonObject } from "./odd-json.ts";
import { CLIENT_NAMES, loadOfficialClients, NOT_INSTALLED } from "./official-clients.ts";
import type { ClientName, OfficialClients } from "./official-clients.ts";

const SEED = 20_261_130;
const TOOLS = 20_000;
const LISTS_PER_CLIENT = 100;
const TOOLS_PER_LIST = 16;
const LIMITS = defaultLimits();

const clients = loadOfficialClients();
const skip = clients === null ? NOT_INSTALLED : false;

/** What Relay asks of a tool beyond SDK v1's `ToolSchema`. */
const EXTRA_RULES: readonly {
  readonly rule: string;
  readonly breaks: (tool: JsonObject, clients: OfficialClients) => boolean;
}[] = [
  {
    rule: "a name is 1 to 64 characters of MCP's alphabet",
    breaks: ({ name }) => typeof name === "string" && !/^[A-Za-z0-9_./-]{1,64}$/.test(name),
  },
  {
    rule: "a description has at most 2,000 characters",
    breaks: ({ description }) =>
      typeof description === "string" && Array.from(description).length > 2_000,
  },
  {
    rule: "no task is required",
    breaks: ({ execution }) => isJsonObject(execution) && execution["taskSupport"] === "required",
  },
  {
    rule: "both schemas are JSON Schemas that Relay supports",
    breaks: ({ inputSchema, outputSchema = true }) =>
      !prepareSchema(inputSchema).ok || !prepareSchema(outputSchema).ok,
  },
  {
    rule: "the annotations x-mcp-header are well formed",
    breaks: ({ inputSchema }) => !readHeaderParams(inputSchema).ok,
  },
  {
    rule: "clients can compile the outputSchema, whichever dialect they take it for",
    breaks: ({ outputSchema }, { compilesV1, compilesV2 }) =>
      isJsonObject(outputSchema) &&
      !(
        compilesV1(outputSchema) &&
        compilesV2(outputSchema) &&
        compilesV2({ ...outputSchema, $schema: DIALECTS[0] })
      ),
  },
  {
    rule: "an outputSchema refers to no meta-schema, which only some of the validators know",
    breaks: ({ outputSchema }) =>
      jsonText(outputSchema).includes('"$ref":"https://json-schema.org'),
  },
];

test(
  `what Relay admits, SDK v1 parses and compiles; what it parses and no extra rule forbids, Relay admits (seed ${SEED})`,
  { skip },
  (t) => {
    assert.ok(clients !== null);
    // Ajv tells the console of every format it does not know.
    t.mock.method(console, "warn", () => undefined);
    const random = new Random(SEED);
    const counts = { admitted: 0, refused: 0 };
    const broken = new Map<string, number>();
    for (let round = 0; round < TOOLS; round += 1) {
      const text = jsonText(oddTool(random));
      const tool: unknown = JSON.parse(text);
      const admission = admit(`[${text}]`);
      const parses = clients.acceptsTool(tool);
      if (admission.ok) {
        counts.admitted += 1;
        assert.ok(parses, `admitted, but not parsed: ${text}`);
        const output = isJsonObject(tool) ? tool["outputSchema"] : undefined;
        assert.ok(
          !isJsonObject(output) || clients.compilesV1(output),
          `admitted, but not compiled: ${text}`,
        );
        continue;
      }
      counts.refused += 1;
      assert.match(admission.message, /^tools\[0\]/);
      if (!parses || !isJsonObject(tool)) continue;
      const rules = EXTRA_RULES.filter(({ breaks }) => breaks(tool, clients)).map(
        ({ rule }) => rule,
      );
      assert.ok(rules.length > 0, `refused without a rule: ${admission.message} ${text}`);
      for (const rule of rules) broken.set(rule, (broken.get(rule) ?? 0) + 1);
    }
    t.diagnostic(`${counts.admitted} admitted, ${counts.refused} refused`);
    for (const [rule, count] of broken) t.diagnostic(`${count} parsed, but broke: ${rule}`);
    assert.ok(counts.admitted > TOOLS / 10 && counts.refused > TOOLS / 10, "both ends are tried");
    assert.equal(broken.size, EXTRA_RULES.length, "every extra rule is tried");
  },
);

for (const name of CLIENT_NAMES) {
  test(
    `a real client (${name}) lists every tool that Relay admits (seed ${SEED})`,
    { skip },
    async (t) => {
      assert.ok(clients !== null);
      t.mock.method(console, "warn", () => undefined);
      await listThrough(clients, name);
    },
  );
}

async function listThrough(official: OfficialClients, name: ClientName): Promise<void> {
  const random = new Random(SEED);
  for (let lists = 0; lists < LISTS_PER_CLIENT; lists += 1) {
    const list = `{"tools":[${admittedTools(random).join(",")}]}`;
    const client = await official.connect(name, () => list);
    assert.equal(await client.countTools(), TOOLS_PER_LIST, list);
  }
}

/** The texts of tools that Relay admits without a warning that they hide the list. */
function admittedTools(random: Random): readonly string[] {
  const texts: string[] = [];
  while (texts.length < TOOLS_PER_LIST) {
    const text = jsonText(oddTool(random));
    const admission = admit(`[${text}]`);
    if (!admission.ok) continue;
    if (admission.manifest.warnings.some(({ message }) => message.includes("hide every"))) continue;
    texts.push(text);
  }
  return texts;
}

function admit(toolsText: string): ReturnType<typeof admitManifest> {
  const app = { name: "Notes", version: "1" };
  const tools: unknown = JSON.parse(toolsText);
  const raw = { app: JSON.stringify(app), instructions: null, tools: toolsText };
  return admitManifest({ app, instructions: undefined, tools }, raw, LIMITS);
}

const TOOL_KEYS = ["title", "description", "icons", "outputSchema", "annotations", "execution"];
TOOL_KEYS.push("_meta", "other", "taskSupport", "readOnlyHint", "type", "properties", "required");
TOOL_KEYS.push("enum", "nullable", "pattern", "$ref", "$schema", "items", "x-mcp-header", "id");
TOOL_KEYS.push("anyOf", "not", "format", "default", "patternProperties", "additionalProperties");

function oddTool(random: Random): unknown {
  const tool: JsonObject = { name: oddName(random), inputSchema: oddObjectSchema(random) };
  if (random.chance(30)) tool["description"] = "d".repeat(random.pick([0, 5, 2_000, 2_001]));
  if (random.chance(30)) tool["title"] = "T";
  if (random.chance(30)) tool["icons"] = [{ src: "s", sizes: ["any"], theme: "dark" }];
  if (random.chance(25)) tool["outputSchema"] = oddObjectSchema(random);
  if (random.chance(30)) tool["annotations"] = { readOnlyHint: true, title: "t" };
  if (random.chance(20))
    tool["execution"] = { taskSupport: random.pick(["optional", "forbidden", "required"]) };
  if (random.chance(20)) tool["_meta"] = { a: oddValue(random) };
  return random.chance(60) ? spoil(tool, TOOL_KEYS, random) : tool;
}

function oddName(random: Random): string {
  if (random.chance(90)) return random.pick(["a", "search_notes", "a.b/c-d", "x".repeat(64)]);
  return random.pick(["", "a b", "\u00e9", "x".repeat(65), "a\n"]);
}

function oddObjectSchema(random: Random): JsonObject {
  const schema: JsonObject = { type: "object" };
  if (random.chance(70))
    schema["properties"] = { a: oddSchema(random, 2), b: oddSchema(random, 2) };
  if (random.chance(30)) schema["required"] = ["a"];
  if (random.chance(20)) schema["$defs"] = { a: { type: "string" } };
  if (random.chance(10)) schema["additionalProperties"] = oddSchema(random, 1);
  if (random.chance(20)) schema["$schema"] = random.pick(DIALECTS);
  return schema;
}

const DIALECTS = [
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft-06/schema",
  "http://json-schema.org/draft-04/schema#",
];

function oddSchema(random: Random, depth: number): unknown {
  if (depth === 0) return random.pick([{}, { type: "string" }, { type: "integer" }, true]);
  const inner = oddSchema(random, depth - 1);
  return random.pick<unknown>([
    { type: "string", pattern: random.pick(["^a+$", String.raw`\@`, "(?=a)b", "("]) },
    { type: "string", format: random.pick(["email", "none-such"]), "x-mcp-header": "Region" },
    { type: ["string", "null"], nullable: random.chance(50) },
    { enum: random.pick([["a"], [], [1, null]]) },
    {
      $ref: random.pick([
        "#",
        "#/$defs/a",
        "#/none",
        "https://json-schema.org/draft/2020-12/schema",
      ]),
    },
    { type: "array", items: inner },
    { type: "array", prefixItems: [inner], minItems: 1 },
    { anyOf: [inner, { const: 1 }] },
    { not: inner, nullable: true },
    { type: "object", properties: { c: inner }, patternProperties: { "^x": inner } },
    { if: inner, else: false },
    inner,
  ]);
}
