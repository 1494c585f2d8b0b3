import assert from "node:assert/strict";
import { test } from "node:test";
import { RegExpParser } from "@eslint-community/regexpp";
import { charClassOf } from "./char-class.ts";
import type { CharClass } from "./char-class.ts";

const CLASSES =
  ". \\d \\D \\s \\S \\w \\W [^] [] [^\\W_] [\\D\\d] [^\\s\\S] [a-fé-ž\\u{10000}-\\u{1ffff}0] [^\\D5] [z-zb-da-c]";
const PROPERTY_CLASSES = "\\p{L} \\P{Lu} [\\p{Nd}\\p{sc=Greek}_] [^\\P{Emoji}a] \\p{Any}";

test("every class has exactly native RegExp's members among all 1,114,112 code points", () => {
  const meter = { charge() {} };
  for (const source of `${CLASSES} ${PROPERTY_CLASSES}`.split(" ")) {
    const charClass = parsedClass(source);
    const native = new RegExp(`^${source}$`, "u");
    for (let code = 0; code <= 0x10ffff; code++) {
      if (charClass.has(code, meter) !== native.test(String.fromCodePoint(code))) {
        assert.fail(`${source} at U+${code.toString(16)}`);
      }
    }
  }
});

function parsedClass(source: string): CharClass {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: true });
  const atom = pattern.alternatives[0]?.elements[0];
  assert.ok(
    atom?.type === "CharacterSet" || (atom?.type === "CharacterClass" && !atom.unicodeSets),
  );
  const charClass = charClassOf(atom);
  assert.ok(charClass);
  return charClass;
}
