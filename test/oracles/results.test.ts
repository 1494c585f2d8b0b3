import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits, parseAppFrame } from "../../packages/protocol/src/index.ts";
import { judgeAnswer } from "../../packages/server/src/core/answer.ts";
import { readJson } from "../../packages/server/src/core/json.ts";
import { checkValue } from "../../packages/server/src/core/schema/check.ts";
import { prepareSchema } from "../../packages/server/src/core/schema/prepare.ts";
import type { PreparedSchema } from "../../packages/server/src/core/schema/prepare.ts";
import { Steps } from "../../packages/server/src/core/schema/steps.ts";
import { CLIENT_NAMES, loadOfficialClients, NOT_INSTALLED } from "./official-clients.ts";
import type { ClientName, OfficialClients } from "./official-clients.ts";
import { isJsonObject, jsonText, oddValue, Random, spoil } from "./odd-json.ts";
import type { JsonObject } from "./odd-json.ts";

const SEED = 20_261_201;
const RESULTS = 30_000;
const RESULTS_PER_CLIENT = 2_000;
const LIMITS = { ...defaultLimits(), resultBytes: 4_000 };

const clients = loadOfficialClients();
const skip = clients === null ? NOT_INSTALLED : false;

const OUTPUT_SCHEMA = {
  type: "object",
  properties: {
    n: { type: "integer" },
    x: { type: "number" },
    s: { type: "string", maxLength: 3 },
  },
  required: ["n"],
};

type Case = {
  readonly result: JsonObject;
  readonly output: PreparedSchema | null;
  readonly bytes: number;
};

/** What Relay asks of a result beyond SDK v1's `CallToolResultSchema`. */
const EXTRA_RULES: readonly { readonly rule: string; readonly breaks: (it: Case) => boolean }[] = [
  {
    rule: "content and structuredContent have at most 128 KiB (here 4,000 bytes)",
    breaks: ({ bytes }) => bytes > LIMITS.resultBytes,
  },
  {
    rule: "content may lack only where there is structuredContent",
    breaks: ({ result }) =>
      result["content"] === undefined && result["structuredContent"] === undefined,
  },
  {
    rule: "an outputSchema asks for structuredContent, unless isError is true",
    breaks: ({ result, output }) =>
      output !== null && result["isError"] !== true && result["structuredContent"] === undefined,
  },
  {
    rule: "structuredContent fits the outputSchema, unless isError is true",
    breaks: ({ result, output }) =>
      output !== null &&
      result["isError"] !== true &&
      checkValue(output, result["structuredContent"], new Steps(100_000), "") !== null,
  },
];

test(
  `what Relay passes on, SDK v1 parses; what it parses and no extra rule forbids, Relay passes on (seed ${SEED})`,
  { skip },
  (t) => {
    assert.ok(clients !== null);
    const random = new Random(SEED);
    const output = prepared(OUTPUT_SCHEMA);
    const counts = { passed: 0, refused: 0 };
    const broken = new Map<string, number>();
    for (let round = 0; round < RESULTS; round += 1) {
      const it = oddCase(random, random.chance(50) ? output : null);
      const passed = passOn(it);
      if (passed !== null) {
        counts.passed += 1;
        assert.ok(
          clients.acceptsResult(JSON.parse(passed)),
          `passed on, but not parsed: ${passed}`,
        );
        continue;
      }
      counts.refused += 1;
      if (!clients.acceptsResult(it.result)) continue;
      const rules = EXTRA_RULES.filter(({ breaks }) => breaks(it)).map(({ rule }) => rule);
      assert.ok(rules.length > 0, `refused without a rule: ${jsonText(it.result)}`);
      for (const rule of rules) broken.set(rule, (broken.get(rule) ?? 0) + 1);
    }
    t.diagnostic(`${counts.passed} passed on, ${counts.refused} refused`);
    for (const [rule, count] of broken) t.diagnostic(`${count} parsed, but broke: ${rule}`);
    assert.ok(counts.passed > RESULTS / 10 && counts.refused > RESULTS / 10, "both ends are tried");
    assert.equal(broken.size, EXTRA_RULES.length, "every extra rule is tried");
  },
);

for (const name of CLIENT_NAMES) {
  test(
    `a real client (${name}) takes every result that Relay passes on (seed ${SEED})`,
    { skip },
    async () => {
      assert.ok(clients !== null);
      await callThrough(clients, name);
    },
  );
}

