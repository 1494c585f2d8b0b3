/**
 * The short way for plain patterns, such as `^[A-Z]{3}-\d{4}$`: one greedy pass without an automaton.
 *
 * Let a pattern be items, each taking `min` to `max` characters of a class, and let it begin with
 * `^`. Where a text matches, let the items take n1, n2, … characters. The greedy pass has each item
 * take g, as many as there are up to `max`. It finds just these numbers, item by item: both begin an
 * item at the same place, so n ≤ g. Were n < g, the item's count could vary, and the character behind
 * its n would be of its class. In the match, that character
 * - is taken by the next item that takes any. All items between take none, so they are optional, and
 *   `isDeterministic` has seen to it that no item up to the first that is not has a character in
 *   common with this one; or
 * - is taken by none, the rest being optional. Then `$` does not hold before it, and if there is no
 *   `$`, `withoutIdleEnd` has left no optional item at the end, and no last one that can vary.
 * Either way n < g can't be, so where there is a match the greedy pass finds it; and what it finds is
 * one, since it keeps to every `min`, `max` and class.
 *
 * Without `^` there may be one item only. It matches where enough characters of its class stand in a
 * row, with `$` at the end of the text: a longer row holds one of `max` characters or fewer.
 */
import type { AST } from "@eslint-community/regexpp";
import type { Steps } from "../steps.ts";
import { hasCode } from "./ascii-set.ts";
import { type CharClass, type OneCharacter, charClassOf } from "./char-class.ts";
import { Visits } from "./visits.ts";

/** Takes from `min` to `max` characters of a class. */
type Item = { readonly charClass: CharClass; readonly min: number; readonly max: number };

/** A pattern for which one greedy pass is exact. */
export type Sequence = {
  /** Characters are code points (`u`), or else UTF-16 code units. */
  readonly unicode: boolean;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
  /** At most one without `fromStart`. */
  readonly items: readonly Item[];
};

/** Keeps a program small: an item is about 60 bytes, and a character of its own has a class. */
const ITEMS_MAX = 64;
/** More than any text has characters. */
const ENDLESS = 0x3fff_ffff;

/**
 * Finds the sequence that a pattern comes to; null when it is none. `classOf` knows the classes of
 * the program.
 */
export function sequenceOf(
  pattern: AST.Pattern,
  unicode: boolean,
  classOf: (one: OneCharacter) => CharClass | undefined,
): Sequence | null {
  const [alternative, ...others] = pattern.alternatives;
  if (!alternative || others.length > 0) return null;
  const reader = new Reader(classOf);
  if (!reader.read(alternative.elements)) return null;
  const { fromStart, toEnd } = reader;
  const items = toEnd ? reader.items : withoutIdleEnd(reader.items);
  if (fromStart ? !isDeterministic(items) : items.length > 1) return null;
  return { unicode, fromStart, toEnd, items };
}

/** Tells what `testPattern` tells, for a text that is worth no learning. Throws `OutOfSteps`. */
export function testSequence(sequence: Sequence, text: string, steps: Steps): boolean {
  const visits = new Visits(steps);
  const found = sequence.fromStart
    ? matchesFromStart(sequence, text, visits)
    : matchesAnywhere(sequence, text, visits);
  visits.settle();
  return found;
}

function matchesFromStart(sequence: Sequence, text: string, visits: Visits): boolean {
  const { unicode, items } = sequence;
  let index = 0;
  for (const item of items) {
    index = endOf(item, text, index, unicode, visits);
    if (index === NOWHERE) return false;
  }
  return !sequence.toEnd || index === text.length;
}

const NOWHERE = -1;

