import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultLimits, parseAppFrame } from "@relay/protocol";
import { judgeAnswer } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { readJson } from "./json.ts";
import { prepareSchema } from "./schema/prepare.ts";
import type { PreparedSchema } from "./schema/prepare.ts";

const LIMITS = defaultLimits();

function prepared(schema: unknown): PreparedSchema {
  const preparation = prepareSchema(schema);
  assert.ok(preparation.ok);
  return preparation.schema;
}

/** Judges a result frame with these members, as raw text. */
function judge(
  members: string,
  output: PreparedSchema | null = null,
  resultBytes = LIMITS.resultBytes,
): Answer {
  return judgeText(`{"type":"result","id":"c_1",${members}}`, output, resultBytes);
}

/** Judges an error frame with these members, as raw text; its tool has an outputSchema. */
function judgeError(members: string, resultBytes = LIMITS.resultBytes): Answer {
  return judgeText(`{"type":"error","id":"c_1"${members}}`, typed, resultBytes);
}

/** Judges a frame as the socket does: read, parsed, and then this. */
function judgeText(text: string, output: PreparedSchema | null, resultBytes: number): Answer {
  const reading = readJson(text);
  assert.ok(reading.ok);
  const parsed = parseAppFrame(reading.value);
  assert.ok("frame" in parsed && (parsed.frame.type === "result" || parsed.frame.type === "error"));
  return judgeAnswer(parsed.frame, text, output, { resultBytes });
}

function reasonOf(members: string, output: PreparedSchema | null = null): string {
  const answer = judge(members, output);
  assert.ok(!answer.ok, `refused: ${members}`);
  return answer.reason;
}

const typed = prepared({
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
});

