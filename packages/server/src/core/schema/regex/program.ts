import type { CharClass } from "./char-class.ts";
import type { AsciiSet } from "./ascii-set.ts";
import type { Sequence } from "./sequence.ts";

/** The longest source, in code points. */
export const SOURCE_CODE_POINTS_MAX = 1_024;
/** The largest `RegexProgram.size`. */
export const PROGRAM_SIZE_MAX = 12_000;

/**
 * What an instruction does. Each has one argument; jumps are relative to the instruction itself, so
 * that a stretch of code means the same wherever it is copied to.
 */
export const OP = {
  /** Takes the character whose code is the argument. */
  character: 0,
  /** Takes a character of the class with that index. */
  charClass: 1,
  /** Goes on both behind itself and at the jump. */
  split: 2,
  jump: 3,
  /** Takes characters of a class, counting them: the argument is the index of the `Repeat`. */
  repeat: 4,
  /** These hold or not at a place in the text and take nothing. */
  textStart: 5,
  textEnd: 6,
  wordBoundary: 7,
  notWordBoundary: 8,
  /** The argument is the index of the look-ahead. */
  ahead: 9,
  notAhead: 10,
  match: 11,
} as const;

/** A class repeated `min` to `max` times (`max` may be Infinity), run by counting. */
export type Repeat = {
  readonly charClass: CharClass;
  readonly min: number;
  readonly max: number;
};

/** One automaton: the pattern's own, or that of one look-ahead, which reads the text backwards. */
export type Code = {
  readonly ops: Uint8Array;
  readonly args: Int32Array;
  /** One for each `repeat` instruction, which are numbered in order. */
  readonly repeats: readonly Repeat[];
  /** The ASCII characters that can be the first one taken. */
  readonly first: AsciiSet;
  /** There may be a match that takes no character at all. */
  readonly mayTakeNothing: boolean;
  /** A match can only begin at the start of the text. */
  readonly anchored: boolean;
};

/** A compiled pattern: immutable, shared by all calls, 1 to 3 KB for an ordinary one. */
export type RegexProgram = {
  /** Instructions, plus the room that counters and Unicode properties take; at most 12,000. */
  readonly size: number;
  /** Characters are code points (`u`), or else UTF-16 code units. */
  readonly unicode: boolean;
  readonly main: Code;
  /** A look-ahead within another comes before it. */
  readonly lookAheads: readonly Code[];
  readonly classes: readonly CharClass[];
  /** What the whole pattern comes to when it is plain. */
  readonly sequence: Sequence | null;
};