/** Takes as many characters as the item may; returns where they end, NOWHERE if they are too few. */
function endOf(item: Item, text: string, start: number, unicode: boolean, visits: Visits): number {
  const { charClass, min, max } = item;
  const { ascii } = charClass;
  let index = start;
  let count = 0;
  for (; count < max && index < text.length; count++) {
    const unit = text.charCodeAt(index);
    if (unit < 128) {
      if (!hasCode(ascii, unit)) break;
      index += 1;
    } else {
      const code = unicode ? (text.codePointAt(index) ?? unit) : unit;
      if (!charClass.has(code, visits)) break;
      index += code > 0xffff ? 2 : 1;
    }
  }
  visits.charge(1 + count);
  return count < min ? NOWHERE : index;
}

function matchesAnywhere(sequence: Sequence, text: string, visits: Visits): boolean {
  const { unicode, toEnd } = sequence;
  const [item] = sequence.items;
  visits.charge(1);
  if (!item || item.min === 0) return true;
  const enough = toEnd ? ENDLESS : item.min;
  let row = 0;
  let count = 0;
  for (let index = 0; index < text.length && row < enough; count++) {
    const unit = text.charCodeAt(index);
    const code = unicode && unit > 127 ? (text.codePointAt(index) ?? unit) : unit;
    row = item.charClass.has(code, visits) ? row + 1 : 0;
    index += code > 0xffff ? 2 : 1;
  }
  visits.charge(count);
  return row >= item.min;
}

/** Reads a pattern into items, as long as it is a sequence. */
class Reader {
  readonly items: Item[] = [];
  fromStart = false;
  toEnd = false;
  readonly #classOf: (one: OneCharacter) => CharClass | undefined;

  constructor(classOf: (one: OneCharacter) => CharClass | undefined) {
    this.#classOf = classOf;
  }

  read(elements: readonly AST.Element[]): boolean {
    return elements.every((element) => !this.toEnd && this.#element(element));
  }

  #element(element: AST.Element): boolean {
    switch (element.type) {
      case "Group":
      case "CapturingGroup": {
        const [alternative, ...others] = element.alternatives;
        return alternative !== undefined && others.length === 0 && this.read(alternative.elements);
      }
      case "Quantifier":
        return this.#item(element.element, element.min, element.max);
      case "Assertion":
        if (element.kind === "end") this.toEnd = true;
        else if (element.kind === "start" && this.items.length === 0) this.fromStart = true;
        else return false;
        return true;
      case "Character":
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass":
      case "Backreference":
        return this.#item(element, 1, 1);
    }
  }

  #item(element: AST.Element, min: number, max: number): boolean {
    if (this.items.length === ITEMS_MAX) return false;
    const charClass = this.#classIn(element);
    if (!charClass) return false;
    if (max > 0) this.items.push({ charClass, min, max: Math.min(max, ENDLESS) });
    return true;
  }

  #classIn(element: AST.Element): CharClass | undefined {
    if (element.type === "Character") return classOfCharacter(element);
    if (element.type === "CharacterSet") return this.#classOf(element);
    if (element.type !== "CharacterClass" || element.unicodeSets) return undefined;
    return this.#classOf(element);
  }
}

/** The classes of ASCII characters, which all programs have in common: at most 128. */
const asciiClasses: (CharClass | undefined)[] = [];

function classOfCharacter(character: AST.Character): CharClass | undefined {
  if (character.value > 127) return charClassOf(character);
  return (asciiClasses[character.value] ??= charClassOf(character));
}

/** Leaves out what a match need not take at its end when it may end anywhere. */
function withoutIdleEnd(items: readonly Item[]): readonly Item[] {
  const last = items.findLastIndex((item) => item.min > 0);
  return items.slice(0, last + 1).map((item, at) => {
    return at === last ? { ...item, max: item.min } : item;
  });
}

function isDeterministic(items: readonly Item[]): boolean {
  return items.every((item, at) => item.min === item.max || endsByItself(item, items, at + 1));
}

/** Tells whether the character behind as many as the item takes can't be one that it could take. */
function endsByItself({ charClass }: Item, items: readonly Item[], next: number): boolean {
  for (let at = next; at < items.length; at++) {
    const other = items[at];
    if (other && charClass.mayMeet(other.charClass)) return false;
    if (other && other.min > 0) return true;
  }
  return true;
}