describe("a result", () => {
  test("goes on as it was written, on one line, its bytes counted as received", () => {
    const content = '[ {"text":"\\u00e9 \u{1f600}",\r\n"type" : "text","size":1.0}]';
    const structured = '{\n"n":9007199254740993,"x":1E400,"2":0,"1":-0}';
    const answer = judge(
      `"structuredContent":${structured},"content":\t${content} ,"isError":false`,
    );
    assert.deepEqual(answer, {
      ok: true,
      contentText: content.replaceAll(/[\r\n]/g, " "),
      structuredText: structured.replaceAll("\n", " "),
      isError: false,
      bytes: Buffer.byteLength(content + structured),
    });
  });

  test("may have no content blocks, and no content at all beside structuredContent", () => {
    const empty = { ok: true, contentText: "[]", structuredText: null, isError: false, bytes: 2 };
    assert.deepEqual(judge('"content":[]'), empty);
    assert.deepEqual(judge('"structuredContent":{}'), { ...empty, structuredText: "{}" });
    assert.equal(reasonOf('"isError":false'), "content is missing");
  });

  test("must have valid content", () => {
    for (const content of ["null", "{}", '"text"', "5"]) {
      assert.equal(reasonOf(`"content":${content}`), "content must be an array");
    }
    assert.equal(
      reasonOf('"content":[{"type":"text","text":""},{"type":"image","data":"*","mimeType":"m"}]'),
      "content[1].data must be a base64 string",
    );
  });

  test("must have a boolean isError or none", () => {
    for (const isError of ["null", '"true"', "1", "{}", "[true]"]) {
      assert.equal(reasonOf(`"content":[],"isError":${isError}`), "isError must be a boolean");
    }
  });

  test("must have an object as structuredContent or none", () => {
    for (const structured of ["null", "[]", '"{}"', "5", "true"]) {
      const members = `"content":[],"structuredContent":${structured}`;
      assert.equal(reasonOf(members), "structuredContent must be an object");
      assert.equal(reasonOf(`${members},"isError":true`), "structuredContent must be an object");
    }
  });

  test("must fit the tool's outputSchema", () => {
    const ok = judge('"structuredContent":{"n":1}', typed);
    assert.ok(ok.ok);
    assert.equal(
      reasonOf('"structuredContent":{"n":"1"}', typed),
      "structuredContent/n must be integer",
    );
    assert.equal(
      reasonOf('"content":[],"structuredContent":{}', typed),
      "structuredContent must have required property 'n'",
    );
    assert.equal(
      reasonOf('"content":[]', typed),
      "structuredContent is missing, and the tool has an outputSchema",
    );
  });

  test("that is an error needs no structuredContent, and none goes on", () => {
    const bare = judge('"content":[],"isError":true', typed);
    const answer = { ok: true, contentText: "[]", structuredText: null, isError: true, bytes: 2 };
    assert.deepEqual(bare, answer);
    const wrong = judge('"content":[],"structuredContent":{"n":"x"},"isError":true', typed);
    assert.deepEqual(wrong, { ...answer, bytes: 2 + '{"n":"x"}'.length });
  });

  test("has half surrogate pairs replaced, and is checked as it goes out", () => {
    const content = '[{"type":"text","text":"\\ud83d\\ude00 \\ud83d \\\\ud83d"}]';
    const structured = '{"s":"\\uDE00","\\ud800":1}';
    const answer = judge(`"content":${content},"structuredContent":${structured}`);
    assert.ok(answer.ok);
    assert.equal(answer.contentText, '[{"type":"text","text":"\\ud83d\\ude00 \\ufffd \\\\ud83d"}]');
    assert.equal(answer.structuredText, '{"s":"\\ufffd","\\ufffd":1}');
    const output = prepared({ type: "object", properties: { s: { const: "\ufffd" } } });
    assert.ok(judge(`"structuredContent":${structured}`, output).ok);
  });

  test("may be as large as the limit says, in bytes of both parts as they were written", () => {
    const structured = '{"a":"\u00e9\\u00e9"}';
    const room = 40 - Buffer.byteLength(structured);
    const content = `[${" ".repeat(room - 2)}]`;
    const members = (text: string) => `"content":${text},"structuredContent":${structured}`;
    const fits = judge(members(content), null, 40);
    assert.ok(fits.ok && fits.bytes === 40);
    assert.deepEqual(judge(members(`${content.slice(0, -1)}\n]`), null, 40), {
      ok: false,
      reason: "content and structuredContent together must be at most 40 bytes as JSON, not 41",
      bytes: 41,
    });
  });

  test("that takes too long to check is refused", () => {
    const schema: Record<string, unknown> = { type: "object", $ref: "#/$defs/d0", $defs: {} };
    const definitions: Record<string, unknown> = {};
    for (let level = 0; level < 31; level += 1) {
      const $ref = `#/$defs/d${level + 1}`;
      definitions[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
    }
    definitions["d31"] = {};
    const output = prepared({ ...schema, $defs: definitions });
    assert.equal(
      reasonOf('"structuredContent":{}', output),
      "structuredContent is too complex to check",
    );
  });

  test("is read by its own members, not by inherited or escaped look-alikes", () => {
    const members = '"cont\\u0065nt":[],"__proto__":{"isError":true},"other":{"content":5}';
    const answer = judge(members);
    assert.ok(answer.ok && !answer.isError && answer.contentText === "[]");
  });
});

describe("an error", () => {
  test("becomes a text block of its message, whatever the outputSchema asks", () => {
    const message = '"database \\"x\\" is\\nlocked \u{1f600}"';
    assert.deepEqual(judgeError(`,"message":${message},"content":5`), {
      ok: true,
      contentText: `[{"type":"text","text":${message}}]`,
      structuredText: null,
      isError: true,
      bytes: Buffer.byteLength(message),
    });
  });

  test("has half surrogate pairs replaced", () => {
    const answer = judgeError(',"message":"a\\udc00b"');
    assert.ok(answer.ok);
    assert.equal(answer.contentText, '[{"type":"text","text":"a\\ufffdb"}]');
  });

  test("must have a string as its message", () => {
    for (const members of ["", ',"message":null', ',"message":5', ',"message":["x"]']) {
      const answer = judgeError(members);
      assert.ok(!answer.ok && answer.reason === "message must be a string");
    }
  });

  test("may have a message as large as a result, in bytes as it was written", () => {
    assert.ok(judgeError(',"message":"12345678"', 10).ok);
    assert.deepEqual(judgeError(',"message":"1234567\\n"', 10), {
      ok: false,
      reason: "message must be at most 10 bytes as JSON, not 11",
      bytes: 11,
    });
  });
});
