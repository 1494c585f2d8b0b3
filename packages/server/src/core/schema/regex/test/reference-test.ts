import { RegExpParser } from "@eslint-community/regexpp";
import type { AST } from "@eslint-community/regexpp";

const parser = new RegExpParser();

/**
 * Tells whether a pattern matches, as `RegExp.prototype.test` with the `u` flag would, in the plainest
 * way there is: each part of the pattern maps the places where it may begin to those where it may
 * end. Takes long, but never hangs, so it can judge texts that native RegExp can't.
 */
export function referenceTest(source: string, text: string): boolean {
  const pattern = parser.parsePattern(source, 0, source.length, { unicode: true });
  const characters = Array.from(text);
  const everywhere = new Set(characters.keys()).add(characters.length);
  return ends(pattern.alternatives, everywhere, characters).size > 0;
}

type Places = ReadonlySet<number>;

function ends(
  alternatives: readonly AST.Alternative[],
  starts: Places,
  text: readonly string[],
): Places {
  const all = new Set<number>();
  for (const { elements } of alternatives) {
    let places = starts;
    for (const element of elements) places = endsOf(element, places, text);
    for (const place of places) all.add(place);
  }
  return all;
}

function endsOf(element: AST.Element, starts: Places, text: readonly string[]): Places {
  switch (element.type) {
    case "Group":
    case "CapturingGroup":
      return ends(element.alternatives, starts, text);
    case "Quantifier":
      return repeatedEnds(element, starts, text);
    case "Assertion":
      return new Set([...starts].filter((place) => holds(element, place, text)));
    case "Character":
    case "CharacterSet":
    case "CharacterClass": {
      const one = new RegExp(`^${element.raw}$`, "u");
      const taken = [...starts].filter((place) => one.test(text[place] ?? ""));
      return new Set(taken.map((place) => place + 1));
    }
    case "ExpressionCharacterClass":
    case "Backreference":
      throw new Error(`the reference knows no ${element.type}`);
  }
}

function repeatedEnds(
  { element, min, max }: AST.Quantifier,
  starts: Places,
  text: readonly string[],
): Places {
  let places = starts;
  for (let n = 0; n < min; n++) places = endsOf(element, places, text);
  const all = new Set(places);
  for (let n = min; n < max && places.size > 0; n++) {
    places = new Set([...endsOf(element, places, text)].filter((place) => !all.has(place)));
    for (const place of places) all.add(place);
  }
  return all;
}

function holds(assertion: AST.Assertion, place: number, text: readonly string[]): boolean {
  switch (assertion.kind) {
    case "start":
      return place === 0;
    case "end":
      return place === text.length;
    case "word":
      return (isWord(text[place - 1]) !== isWord(text[place])) !== assertion.negate;
    case "lookahead":
      return ends(assertion.alternatives, new Set([place]), text).size > 0 !== assertion.negate;
    case "lookbehind":
      throw new Error("the reference knows no look-behind");
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}
