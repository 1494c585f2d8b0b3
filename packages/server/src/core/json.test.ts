import assert from "node:assert/strict";
import { test } from "node:test";
import {
  JSON_DEPTH_MAX,
  hasLoneSurrogate,
  memberSpans,
  rawSlice,
  readJson,
  replaceLoneSurrogates,
  utf8Bytes,
} from "./json.ts";

function slices(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, span] of memberSpans(text)) found[key] = rawSlice(text, span);
  return found;
}

function faultOf(text: string): string {
  const reading = readJson(text);
  return reading.ok ? "none" : reading.fault.kind;
}

test("what is not JSON, too deep, or repeats a key is refused", () => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  assert.equal(faultOf("{"), "syntax");
  assert.equal(faultOf(""), "syntax");
  assert.equal(faultOf("\ufeff{}"), "syntax");
  assert.equal(faultOf(deep(JSON_DEPTH_MAX)), "none");
  assert.equal(faultOf(deep(JSON_DEPTH_MAX + 1)), "too_deep");
  assert.equal(faultOf("[".repeat(100_000)), "syntax");
  assert.equal(faultOf(deep(100_000)), "too_deep");
  assert.equal(faultOf('{"a":1,"b":{"a":2}}'), "none");
  assert.equal(faultOf('{"a":1,"a":2}'), "repeated_key");
  assert.equal(faultOf('{"x":[{"a":1,"\\u0061":2}]}'), "repeated_key");
  assert.equal(faultOf('{"__proto__":1,"__proto__":1}'), "repeated_key");
  assert.equal(faultOf('{"__proto__":{"x":1}}'), "none");
  assert.equal(faultOf('{"a":":{[\\"","b":"]}:"}'), "none");
});

test("a key with an escape is read right whatever keys were read before it", () => {
  // Makes V8 expect a key that is a backslash after `h` (nodejs/node#63785).
  JSON.parse('{"h":[],"\\\\":0}');
  JSON.parse('{"g":1,"a\\\\":0}');
  for (const [text, key] of [
    ['{"h":1,"\\"":2}', '"'],
    ['{"h":1,"\\n":2}', "\n"],
    ['{"g":1,"a\\n" : {"h":1,"\\t":[]} }', "a\n"],
  ] as const) {
    const reading = readJson(text);
    assert.ok(reading.ok);
    assert.ok(typeof reading.value === "object" && reading.value !== null);
    assert.equal(Object.keys(reading.value)[1], key, text);
  }
});

test("what is read the slow way is what JSON says", () => {
  const text =
    ' { "\\u0061" : [ 1 , -0.5e3, true ,[ ], {} , "x\\"" ] , "__proto__" : null,"b":{"\\u00e9":[[]]}}';
  const reading = readJson(text);
  assert.ok(reading.ok);
  assert.equal(
    JSON.stringify(reading.value),
    '{"a":[1,-500,true,[],{},"x\\""],"__proto__":null,"b":{"é":[[]]}}',
  );
  assert.equal(Object.getPrototypeOf(reading.value), Object.prototype);
});

test("raw slices of members come out as they went in", () => {
  const text = ' { "id" : 1.0 ,"a":{"b":[1,"}"]}, "n":9007199254740993,"s":"\\"x\\\\","e":1E400 } ';
  assert.deepEqual(slices(text), {
    id: "1.0",
    a: '{"b":[1,"}"]}',
    n: "9007199254740993",
    s: '"\\"x\\\\"',
    e: "1E400",
  });
  assert.deepEqual(slices("[1]"), {});
  assert.deepEqual(slices("{}"), {});
  assert.deepEqual(slices('{"\\u0061\\n":true}'), { "a\n": "true" });
});

test("line breaks between tokens become spaces, and nothing else changes", () => {
  const text = '{"a":[1,\r\n\t2,\n"x\\ny"]}';
  assert.deepEqual(slices(text), { a: '[1,  \t2, "x\\ny"]' });
});

test("slices agree with the parsed value for 20,000 seeded random texts", () => {
  const seed = 20261130;
  console.log(`seed ${seed}`);
  const random = mulberry(seed);
  for (let round = 0; round < 20_000; round += 1) {
    const value: Record<string, unknown> = {};
    for (let keys = Math.floor(random() * 5); keys > 0; keys -= 1) {
      value[randomText(random)] = randomValue(random, 3);
    }
    const indent = random() < 0.3 ? 2 : 0;
    const text = JSON.stringify(value, null, indent);
    const reading = readJson(text);
    assert.ok(reading.ok, text);
    const found = memberSpans(text);
    assert.deepEqual([...found.keys()].toSorted(), Object.keys(value).toSorted());
    for (const [key, span] of found) {
      const member = readJson(rawSlice(text, span));
      assert.ok(member.ok);
      assert.deepEqual(member.value, value[key], text);
    }
  }
});

test("bytes are counted as UTF-8", () => {
  for (const text of ["", "abc", "é", "€", "😀", "\ud800", "a\udc00\ud83d😀"]) {
    assert.equal(utf8Bytes(text), Buffer.byteLength(text), JSON.stringify(text));
  }
});

test("half a surrogate pair becomes U+FFFD, a whole pair stays as it was written", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['"\\ud800"', '"\\ufffd"'],
    ['"\\uDFFFx"', '"\\ufffdx"'],
    ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
    ['"\\ud83d\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"'],
    ['"\\\\ud800"', '"\\\\ud800"'],
    ['"\\\\\\ud800"', '"\\\\\\ufffd"'],
    ['"\\ude00\\ud83d"', '"\\ufffd\\ufffd"'],
    ['"\\ud83d\\n\\ude00"', '"\\ufffd\\n\\ufffd"'],
    ['"\\u00e9"', '"\\u00e9"'],
  ];
  for (const [raw, expected] of cases) {
    assert.equal(replaceLoneSurrogates(raw), expected, raw);
    assert.equal(hasLoneSurrogate(raw), raw !== expected, raw);
    assert.ok(String(JSON.parse(replaceLoneSurrogates(raw))).isWellFormed(), raw);
  }
});

function randomValue(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth === 0 ? 4 : 6));
  if (kind === 0) return randomText(random);
  if (kind === 1) return Math.round((random() - 0.5) * 1e6) / 8;
  if (kind === 2) return random() < 0.5;
  if (kind === 3) return null;
  const items = Array.from({ length: Math.floor(random() * 4) }, () =>
    randomValue(random, depth - 1),
  );
  return kind === 4 ? items : Object.fromEntries(items.map((item) => [randomText(random), item]));
}

function randomText(random: () => number): string {
  const alphabet = ['"', "\\", "{", "}", "[", "]", ",", ":", "é", "😀", "\n", "a", "b", " "];
  const length = Math.floor(random() * 6);
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
