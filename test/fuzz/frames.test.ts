/** Throws damaged frames at what reads an app's frames, and bytes at what follows them on the wire. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits, parseAppFrame } from "@relay/protocol";
import type { AppFrame } from "@relay/protocol";
import { FrameMeter } from "../../packages/server/src/app/frame-meter.ts";
import { judgeAnswer } from "../../packages/server/src/core/answer.ts";
import { admitManifest } from "../../packages/server/src/core/hello.ts";
import { memberSpans, rawSlice, readJson, utf8Bytes } from "../../packages/server/src/core/json.ts";
import { Toolbox } from "../../packages/server/src/core/toolbox.ts";
import { countCodePoints } from "../../packages/protocol/src/frames.ts";
import { anyText } from "./mutate.ts";
import { fuzz, isReplay, roundsOf } from "./rounds.ts";

const ROUNDS = roundsOf(20_000);
const METER_ROUNDS = roundsOf(3_000);
const ID = "c_9Fq2Lr7Vx4Tm1Nb8";
const OUTPUT_SCHEMA = {
  type: "object",
  properties: { total: { type: "number" }, names: { type: "array", items: { type: "string" } } },
  required: ["total"],
};
const TOOL = {
  name: "sum",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "integer", "x-mcp-header": "A" } } },
  outputSchema: OUTPUT_SCHEMA,
  annotations: { readOnlyHint: true },
};
const VALID = [
  {
    type: "hello",
    protocol: 1,
    token: "lt_x",
    app: { name: "Notes", version: "1" },
    tools: [TOOL],
  },
  { type: "hello", protocol: 1, token: "", app: {}, instructions: "Search first.", tools: [] },
  { type: "result", id: ID, content: [{ type: "text", text: "3 notes" }], isError: false },
  { type: "result", id: ID, content: [], structuredContent: { total: 3, names: ["a"] } },
  {
    type: "result",
    id: ID,
    structuredContent: { total: 1 },
    content: [{ type: "resource", resource: { uri: "notes:1", text: "x" } }],
  },
  { type: "error", id: ID, message: "database is locked" },
  { type: "progress", id: ID, progress: 3, total: 10, message: "reading" },
  { type: "ping" },
  { type: "link.rotate", id: "r1" },
  { type: "link.pause", id: "r2" },
  { type: "link.revoke", id: "r4" },
] as const;

const limits = defaultLimits();
const judged = Toolbox.judge([TOOL], limits);
assert.ok(judged.ok);
const output = judged.toolbox.get("sum")?.output ?? null;

test("whatever an app sends is a frame of the table or a fault that says what is wrong", async () => {
  const seen = new Map<string, number>();
  const add = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  await fuzz(ROUNDS, (random, note) => {
    const text = anyText(random.some(VALID), random);
    note(text);
    const reading = readJson(text);
    const parsed = parseAppFrame(reading.value ?? null);
    if ("fault" in parsed) {
      checkSentence(parsed.fault.message, 200);
      if (parsed.fault.id !== null) assert.ok(countCodePoints(parsed.fault.id) <= 64);
      add("fault");
      return;
    }
    const { frame } = parsed;
    if (!reading.ok) checkSentence(reading.fault.message, 200);
    else if (frame.type === "hello") add(`hello ${checkHello(frame, text)}`);
    else if (frame.type === "result" || frame.type === "error")
      add(`answer ${checkAnswer(frame, text)}`);
    add(frame.type);
  });
  const kinds = ["fault", ...VALID.map(({ type }) => type), "hello taken", "hello refused"];
  const rare = [...kinds, "answer taken", "answer refused"].filter(
    (kind) => (seen.get(kind) ?? 0) < 20,
  );
  if (!isReplay()) assert.deepEqual(rare, []);
});

test("frames on the wire are counted the same however the bytes are cut", async () => {
  await fuzz(METER_ROUNDS, (random, note) => {
    const bytes = Buffer.from(
      Array.from({ length: random.whole(1, 300) }, () =>
        random.pick([0, 0x01, 0x80, 0x81, 0x88, 0x89, 0x7e, 0xfe, 0xff, random.whole(0, 255)]),
      ),
    );
    note(bytes.toString("hex"));
    const whole = new FrameMeter(0);
    whole.feed(bytes, 1);
    const cut = new FrameMeter(0);
    for (let at = 0; at < bytes.length;) {
      const length = random.whole(1, 40);
      cut.feed(bytes.subarray(at, at + length), 1);
      at += length;
    }
    assert.equal(cut.unfinishedBytes, whole.unfinishedBytes);
    assert.ok(whole.unfinishedBytes >= 0 && whole.unfinishedBytes <= bytes.length);
    for (const most of [0, 5, 1_000]) {
      assert.equal(cut.floodWait(1, most, 1_000), whole.floodWait(1, most, 1_000));
    }
  });
});

function checkHello(frame: Extract<AppFrame, { type: "hello" }>, text: string): string {
  const spans = memberSpans(text);
  const rawOf = (name: string): string | null => {
    const span = spans.get(name);
    return span === undefined ? null : rawSlice(text, span);
  };
  const raw = {
    app: rawOf("app") ?? "",
    instructions: rawOf("instructions"),
    tools: rawOf("tools") ?? "",
  };
  const admission = admitManifest(frame, raw, limits);
  if (!admission.ok) {
    checkSentence(admission.message, 500);
    return "refused";
  }
  const { toolsText, toolCount, warnings } = admission.manifest;
  checkOneLine(toolsText);
  assert.deepEqual(JSON.parse(toolsText), frame.tools);
  assert.equal(Array.isArray(frame.tools) && frame.tools.length, toolCount);
  for (const { path, message } of warnings) {
    assert.ok(countCodePoints(path) <= 200);
    checkSentence(message, 500);
  }
  // What was stored opens again with the same tools.
  const opened = Toolbox.fromStored(toolsText);
  for (const { name } of frame.tools as { name: string }[]) assert.ok(opened.get(name));
  return "taken";
}

function checkAnswer(frame: Extract<AppFrame, { type: "result" | "error" }>, text: string): string {
  const answer = judgeAnswer(frame, text, output, limits);
  assert.ok(answer.bytes >= 0 && answer.bytes <= utf8Bytes(text));
  if (!answer.ok) {
    checkSentence(answer.reason, 600);
    return "refused";
  }
  checkOneLine(answer.contentText);
  assert.ok(Array.isArray(JSON.parse(answer.contentText)));
  assert.ok(answer.contentText.isWellFormed() || !text.isWellFormed());
  if (answer.structuredText !== null) {
    checkOneLine(answer.structuredText);
    assert.equal(typeof JSON.parse(answer.structuredText), "object");
  }
  return "taken";
}

function checkSentence(text: string, charsMax: number): void {
  assert.ok(text.length > 0);
  assert.ok(countCodePoints(text) <= charsMax, `${countCodePoints(text)} characters: ${text}`);
}

function checkOneLine(text: string): void {
  assert.doesNotMatch(text, /[\r\n]/);
}
