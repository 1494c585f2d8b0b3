import assert from "node:assert/strict";
import { test } from "node:test";
import { Steps } from "../steps.ts";
import { Random } from "../test/random.ts";
import { compilePattern, testPattern } from "./index.ts";
import { ATOMS, QUANTIFIERS, pick, randomPattern } from "./test/random-pattern.ts";

const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_822);
/** All of them with `TEST_FULL=1` and in `npm run long`, a quarter otherwise. */
const CHECKS =
  process.env["TEST_FULL"] === undefined && process.env["TEST_LONG"] === undefined
    ? 50_000
    : 200_000;
const TEXTS_PER_PATTERN = 10;

test(`${CHECKS} checks of generated patterns and texts come out as with native RegExp`, () => {
  const random = new Random(SEED);
  const counts = { checks: 0, matches: 0, patterns: 0, patternsWithoutU: 0, refusals: 0 };
  while (counts.checks < CHECKS) {
    const annexB = random.chance(0.3);
    const source = randomPattern(random, { ...PARTS, annexB }, 3);
    const native = nativeRegExp(source);
    const compiled = compilePattern(source);
    if (!compiled.ok) {
      assert.ok(!native || mayBeRefused(compiled.reason, source), `${source} ${compiled.reason}`);
      counts.refusals++;
      continue;
    }
    assert.ok(native, `only native refuses ${JSON.stringify(source)}`);
    assert.equal(compiled.program.unicode, native.unicode);
    counts.patterns++;
    if (!native.unicode) counts.patternsWithoutU++;
    for (let n = 0; n < TEXTS_PER_PATTERN; n++) {
      const text = randomText(random);
      const actual = testPattern(compiled.program, text, new Steps(1_000_000));
      const expected = nativeTest(native, text);
      if (actual !== expected) assert.equal(actual, expected, JSON.stringify({ source, text }));
      if (actual) counts.matches++;
      counts.checks++;
    }
  }
  console.log(`seed ${SEED}:`, JSON.stringify(counts));
  assert.ok(counts.matches > CHECKS / 5 && counts.matches < (CHECKS * 4) / 5);
  assert.ok(counts.patternsWithoutU > CHECKS / 200);
});

const PARTS = { atoms: ATOMS, quantifiers: QUANTIFIERS, repeatsNested: 2 };
const CHARACTERS = [
  ...Array.from("aAbcZ19 _-@xq{}]éжЖ中\n\u2028\u00a0\0\u0001\u001f😀😂"),
  "\ud83d",
  "\ude00",
  "\ud800",
];

function randomText(random: Random): string {
  let text = "";
  for (let left = random.below(14); left > 0; left--) {
    text += pick(random, random.chance(0.5) ? ["a", "b", "c", "1"] : CHARACTERS);
  }
  return text;
}

function nativeRegExp(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch (error) {
      assert.ok(error instanceof SyntaxError);
    }
  }
  return undefined;
}

/**
 * V8 also lets an attempt begin between the halves of a surrogate pair, where `\B` holds; the
 * standard does not. So a text with pairs is tried at each of its code points.
 */
function nativeTest(native: RegExp, text: string): boolean {
  if (!native.unicode || !/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return native.test(text);
  const sticky = new RegExp(native.source, "uy");
  let index = 0;
  for (const character of [...Array.from(text), ""]) {
    sticky.lastIndex = index;
    if (sticky.test(text)) return true;
    index += character.length;
  }
  return false;
}

function mayBeRefused(reason: string, source: string): boolean {
  if (reason === "uses a back-reference, which Relay does not support") return true;
  if (reason.startsWith("is too large: ")) return true;
  // Without the `u` flag these mean something else than their author thinks; see parse.ts.
  return /\\[pPu]\{/.test(source) && reason.startsWith("is not a valid regular expression: ");
}
