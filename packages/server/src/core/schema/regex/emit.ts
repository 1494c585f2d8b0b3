import type { AST } from "@eslint-community/regexpp";
import { type CharClass, type OneCharacter, charClassOf } from "./char-class.ts";
import { Draft } from "./draft.ts";
import { type Code, OP, PROGRAM_SIZE_MAX, type RegexProgram, type Repeat } from "./program.ts";
import type { Property } from "./property.ts";
import { sequenceOf } from "./sequence.ts";
import { startOf } from "./start-of.ts";
import { windowsMax } from "./windows.ts";

export type Emitted =
  | { readonly ok: true; readonly program: RegexProgram }
  | { readonly ok: false; readonly reason: string };

/** Writes the instructions for a parsed pattern. The first thing not supported refuses it. */
export function emitProgram(pattern: AST.Pattern, unicode: boolean): Emitted {
  const emitter = new Emitter();
  const main = emitter.code(pattern.alternatives, false);
  const { refusal, size, lookAheads, classes } = emitter;
  if (refusal !== undefined) return { ok: false, reason: refusal };
  const sequence = sequenceOf(pattern, unicode, (one) => emitter.classOf(one));
  return { ok: true, program: { size, unicode, main, lookAheads, classes, sequence } };
}

/** A class alone is counted when it repeats this often or more; below, it is written out. */
const COUNTED_MIN = 5;

/** What a Unicode property adds to the size: building one takes the engine about 0.1 ms. */
const PROPERTY_SIZE = 200;

class Emitter {
  readonly classes: CharClass[] = [];
  readonly lookAheads: Code[] = [];
  size = 0;
  refusal: string | undefined;
  readonly #classIndexes = new Map<string, number>();
  readonly #properties = new Set<Property>();
  readonly #repeats: Repeat[] = [];

  code(alternatives: readonly AST.Alternative[], backwards: boolean): Code {
    const draft = new Draft(backwards);
    this.#alternatives(draft, alternatives);
    this.#push(draft, OP.match, 0);
    const ops = draft.ops.slice();
    const args = draft.args.slice();
    // Copies of a repeat have its bounds in common, but each counts for itself.
    const repeats: Repeat[] = [];
    for (let at = ops.indexOf(OP.repeat); at !== -1; at = ops.indexOf(OP.repeat, at + 1)) {
      const repeat = this.#repeats[args[at] ?? 0];
      if (repeat) args[at] = repeats.push(repeat) - 1;
    }
    return { ops, args, repeats, ...startOf({ ops, args, repeats }, this.classes) };
  }

  /** Returns the class that was made for an atom, if one was. */
  classOf(one: OneCharacter): CharClass | undefined {
    const index = this.#classIndexes.get(one.raw);
    return index === undefined ? undefined : this.classes[index];
  }

  #alternatives(draft: Draft, alternatives: readonly AST.Alternative[]): void {
    const jumps: number[] = [];
    for (const [index, { elements }] of alternatives.entries()) {
      const last = index === alternatives.length - 1;
      const split = last ? undefined : this.#push(draft, OP.split, 0);
      for (const element of draft.backwards ? elements.toReversed() : elements) {
        this.#element(draft, element);
      }
      if (split === undefined) continue;
      jumps.push(this.#push(draft, OP.jump, 0));
      draft.landHere(split);
    }
    for (const jump of jumps) draft.landHere(jump);
  }

