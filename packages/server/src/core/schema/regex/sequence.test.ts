import assert from "node:assert/strict";
import { test } from "node:test";
import { OutOfSteps, Steps } from "../steps.ts";
import { Random } from "../test/random.ts";
import { compilePattern, testPattern } from "./index.ts";
import type { RegexProgram } from "./index.ts";
import { ATOMS, QUANTIFIERS, pick } from "./test/random-pattern.ts";

const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_824);
const CHECKS = 60_000;
const TEXTS_PER_PATTERN = 12;

function compiled(source: string): RegexProgram {
  const result = compilePattern(source);
  assert.ok(result.ok, source);
  return result.program;
}

const SEQUENCES = [
  "",
  "^",
  "^$",
  "^[A-Z]{3}-\\d{4}$",
  "^[A-Za-z0-9 _/-]+$",
  "^https?://",
  "^(?:v?)(\\d+)\\.(?<minor>\\d+)$",
  "^[^@\\s]+@[^@\\s]+$",
  "^\\s*\\S+\\s*$",
  "^\\p{L}+\\d*$",
  "^[a-é]+[^a-é]*$",
  "^[\\s\\S]{2,5}$",
  "^a{2}a$",
  "^a?b?c?d",
  "^ab*b?", // What is optional at the end need not be taken.
  "^a{0,99999999999999999999}$",
  "a",
  "[a-z]{3,}",
  "\\d{2,4}$",
  "a*",
  "a{0}^b$",
  `^${"a".repeat(64)}$`,
];

const OTHERS = [
  "a|b",
  "^(?:a|b)$",
  "^(?:ab)+$",
  "ab",
  "^a$b",
  "(a$)b",
  "a^b",
  "a?^b",
  "^a?a",
  "^a*b?a$",
  "^.+@.+$",
  "^a{1,2}a{2}$",
  "^[a-é]+é$",
  "^\\p{L}+é$",
  "^é*\\P{L}$",
  "^[^a]*[^b]$",
  "^\\bfoo$",
  "^(?=a)a$",
  `^${"a".repeat(65)}$`,
];

test("a pattern goes the short way if it is a sequence that one greedy pass decides, and no other", () => {
  for (const source of SEQUENCES) assert.notEqual(compiled(source).sequence, null, source);
  for (const source of OTHERS) assert.equal(compiled(source).sequence, null, source);
});

test("60,000 checks of sequences come out as with native RegExp, in no more steps than the long way", () => {
  const random = new Random(SEED);
  const counts = { checks: 0, matches: 0, patterns: 0, withoutU: 0, unanchored: 0 };
  while (counts.checks < CHECKS) {
    const source = randomSequence(random);
    const result = compilePattern(source);
    // Without the `u` flag a range of pairs is none.
    if (!result.ok || result.program.sequence === null) continue;
    const { program } = result;
    counts.patterns++;
    if (!program.unicode) counts.withoutU++;
    if (!program.sequence?.fromStart) counts.unanchored++;
    const native = new RegExp(source, program.unicode ? "u" : "");
    for (let n = 0; n < TEXTS_PER_PATTERN; n++) {
      if (agrees(program, native, randomText(random))) counts.matches++;
      counts.checks++;
    }
  }
  console.log(`seed ${SEED}:`, JSON.stringify(counts));
  assert.ok(counts.matches > CHECKS / 5 && counts.matches < (CHECKS * 4) / 5);
  assert.ok(counts.withoutU > 300 && counts.unanchored > 300);
});

function agrees(program: RegexProgram, native: RegExp, text: string): boolean {
  const steps = new Steps(100_000);
  const actual = testPattern(program, text, steps);
  const label = (): string => JSON.stringify({ source: native.source, text });
  if (actual !== native.test(text)) assert.fail(label());
  const long = new Steps(100_000);
  testPattern({ ...program, sequence: null }, text, long);
  if (steps.used > long.used) assert.fail(`${label()} ${steps.used} > ${long.used}`);
  return actual;
}

/** Of characters and classes that are often apart, so that many a pattern goes the short way. */
function randomSequence(random: Random): string {
  const withoutU = random.chance(0.2);
  let source = "";
  for (let left = random.below(random.chance(0.4) ? 2 : 6); left > 0; left--) {
    const atom = pick(random, random.chance(0.6) ? APART : ATOMS);
    const quantified = atom + (random.chance(0.6) ? pick(random, QUANTIFIERS) : "");
    source += random.chance(0.1) ? `(${quantified})` : quantified;
  }
  // This only parses without the `u` flag.
  const annexB = withoutU && !/\\[pu]\{/i.test(source) ? pick(random, ["\\-?", "\\_?"]) : "";
  return (random.chance(0.8) ? "^" : "") + source + annexB + (random.chance(0.5) ? "$" : "");
}

const APART = ["a", "[b-c]", "1", " ", "é", "[жЖ]", "😀", "[😁-😂]", "\\ud83d", "[^\\x00-é]"];
const CHARACTERS = [...Array.from("aabc1 _-\néжЖ中😀😁😂"), "\ud83d", "\ude00", "\ud800"];

function randomText(random: Random): string {
  const alphabet = Array.from({ length: 1 + random.below(3) }, () => pick(random, CHARACTERS));
  let text = "";
  for (let left = random.below(10); left > 0; left--) text += pick(random, alphabet);
  return text;
}

test("a sequence takes the same steps each time, and less than that is too few", () => {
  for (const [source, text, used] of [
    ["^[A-Z]{3}-\\d{4}$", "ABC-1234", 6],
    ["^[A-Z]{3}-\\d{4}$", "ABc", 2],
    ["^[é-žж]+$", "é".repeat(100), 201],
    ["[a-z]", "0".repeat(200) + "a", 101],
    ["^[^]*$", "a".repeat(255), 128],
    ["a*$", "b".repeat(255), 1],
  ] as const) {
    const program = compiled(source);
    const steps = new Steps(used);
    testPattern(program, text, steps);
    assert.equal(steps.left, 0, source);
    assert.throws(() => testPattern(program, text, new Steps(used - 1)), OutOfSteps, source);
  }
});

test("a text long enough to learn from goes the long way, which then costs less", () => {
  const steps = new Steps(100_000);
  assert.equal(testPattern(compiled("^[é-žж]+$"), "é".repeat(50_000), steps), true);
  assert.ok(steps.used < 30_000, `${steps.used}`);
});
