import assert from "node:assert/strict";
import { test } from "node:test";
import { OutOfSteps, Steps } from "../steps.ts";
import { compilePattern, testPattern } from "./index.ts";
import type { RegexProgram } from "./index.ts";

function compiled(source: string): RegexProgram {
  const result = compilePattern(source);
  assert.ok(result.ok, source);
  return result.program;
}

function matches(source: string, text: string): boolean {
  return testPattern(compiled(source), text, new Steps(100_000));
}

const INVALID = "is not a valid regular expression: ";
const TOO_MANY = "is too large: over 12000 instructions with its repeats written out";
const REFUSALS: [source: string, reason: string][] = [
  ["(?<=a)b", "uses a look-behind, which Relay does not support"],
  ["(?<!a)b", "uses a look-behind, which Relay does not support"],
  ["(?:x(?=(?<=a)b))*", "uses a look-behind, which Relay does not support"],
  ["(a)\\1", "uses a back-reference, which Relay does not support"],
  ["(?<word>a)\\k<word>", "uses a back-reference, which Relay does not support"],
  ["(a)\\1\\-", "uses a back-reference, which Relay does not support"],
  ["(?i:a)", "uses inline modifiers, which Relay does not support"],
  ["(?-s:.)", "uses inline modifiers, which Relay does not support"],
  ["(?i:a){5}", "uses inline modifiers, which Relay does not support"],
  ["(?i:(a)\\1)", "uses inline modifiers, which Relay does not support"],
  ["(", `${INVALID}Unterminated group`],
  ["a)", `${INVALID}Unmatched ')'`],
  ["[a", `${INVALID}Unterminated character class`],
  ["*a", `${INVALID}Nothing to repeat`],
  ["a**", `${INVALID}Nothing to repeat`],
  ["a{3,2}", `${INVALID}numbers out of order in {} quantifier`],
  ["[z-a]", `${INVALID}Range out of order in character class`],
  ["\\", `${INVALID}\\ at end of pattern`],
  ["(?<a>x)(?<a>y)", `${INVALID}Duplicate capture group name`],
  ["\\p{Nonsense}", `${INVALID}Invalid property name`],
  ["\\p{L}\\-", `${INVALID}Invalid escape`],
  ["\\u{1F600}\\@", `${INVALID}Invalid escape`],
  ["a".repeat(1_025), "is too large: over 1024 characters"],
  ["😀".repeat(1_025), "is too large: over 1024 characters"],
  ["(?:ab){6001}", TOO_MANY],
  ["((a{0,100}b){0,100}){0,100}", TOO_MANY],
  ["(?:a|b){0,99999999999999999999}", TOO_MANY],
  [`(?:a|b){${"9".repeat(400)}}`, TOO_MANY],
  ["a{30000}", TOO_MANY],
  ["a{99999999999999999999}", TOO_MANY],
  ["(?:(?=a{4}b){9}c){99999}", TOO_MANY],
];

test("what Relay does not take is refused with the reason", () => {
  for (const [source, reason] of REFUSALS) {
    assert.deepEqual(compilePattern(source), { ok: false, reason }, source);
  }
});

const SIZES: [source: string, size: number][] = [
  ["", 1],
  ["abc", 4],
  ["[a-z]{1,10000}", 2],
  ["^[\\s\\S]{0,10000}$", 4],
  ["^[a-z]{10000,}$", 7],
  ["[a-z]{10000}", 5_002],
  ["(?:(?:(?:){1000}){1000}){1000}", 1],
  ["(?:){999999999999}", 1],
  ["(?:){0,999999999999}", 2],
  ["a{0}", 1],
  ["😀".repeat(1_024), 1_025],
  ["(?:ab){2,4}", 11],
  ["(?:ab)*", 5],
  ["a(?=bc)", 6],
  ["\\p{L}\\p{L}[\\p{L}\\p{N}]", 404],
];

test("a program's size counts its instructions and the room for counters and properties", () => {
  for (const [source, size] of SIZES) assert.equal(compiled(source).size, size, source);
});