  #element(draft: Draft, element: AST.Element): void {
    if (this.refusal !== undefined) return;
    switch (element.type) {
      case "Character":
        this.#push(draft, OP.character, element.value);
        break;
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass": {
        const one = oneCharacterIn(element);
        if (one) this.#push(draft, OP.charClass, this.#classIndex(one));
        else this.#refuse("uses set notation");
        break;
      }
      case "Group":
        if (element.modifiers) this.#refuse("uses inline modifiers");
        this.#alternatives(draft, element.alternatives);
        break;
      case "CapturingGroup":
        this.#alternatives(draft, element.alternatives);
        break;
      case "Quantifier":
        this.#quantifier(draft, element);
        break;
      case "Assertion":
        this.#assertion(draft, element);
        break;
      case "Backreference":
        this.#refuse("uses a back-reference");
        break;
    }
  }

  #assertion(draft: Draft, assertion: AST.Assertion): void {
    switch (assertion.kind) {
      case "start":
        this.#push(draft, OP.textStart, 0);
        break;
      case "end":
        this.#push(draft, OP.textEnd, 0);
        break;
      case "word":
        this.#push(draft, assertion.negate ? OP.notWordBoundary : OP.wordBoundary, 0);
        break;
      case "lookbehind":
        this.#refuse("uses a look-behind");
        break;
      case "lookahead": {
        const index = this.lookAheads.push(this.code(assertion.alternatives, true)) - 1;
        this.#push(draft, assertion.negate ? OP.notAhead : OP.ahead, index);
        break;
      }
    }
  }

  #quantifier(draft: Draft, { element, min, max }: AST.Quantifier): void {
    const one = oneCharacterIn(element);
    if (element.type === "Assertion") {
      // What takes nothing holds just as well when asked again.
      if (min > 0 && max > 0) this.#element(draft, element);
    } else if (one && (max === Infinity ? min : max) >= COUNTED_MIN) {
      const charClass = this.classes[this.#classIndex(one)];
      if (charClass) this.#push(draft, OP.repeat, this.#repeats.push({ charClass, min, max }) - 1);
      if (max === Infinity) this.#written(draft, element, 0, max);
    } else {
      this.#written(draft, element, min, max);
    }
  }

  /** Writes X{2,4} as X X (X (X)?)?, X{2,} as X X+, and X* as (X+)?. */
  #written(draft: Draft, element: AST.Element, min: number, max: number): void {
    if (max === 0) return;
    const exits: number[] = [];
    if (min === 0) exits.push(this.#push(draft, OP.split, 0));
    const start = draft.length;
    const sizeBefore = draft.size;
    this.#element(draft, element);
    const end = draft.length;
    const size = draft.size - sizeBefore;
    const required = Math.max(min, 1) - 1;
    const optional = max === Infinity ? 0 : max - 1 - required;
    // Asked for beforehand: a million copies, or a million of nothing, must not be begun.
    if (end > start && this.#grow(required * size + optional * (size + 1))) {
      for (let n = 0; n < required; n++) draft.copy(start, end, size);
      if (max === Infinity) this.#push(draft, OP.split, start - end);
      for (let n = 0; n < optional; n++) {
        exits.push(draft.push(OP.split, 0, 1));
        draft.copy(start, end, size);
      }
    }
    for (const exit of exits) draft.landHere(exit);
  }

  /** Returns where the instruction is. */
  #push(draft: Draft, op: number, arg: number): number {
    const repeat = op === OP.repeat ? this.#repeats[arg] : undefined;
    const size = repeat ? windowsMax(repeat) : 1;
    return this.#grow(size) ? draft.push(op, arg, size) : draft.length;
  }

  #classIndex(one: OneCharacter): number {
    const known = this.#classIndexes.get(one.raw);
    if (known !== undefined) return known;
    const charClass = charClassOf(one);
    if (!charClass) {
      this.refusal ??= "is not a valid regular expression: Invalid property name";
      return 0;
    }
    for (const property of charClass.properties) {
      if (!this.#properties.has(property)) this.#grow(PROPERTY_SIZE);
      this.#properties.add(property);
    }
    const index = this.classes.push(charClass) - 1;
    this.#classIndexes.set(one.raw, index);
    return index;
  }

  /** Makes room in the program, or refuses it. */
  #grow(by: number): boolean {
    this.size += by;
    if (this.size <= PROGRAM_SIZE_MAX) return true;
    this.refusal ??= `is too large: over ${PROGRAM_SIZE_MAX} instructions with its repeats written out`;
    return false;
  }

  #refuse(what: string): void {
    this.refusal ??= `${what}, which Relay does not support`;
  }
}

/** Looks for one character behind any parentheses around it. */
function oneCharacterIn(element: AST.Element): OneCharacter | undefined {
  if (element.type === "Character" || element.type === "CharacterSet") return element;
  if (element.type === "CharacterClass") return element.unicodeSets ? undefined : element;
  if (element.type !== "Group" && element.type !== "CapturingGroup") return undefined;
  if (element.type === "Group" && element.modifiers) return undefined;
  const [alternative, ...others] = element.alternatives;
  const [only, ...more] = alternative?.elements ?? [];
  return only && others.length + more.length === 0 ? oneCharacterIn(only) : undefined;
}