async function callThrough(official: OfficialClients, name: ClientName): Promise<void> {
  const random = new Random(SEED);
  const output = prepared(OUTPUT_SCHEMA);
  let passed = "";
  const tools = [
    { name: "plain", inputSchema: { type: "object" } },
    { name: "typed", inputSchema: { type: "object" }, outputSchema: OUTPUT_SCHEMA },
  ];
  const list = JSON.stringify({ tools });
  const client = await official.connect(name, (method) =>
    method === "tools/list" ? list : passed,
  );
  await client.countTools();
  for (let calls = 0; calls < RESULTS_PER_CLIENT;) {
    const tool = random.pick(["plain", "typed"]);
    const next = passOn(oddCase(random, tool === "typed" ? output : null));
    if (next === null) continue;
    calls += 1;
    passed = next;
    await assert.doesNotReject(client.callTool(tool), passed);
  }
}

/** What a host is sent for a result frame; null when the frame is refused. */
function passOn({ result, output }: Case): string | null {
  const text = jsonText({ ...result, type: "result", id: "c_1" });
  const parsed = parseAppFrame(readJson(text).value);
  const answerable = "frame" in parsed && parsed.frame.type === "result";
  const answer = answerable ? judgeAnswer(parsed.frame, text, output, LIMITS) : null;
  if (answer === null || !answer.ok) return null;
  const structured =
    answer.structuredText === null ? "" : `,"structuredContent":${answer.structuredText}`;
  const isError = answer.isError ? ',"isError":true' : "";
  return `{"content":${answer.contentText}${structured}${isError}}`;
}

function prepared(schema: unknown): PreparedSchema {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok);
  return preparation.schema;
}

const RESULT_KEYS = ["content", "structuredContent", "isError", "other", "type", "text", "data"];
RESULT_KEYS.push("mimeType", "uri", "blob", "name", "annotations", "_meta", "audience", "priority");
RESULT_KEYS.push("lastModified", "icons", "size", "title", "resource", "n", "s");

function oddCase(random: Random, output: PreparedSchema | null): Case {
  const result: JsonObject = {};
  if (random.chance(85)) result["content"] = oddBlocks(random);
  if (random.chance(60)) result["structuredContent"] = oddStructure(random);
  if (random.chance(30)) result["isError"] = random.chance(40);
  const spoilt = random.chance(50) ? spoil(result, RESULT_KEYS, random) : result;
  const whole = isJsonObject(spoilt) ? spoilt : {};
  const bytes = [whole["content"], whole["structuredContent"]]
    .filter((part) => part !== undefined)
    .reduce<number>((sum, part) => sum + Buffer.byteLength(jsonText(part)), 0);
  return { result: whole, output, bytes };
}

function oddBlocks(random: Random): unknown[] {
  const blocks: unknown[] = [];
  for (let count = random.below(3); count > 0; count -= 1) blocks.push(oddBlock(random));
  return blocks;
}

function oddBlock(random: Random): JsonObject {
  const text = random.pick(["", "hi", "\ud800 half", "\u{1f600}", "x".repeat(3_000)]);
  const data = random.pick(["", "aGk=", "aGk", " aGk= ", "aG k=", "a*"]);
  const block = random.pick<JsonObject>([
    { type: "text", text },
    { type: "image", data, mimeType: "image/png" },
    { type: "audio", data, mimeType: "audio/wav" },
    { type: "resource_link", name: "n", uri: "x:y", size: random.pick([5, 1.5, Infinity]) },
    { type: "resource", resource: { uri: "x:y", text } },
    { type: "resource", resource: { uri: "x:y", blob: data, mimeType: "m" } },
  ]);
  if (random.chance(20)) {
    const lastModified = random.pick([
      "2026-02-28T00:00:00Z",
      "2026-02-29T00:00:00Z",
      "2026-02-28",
    ]);
    block["annotations"] = { audience: ["user"], priority: random.pick([0, 1, 2]), lastModified };
  }
  if (random.chance(20)) block["_meta"] = { a: oddValue(random) };
  return block;
}

function oddStructure(random: Random): JsonObject {
  return {
    n: random.pick<unknown>([1, 1, 1, 1, 1.5, "1", Infinity]),
    x: random.pick([0, 0.5, Infinity, -Infinity]),
    s: random.pick(["", "abc", "abcd", "\u{1f600}\u{1f600}", "\udc00"]),
  };
}
