import type { AST } from "@eslint-community/regexpp";
import { type AsciiSet, addCode, addSet, hasCode } from "./ascii-set.ts";
import { type Property, propertyNamed } from "./property.ts";

/** An atom of a pattern that takes exactly one character. */
export type OneCharacter = AST.Character | AST.CharacterSet | AST.ClassRangesCharacterClass;

type PropertyItem = { readonly property: Property; readonly negated: boolean };

/**
 * What it costs to look a character of 128 or above up among several ranges, and to ask about one
 * property (70 ns).
 */
const VISITS_PER_LOOKUP = 3;
const VISITS_PER_PROPERTY = 8;

/** Takes note of work, in visits of an instruction. */
export type Meter = { charge(visits: number): void };

/** The set of characters that one class, escape or literal of a pattern stands for. */
export class CharClass {
  /** The members below 128. */
  readonly ascii: AsciiSet;
  /** Apart, in order, inclusive, flat: from, to, from, to, … */
  readonly #ranges: Int32Array;
  readonly #properties: readonly PropertyItem[];
  readonly #negated: boolean;

  constructor(ranges: Ranges, properties: readonly PropertyItem[], negated: boolean) {
    this.#ranges = Int32Array.from(merge(ranges));
    this.#properties = properties;
    this.#negated = negated;
    this.ascii = asciiOf(ranges, properties, negated);
  }

  get properties(): readonly Property[] {
    return this.#properties.map((item) => item.property);
  }

  /** Tells whether a code point of 0 to 0x10FFFF is a member. */
  has(code: number, meter: Meter): boolean {
    if (code < 128) return hasCode(this.ascii, code);
    if (this.#ranges.length > 2) meter.charge(VISITS_PER_LOOKUP);
    return (this.#inRanges(code) || this.#inProperties(code, meter)) !== this.#negated;
  }

  /**
   * Tells whether a character may be a member of both. Above ASCII a class with properties counts as
   * if it had all characters.
   */
  mayMeet(other: CharClass): boolean {
    for (let word = 0; word < 4; word++) {
      if (((this.ascii[word] ?? 0) & (other.ascii[word] ?? 0)) !== 0) return true;
    }
    return overlapAboveAscii(this.#reach(), other.#reach());
  }

  /** Returns ranges, apart and in order, that above ASCII hold every member. */
  #reach(): Ranges {
    if (this.#properties.length > 0) return [0, LAST_CODE_POINT];
    return this.#negated ? complement(Array.from(this.#ranges)) : Array.from(this.#ranges);
  }

  #inRanges(code: number): boolean {
    const ranges = this.#ranges;
    let low = 0;
    let high = ranges.length >> 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[2 * middle + 1] ?? 0) < code) low = middle + 1;
      else high = middle;
    }
    return 2 * low < ranges.length && (ranges[2 * low] ?? 0) <= code;
  }

  #inProperties(code: number, meter: Meter): boolean {
    for (const { property, negated } of this.#properties) {
      meter.charge(VISITS_PER_PROPERTY);
      if (property.has(code) !== negated) return true;
    }
    return false;
  }
}

/** Builds the class that an atom means; undefined when the engine lacks a property it names. */
export function charClassOf(atom: OneCharacter): CharClass | undefined {
  const ranges: number[] = [];
  const properties: PropertyItem[] = [];
  for (const element of atom.type === "CharacterClass" ? atom.elements : [atom]) {
    if (element.type === "CharacterSet" && element.kind === "property") {
      const { key, value, negate: negated } = element;
      const property = propertyNamed(value === null ? key : `${key}=${value}`);
      if (!property) return undefined;
      properties.push({ property, negated });
    } else {
      ranges.push(...rangesOf(element));
    }
  }
  return new CharClass(ranges, properties, atom.type === "CharacterClass" && atom.negate);
}

/** Inclusive ranges of code points, flat: from, to, from, to, … */
type Ranges = readonly number[];

const LAST_CODE_POINT = 0x10ffff;
const LINE_ENDS: Ranges = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];
const ESCAPES: Readonly<Record<"digit" | "space" | "word", Ranges>> = {
  digit: [0x30, 0x39],
  // prettier-ignore
  space: [
    0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a,
    0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
  ],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
};

type RangeElement =
  | AST.Character
  | AST.CharacterClassRange
  | AST.AnyCharacterSet
  | AST.EscapeCharacterSet;

function rangesOf(element: RangeElement): Ranges {
  switch (element.type) {
    case "Character":
      return [element.value, element.value];
    case "CharacterClassRange":
      return [element.min.value, element.max.value];
    case "CharacterSet":
      if (element.kind === "any") return complement(LINE_ENDS);
      return element.negate ? complement(ESCAPES[element.kind]) : ESCAPES[element.kind];
  }
}

/** Returns what ranges that lie apart and in order leave out. */
function complement(ranges: Ranges): Ranges {
  const rest: number[] = [];
  let from = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    rest.push(from, (ranges[index] ?? 0) - 1);
    from = (ranges[index + 1] ?? 0) + 1;
  }
  rest.push(from, LAST_CODE_POINT);
  return rest;
}

function overlapAboveAscii(ranges: Ranges, others: Ranges): boolean {
  for (let one = 0, other = 0; one < ranges.length && other < others.length;) {
    const to = ranges[one + 1] ?? 0;
    const otherTo = others[other + 1] ?? 0;
    const from = Math.max(ranges[one] ?? 0, others[other] ?? 0, 128);
    if (from <= Math.min(to, otherTo)) return true;
    if (to < otherTo) one += 2;
    else other += 2;
  }
  return false;
}

/** Returns the same characters as ranges that lie apart and in order. */
function merge(ranges: Ranges): Ranges {
  if (ranges.length <= 2) return ranges;
  const pairs: [from: number, to: number][] = [];
  for (let index = 0; index < ranges.length; index += 2) {
    pairs.push([ranges[index] ?? 0, ranges[index + 1] ?? 0]);
  }
  const merged: number[] = [];
  for (const [from, to] of pairs.toSorted((one, other) => one[0] - other[0])) {
    const lastTo = merged.at(-1);
    if (lastTo === undefined || from > lastTo + 1) merged.push(from, to);
    else merged[merged.length - 1] = Math.max(lastTo, to);
  }
  return merged;
}

function asciiOf(ranges: Ranges, properties: readonly PropertyItem[], negated: boolean): AsciiSet {
  const members: AsciiSet = new Int32Array(4);
  for (let index = 0; index < ranges.length; index += 2) {
    const to = Math.min(ranges[index + 1] ?? 0, 127);
    for (let code = ranges[index] ?? 0; code <= to; code++) addCode(members, code);
  }
  for (const item of properties) addSet(members, item.property.ascii, item.negated);
  if (!negated) return members;
  const others: AsciiSet = new Int32Array(4);
  addSet(others, members, true);
  return others;
}
