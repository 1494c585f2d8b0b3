import assert from "node:assert/strict";
import { test } from "node:test";
import { Steps } from "../steps.ts";
import { Random } from "../test/random.ts";
import { compilePattern, testPattern } from "./index.ts";
import { pick, randomPattern } from "./test/random-pattern.ts";
import { referenceTest } from "./test/reference-test.ts";

const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_823);
const PATTERNS = 1_500;

// A scan learns from its 256th character on, and these two tests are for what it has learnt.

test("long texts come out as with a plain matcher", () => {
  const random = new Random(SEED);
  let matches = 0;
  for (let patterns = 0; patterns < PATTERNS;) {
    const start = pick(random, ["", "^"]);
    const source = `${start}(?:${randomPattern(random, PARTS, 2)})${pick(random, ENDINGS)}`;
    // Some are too large; the reason is another test's.
    if (!compilePattern(source).ok) continue;
    if (agrees(source, randomText(random))) matches++;
    patterns++;
  }
  console.log(`seed ${SEED}: ${PATTERNS} patterns, ${matches} matches`);
  assert.ok(matches > PATTERNS / 10 && matches < (PATTERNS * 9) / 10);
});

// Kills: a transition learnt where a look-ahead, a word boundary or a counter had a say in it.
test("what depends on more than the threads and the character is never learnt", () => {
  for (const source of CONTEXT_PATTERNS) {
    const verdicts = new Set<boolean>();
    for (const unit of ["a ", "a", "ab", "aab", "ab b", "bbbbbbba"]) {
      for (const tail of ["", "a", "aa", "  ", "abba", "bb b", "c", "a c", "aabbaabbc"]) {
        verdicts.add(agrees(source, unit.repeat(300 / unit.length) + tail));
      }
    }
    assert.equal(verdicts.size, 2, `${source} tells no text from another`);
  }
});

function agrees(source: string, text: string): boolean {
  const compiled = compilePattern(source);
  assert.ok(compiled.ok, source);
  const actual = testPattern(compiled.program, text, new Steps(10_000_000));
  const expected = referenceTest(source, text);
  if (actual !== expected) assert.equal(actual, expected, JSON.stringify({ source, text }));
  return actual;
}

const CONTEXT_PATTERNS = [
  "^(?:[a ]\\b)*$",
  "^(?:[ab ]\\B|a|b)*$",
  "^(?:[ab ](?!abba))*$",
  "^(?:(?=[ab ]{2,9}c?$|a)[ab ])*$",
  "^(?:[ab](?=(?:[ab]b?)*$))*$",
  "^(?:[ab ]{2}(?=.*c$))*a",
  "^(?:[ab]{5,9}[a ])*$",
  "[ab]{7}[a ][bc]",
];

const PARTS = {
  atoms: ["a", "a", "b", "b", "c", "é", "😀", ".", "[ab]", "[^a]", "[abcé]", "[\\s\\S]", "\\w"],
  quantifiers: "* * + ? {2} {3} {5} {0,6} {5,7} {7} {9,} {3,30} {40,45}".split(" "),
  repeatsNested: 3,
  annexB: false,
};
const ENDINGS = ["", "$", "*$", "+$", "*!", "{3,}$", "{2}!", "*(?=!)", "\\b!"];

function randomText(random: Random): string {
  const alphabet = pick(random, ["a", "ab", "aab", "abc", "ab é", "abcé😀 -"]);
  const characters = Array.from(alphabet);
  let text = "";
  for (let left = 300 + random.below(300); left > 0; left--) text += pick(random, characters);
  return text + pick(random, ["", "!", "b", "b!"]);
}
