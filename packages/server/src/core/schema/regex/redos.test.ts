import assert from "node:assert/strict";
import { test } from "node:test";
import { OutOfSteps, Steps } from "../steps.ts";
import { compilePattern, testPattern } from "./index.ts";

const KIB_128 = 131_072;

type Outcome = { readonly verdict: boolean | "out of steps"; readonly steps: number };

/** Matches under the budget that a check of SPEC 8 has: 100,000 steps and 4 for each byte. */
function run(source: string, text: string): Outcome {
  const compiled = compilePattern(source);
  assert.ok(compiled.ok, source);
  const steps = new Steps(100_000 + 4 * new TextEncoder().encode(text).length);
  try {
    return { verdict: testPattern(compiled.program, text, steps), steps: steps.used };
  } catch (error) {
    assert.ok(error instanceof OutOfSteps);
    return { verdict: "out of steps", steps: steps.used };
  }
}

function fill(unit: string, length = KIB_128): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

const A = fill("a");
const AB = fill("ab");
const PROSE = fill("The quick brown fox jumps over the lazy dog, 42 times.\n");

const ORDINARY: [source: string, text: string, verdict: boolean, stepsPerCharacter: number][] = [
  ["^[\\s\\S]*$", PROSE, true, 0.6],
  ["^[\\s\\S]{10,}$", PROSE, true, 0.6],
  ["^[\\s\\S]{0,200000}$", PROSE, true, 3],
  ["^[a-z]{1,10000}$", fill("abc"), false, 0.3],
  ["zzz", PROSE, false, 0.6],
  ["password|secret|token|bearer", PROSE, false, 0.6],
  ["\\bfoo\\b", PROSE, false, 0.6],
  ["\\d{3}-\\d{4}", PROSE, false, 0.6],
  ["a.{20}z", AB, false, 4],
  ["^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", fill("QUJD"), true, 0.6],
  ['^(?:[^"\\\\]|\\\\.)*$', PROSE, true, 0.6],
  ["^([^,]*,)*[^,]*$", fill("field,val ue,"), true, 0.6],
  ["^(?:.{1,60}\\n)*.{0,60}$", PROSE, true, 4.6],
  ["^(?!.*\\.\\.)[\\s\\S]*$", PROSE, true, 1.1],
  ["^(?=[^]*[a-z])(?=[^]*[A-Z])(?=[^]*\\d)[^]{8,}$", PROSE, true, 2.1],
  ["^(?:(?!foo)[\\s\\S])*$", PROSE, true, 3.1],
  ["^[\\p{L}\\p{N}\\p{P}\\s]+$", fill("Привет, мир 42! ", 70_000), true, 0.6],
  ["^(\\p{L}|\\p{N}|\\p{P}|\\s)+$", fill("漢字仮名交じり文。", 43_690), true, 0.7],
];

test("an ordinary pattern passes over 128 KiB in few steps for each character", () => {
  for (const [source, text, verdict, stepsPerCharacter] of ORDINARY) {
    const outcome = run(source, text);
    assert.equal(outcome.verdict, verdict, source);
    assert.ok(outcome.steps <= stepsPerCharacter * text.length, `${source} ${outcome.steps}`);
  }
});

const BOMBS: [source: string, text: string, verdict: boolean, steps: number][] = [
  ["(a+)+$", `${A}b`, false, 70_000],
  ["^(a+)+$", `${A}b`, false, 70_000],
  ["^(a|a)*$", `${A}b`, false, 70_000],
  ["^(a|aa)+$", `${A}b`, false, 70_000],
  ["^(?:(a+)+c|a+!)$", `${A}!`, true, 70_000],
  ["(x+x+)+y", fill("x"), false, 70_000],
  ["(.*)*=(.*)*!", fill("="), false, 70_000],
  ["^(\\w+\\s?)*$", `${fill("word ")}!`, false, 70_000],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", A, false, 70_000],
  ["(a*)*(b*)*(c*)*$d", A, false, 70_000],
  ["(?:a?b??)*$", `${AB}c`, true, 70_000],
  ["(?:^|a)+$", `${A}b`, false, 70_000],
  ["(?:\\b|\\B)*c", AB, false, 70_000],
  ["(a|b)*a(a|b){12}c", AB, false, 70_000],
  ["^(\\p{L}|\\p{N}|\\p{P}){1,200}$", fill("é", 200), true, 5_100],
  ["(\\p{L}|\\p{N}|\\p{P}){1,200}!", fill("éa", 70_000), false, 420_000],
  ["((a{0,100}){0,10}){0,1}", A, true, 100],
  ["^((a{0,100}){0,10}){0,1}$", A, false, 20_000],
  ["(?:a?){100}a{100}", fill("a", 150), true, 11_000],
  ["a{10000}b", A, false, 530_000],
  ["(?=a*b)".repeat(20), A, false, 200_000],
  ["(?:(?=a*b)a)*c", A, false, 330_000],
  ["(?=(?=(?=(?=a*b)a*b)a*b)a*b)c", A, false, 70_000],
  ["(?:(?=(?:a|b){1,50}c)[ab])*d", AB, false, 330_000],
  [`${"(".repeat(200)}a${")*".repeat(200)}$`, `${A}b`, true, 120_000],
];

test("a pattern that hangs a backtracking engine ends within the stated steps", () => {
  for (const [source, text, verdict, steps] of BOMBS) {
    const outcome = run(source, text);
    assert.equal(outcome.verdict, verdict, source);
    assert.ok(outcome.steps <= steps, `${source} ${outcome.steps}`);
  }
});

const GIANTS: [source: string, text: string][] = [
  ["(?:(?:(?:a{1,9}){1,9}){1,9}){1,9}b", A],
  ["(?:a?){5000}b", A],
  ["(?:..)*a{5000}b", A],
  ["[ab]*a[ab]{5000}c", AB],
  [`(?:${"[ab]{5,9}|".repeat(40)}c){3}d`, AB],
  [`${"(?=".repeat(200)}a*b${")".repeat(200)}`, A],
  ["(?:(?!a{5,9}b)(?!b{5,9}a)[ab])*c", AB],
];

test("a pattern that is too much for the text is stopped by the budget, not by a clock", () => {
  for (const [source, text] of GIANTS) {
    const outcome = run(source, text);
    assert.deepEqual(outcome, { verdict: "out of steps", steps: 100_000 + 4 * text.length });
  }
});

const EXPLOSIONS = [
  "(?:(?:(?:(?:a?){9}){9}){9}){9}b",
  "(((a{0,100}b){0,100}){0,100}){0,100}",
  "(?:(?:a|b){1000}){1000}",
  `${"(?:".repeat(140)}a${"){2}".repeat(140)}`,
  `(?:${"a{99}".repeat(100)}){99999}`,
  `(?:${"(?=a)b".repeat(100)}){99999}`,
  `(?:${"(?:)".repeat(200)}|){99999}`,
  "(?:[\\p{L}\\p{N}]b){6000}",
];

test("a pattern whose repeats explode is refused before they are written out", () => {
  for (const source of EXPLOSIONS) {
    const compiled = compilePattern(source);
    assert.equal(compiled.ok ? source : compiled.reason.slice(0, 16), "is too large: ov", source);
  }
});