// Each is checked against native RegExp too, so the table itself can't be wrong.
const CASES: [source: string, matching: string[], other: string[]][] = [
  ["", ["", "a"], []],
  ["^$", [""], ["a", "\n"]],
  ["^a$", ["a"], ["a\n", "\na", "ab"]],
  ["a|", ["", "b"], []],
  ["^(?:a||b)$", ["", "a", "b"], ["ab"]],
  ["[]", [], ["", "a"]],
  ["[^]", ["a", "\n"], [""]],
  [".", ["a", "\u0085", "😀", "\ud83d"], ["", "\n", "\r", "\u2028", "\u2029"]],
  ["^.$", ["😀", "\ud83d"], ["\ude00\ud83d"]],
  ["^..$", ["\ude00\ud83d", "😀\ude00"], ["😀"]],
  ["^\\s$", ["\u00a0", "\ufeff", "\u2028", "\v"], ["\u180e", "\u200b", "\u0085"]],
  ["^\\w$", ["_", "Z", "0"], ["é", "ſ", "\u212a"]],
  ["^\\p{L}+$", ["Straße", "漢字", "𐐷"], ["a1", ""]],
  ["^\\P{L}$", ["1", "😀"], ["a"]],
  ["[😀-😂]", ["😁"], ["\ud83d", "\ude01"]],
  ["\\ud83d", ["\ud83d", "a\ud83d"], ["😀"]],
  ["\\ude00", ["\ude00", "\ude00\ud83d"], ["😀"]],
  ["\\ud83d\\ude00", ["😀"], ["\ud83d"]],
  ["[\\ud83d\\ude00]", ["😀"], ["\ud83d", "\ude00"]],
  ["^[^x]$", ["😀", "\ud800"], ["x", "xx"]],
  ["\\bcat\\b", ["cat", "a cat.", "é cat"], ["cats", "_cat", "cat1"]],
  ["écat\\b", ["écat"], ["écats"]],
  ["\\Bat", ["cat"], ["at", "éat", " at"]],
  ["\\b", ["a", " a"], ["", " ", "é"]],
  ["\\B", ["", "ab", " "], ["a"]],
  ["^(?!.*\\.\\.)[a-z.]+$", ["a.b", "."], ["a..b", ""]],
  ["^(?=.*\\d)(?=.*[a-z]).{4,}$", ["a1bc", "1234a"], ["abcd", "1234", "a1"]],
  ["^(?:(?!end).)*$", ["the en d", ""], ["the end"]],
  ["a(?=b(?!c))", ["ab", "abd"], ["abc", "a"]],
  ["(?=a)(?=ab)(?!abc)", ["ab", "abb"], ["abc", "a"]],
  ["(?=$)^", [""], ["a"]],
  ["^(?=(?:ab)+$)(?:aba)+", ["ababab", "abab"], ["aba", "abaab"]],
  ["^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]],
  ["^a{5,7}$", ["aaaaa", "aaaaaaa"], ["aaaa", "aaaaaaaa"]],
  ["^a{6,}$", ["aaaaaa", "aaaaaaaaaa"], ["aaaaa", "aaaaab"]],
  ["^(?:a{5,6}b?){2}$", ["aaaaaaaaaa", "aaaaabaaaaaab"], ["aaaaaaaaa", "aaaaaaaaaaaaa"]],
  ["(?:ab?){9}c", ["ababaaaaaabac"], ["ababababababc"]],
  ["^(?:a{0,2}){3}$", ["", "aaaaaa"], ["aaaaaaa"]],
  ["^(?:[ab]{5}|[bc]{7})*$", ["", "ababa", "ababacbcbcbc"], ["ababab"]],
  ["^((a*)*)*$", ["", "aaa"], ["b"]],
  ["^(?:a?)*?$", ["aa"], ["ab"]],
  ["(?:)*", ["", "x"], []],
  ["^(?:$|a)+$", ["", "aa"], ["b", "ab"]],
  ["^a{0,99999999999999999999}$", ["", "aaa"], ["b"]],
  ["(?<year>\\d{4})-(?<month>\\d\\d)", ["on 2026-08"], ["2026-8"]],
];

test("patterns mean what they mean in JavaScript with the u flag", () => {
  for (const [source, matching, other] of CASES) {
    assert.equal(compiled(source).unicode, true, source);
    checkCase(source, new RegExp(source, "u"), matching, other);
  }
});

const ANNEX_B_CASES: typeof CASES = [
  ["^\\@\\-\\_$", ["@-_"], ["\\@"]],
  ["^a{$", ["a{"], ["a"]],
  ["^{}]$", ["{}]"], [""]],
  ["^x{,2}$", ["x{,2}"], ["xx"]],
  ["^\\1\\8$", ["\u00018"], ["18"]],
  ["[\\d-x]", ["-", "5", "x"], ["e"]],
  ["^\\c$", ["\\c"], ["c"]],
  ["^[\\c_]$", ["\u001f"], ["c", "_"]],
  ["^\\k$", ["k"], ["\\k"]],
  ["^\\p\\u$", ["pu"], ["é"]],
  ["^(?=a)*b$", ["b"], ["ab"]],
  ["^(?=a){2}\\_?a$", ["a"], ["b", "_a"]],
  // Without the flag a character is a code unit.
  ["^.\\@?.$", ["😀", "ab"], ["a", "😀😀"]],
  ["^[😀]\\-?$", ["\ud83d", "\ude00-"], ["😀"]],
  ["^\\ud83d\\@?", ["😀", "\ud83d@"], ["a"]],
];

test("what only parses without the u flag means what it means in JavaScript without it", () => {
  for (const [source, matching, other] of ANNEX_B_CASES) {
    assert.throws(() => new RegExp(source, "u"), SyntaxError);
    assert.equal(compiled(source).unicode, false, source);
    checkCase(source, new RegExp(source), matching, other);
  }
});

function checkCase(
  source: string,
  native: RegExp,
  matching: readonly string[],
  other: readonly string[],
): void {
  for (const text of [...matching, ...other]) {
    const expected = matching.includes(text);
    const label = JSON.stringify({ source, text });
    assert.equal(native.test(text), expected, `native, ${label}`);
    assert.equal(matches(source, text), expected, label);
  }
}

test("the same text takes the same steps each time, and less than that is too few", () => {
  for (const [source, text] of [
    ["^(?=.*\\d)[\\p{L}\\d]{8,}$", "Pässwörd1"],
    ["(?:a|b)*c", "ab".repeat(1_000)],
  ] as const) {
    const program = compiled(source);
    const steps = new Steps(100_000);
    const verdict = testPattern(program, text, steps);
    const exact = new Steps(steps.used);
    assert.equal(testPattern(program, text, exact), verdict);
    assert.equal(exact.left, 0);
    assert.throws(() => testPattern(program, text, new Steps(steps.used - 1)), OutOfSteps);
  }
});
