import type { Steps } from "../steps.ts";
import { type AsciiSet, addCode, hasCode } from "./ascii-set.ts";
import type { CharClass } from "./char-class.ts";
import { type Code, OP, type RegexProgram } from "./program.ts";
import { testSequence } from "./sequence.ts";
import { EMPTY, ThreadSets, UNKNOWN } from "./thread-sets.ts";
import { Visits } from "./visits.ts";
import { Windows } from "./windows.ts";

/** Learning sets of threads pays from about this many characters on. */
const LEARNING_STARTS_AT = 256;
/** What learning a transition costs, and on top for each thread of the set it leads to. */
const VISITS_PER_LESSON = 16;
const VISITS_PER_THREAD_LEARNT = 8;
/** What a visit of a repeat costs, its windows being work. */
const VISITS_PER_REPEAT = 3;
/** What setting up a scan costs, beside one for each instruction. */
const VISITS_PER_SCAN = 12;

/** The code "taken" at the end of a text. */
const NONE = -1;

/**
 * Tells whether the pattern matches anywhere in the text, as `RegExp.prototype.test` would.
 * Throws `OutOfSteps`.
 */
export function testPattern(program: RegexProgram, text: string, steps: Steps): boolean {
  const { sequence } = program;
  if (sequence !== null && text.length < LEARNING_STARTS_AT) {
    return testSequence(sequence, text, steps);
  }
  const run = new Run(program, text, steps);
  const found = new Scan(run, program.main).findMatch();
  run.settle();
  return found;
}

/** What the scans of one text by one program share. */
class Run extends Visits {
  readonly program: RegexProgram;
  readonly text: string;
  /** For each look-ahead that was asked for, the places in the text where it matches: bits. */
  readonly #places: (Uint32Array | undefined)[] = [];

  constructor(program: RegexProgram, text: string, steps: Steps) {
    super(steps);
    this.program = program;
    this.text = text;
  }

  isAhead(lookAhead: number, index: number): boolean {
    let places = this.#places[lookAhead];
    if (!places) {
      const code = this.program.lookAheads[lookAhead];
      places = this.#places[lookAhead] = code
        ? new Scan(this, code).findPlaces()
        : new Uint32Array();
    }
    return (((places[index >> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  }
}

/**
 * One pass of an automaton over a text, all its threads abreast (Thompson's way): at each place each
 * instruction is visited at most once, whatever the pattern, so the work is text × program. It tells
 * only whether there is a match, so threads need neither order nor memory.
 */
class Scan {
  readonly #run: Run;
  readonly #code: Code;
  /** Threads at the present place, by the instruction they are at; ~at when inside a repeat. */
  #threads: number[] = [];
  #threadCount = 0;
  /** Those that took the present character, for the next place. */
  #next: number[] = [];
  /** What is still to be visited at the present place. */
  readonly #stack: number[] = [];
  /** The time at which each instruction was last visited. */
  readonly #seen: number[];
  /** Goes up by one with each character. */
  #time = 0;
  readonly #windows: Windows[] = [];

  /** The number of the present set of threads, which then are not in `#threads`. */
  #set = UNKNOWN;
  #sets: ThreadSets | undefined;
  #learnsFrom = LEARNING_STARTS_AT;
  #pause = 1;
  /** What the present step came to depends on the character alone. */
  #pure = true;

  constructor(run: Run, code: Code) {
    this.#run = run;
    this.#code = code;
    const size = code.ops.length;
    this.#seen = Array<number>(size).fill(0);
    run.charge(VISITS_PER_SCAN + size);
  }

  /** Reads the text from its start until a match is found or none is possible. */
  findMatch(): boolean {
    const { text, program } = this.#run;
    const { anchored } = this.#code;
    for (let index = 0; ;) {
      const code = codeAt(text, index, program.unicode);
      const begins = anchored ? index === 0 : this.#canBeginWith(code);
      if (this.#advance(index, code, begins)) return true;
      if (code === NONE || (anchored && this.#isIdle())) return false;
      index += code > 0xffff ? 2 : 1;
    }
  }

  /** Reads the text from its end, with code written in reverse; notes where matches begin. */
  findPlaces(): Uint32Array {
    const { text, program } = this.#run;
    const places = new Uint32Array((text.length >> 5) + 1);
    for (let index = text.length; ;) {
      const code = codeBefore(text, index, program.unicode);
      if (this.#advance(index, code, this.#canBeginWith(code))) {
        places[index >> 5] = (places[index >> 5] ?? 0) | (1 << (index & 31));
      }
      if (code === NONE) return places;
      index -= code > 0xffff ? 2 : 1;
    }
  }

  #canBeginWith(code: number): boolean {
    if (this.#code.mayTakeNothing || code > 127) return true;
    return code !== NONE && hasCode(this.#code.first, code);
  }

  #isIdle(): boolean {
    return this.#set === UNKNOWN ? this.#threadCount === 0 : this.#set === EMPTY;
  }

  /**
   * Takes one character with all threads; `begins` lets a new one in before it. Returns whether one
   * of them had matched by then.
   */
  #advance(index: number, code: number, begins: boolean): boolean {
    this.#run.charge(1);
    this.#time++;
    const set = this.#set;
    if (set === UNKNOWN) {
      if (this.#threadCount === 0 && !begins) return false;
    } else {
      const transition = code === NONE ? UNKNOWN : (this.#sets?.transition(set, code) ?? UNKNOWN);
      if (transition !== UNKNOWN) {
        this.#set = transition >> 1;
        return (transition & 1) === 1;
      }
      this.#unpack(set);
    }
    const matched = this.#step(index, code, begins);
    if (this.#time >= this.#learnsFrom) this.#learn(set, code, matched);
    return matched;
  }

  #unpack(set: number): void {
    const threads = this.#sets?.threadsOf(set) ?? new Int32Array();
    for (let n = 0; n < threads.length; n++) this.#threads[n] = threads[n] ?? 0;
    this.#threadCount = threads.length;
    this.#set = UNKNOWN;
  }

  #learn(set: number, code: number, matched: boolean): void {
    if (!this.#pure) {
      this.#learnsFrom = this.#time + this.#pause;
      this.#pause *= 2;
      return;
    }
    this.#run.charge(VISITS_PER_LESSON + VISITS_PER_THREAD_LEARNT * this.#threadCount);
    const sets = (this.#sets ??= new ThreadSets());
    this.#set = sets.isFull
      ? UNKNOWN
      : sets.numberOf(Int32Array.from(this.#threads.slice(0, this.#threadCount)));
    if (this.#set === UNKNOWN) this.#learnsFrom = Infinity;
    else if (set !== UNKNOWN && code !== NONE)
      sets.learn(set, code, this.#set * 2 + (matched ? 1 : 0));
  }

  /** Visits all that the threads can reach without taking a character, and lets them take it. */
  #step(index: number, code: number, begins: boolean): boolean {
    const { ops, args, repeats } = this.#code;
    const { classes } = this.#run.program;
    const stack = this.#stack;
    const seen = this.#seen;
    const next = this.#next;
    const time = this.#time;
    let top = 0;
    let nextCount = 0;
    let visits = 0;
    let matched = false;
    this.#pure = true;
    for (let n = 0; n < this.#threadCount; n++) stack[top++] = this.#threads[n] ?? 0;
    if (begins) stack[top++] = 0;
    while (top > 0) {
      const thread = stack[--top] ?? 0;
      const at = thread < 0 ? ~thread : thread;
      if (thread >= 0) {
        if (seen[at] === time) continue;
        seen[at] = time;
      }
      visits++;
      const arg = args[at] ?? 0;
      switch (ops[at] ?? OP.match) {
        case OP.character:
          if (arg === code) next[nextCount++] = at + 1;
          break;
        case OP.charClass:
          if (this.#takes(classes[arg], code)) next[nextCount++] = at + 1;
          break;
        case OP.split:
          stack[top++] = at + 1;
          stack[top++] = at + arg;
          break;
        case OP.jump:
          stack[top++] = at + arg;
          break;
        case OP.repeat: {
          this.#pure = false;
          visits += VISITS_PER_REPEAT - 1;
          const repeat = repeats[arg];
          if (!repeat) break;
          const windows = (this.#windows[arg] ??= new Windows(repeat));
          if (windows.pass(time, thread >= 0)) stack[top++] = at + 1;
          if (windows.carry(time, this.#takes(repeat.charClass, code))) next[nextCount++] = ~at;
          break;
        }
        case OP.match:
          matched = true;
          break;
        default:
          if (this.#holds(ops[at] ?? 0, arg, index)) stack[top++] = at + 1;
      }
    }
    this.#run.charge(visits);
    this.#next = this.#threads;
    this.#threads = next;
    this.#threadCount = nextCount;
    return matched;
  }

  #takes(charClass: CharClass | undefined, code: number): boolean {
    if (charClass === undefined || code === NONE) return false;
    return charClass.has(code, this.#run);
  }

  #holds(op: number, arg: number, index: number): boolean {
    const { text } = this.#run;
    if (op === OP.textStart) return index === 0;
    if (op === OP.textEnd) return index === text.length;
    this.#pure = false;
    switch (op) {
      case OP.wordBoundary:
        return isWordUnit(text, index - 1) !== isWordUnit(text, index);
      case OP.notWordBoundary:
        return isWordUnit(text, index - 1) === isWordUnit(text, index);
      case OP.ahead:
        return this.#run.isAhead(arg, index);
      default:
        return !this.#run.isAhead(arg, index);
    }
  }
}

function codeAt(text: string, index: number, unicode: boolean): number {
  if (index >= text.length) return NONE;
  return unicode ? (text.codePointAt(index) ?? NONE) : text.charCodeAt(index);
}

function codeBefore(text: string, index: number, unicode: boolean): number {
  if (index === 0) return NONE;
  const unit = text.charCodeAt(index - 1);
  if (!unicode || index === 1 || (unit & 0xfc00) !== 0xdc00) return unit;
  const pair = text.codePointAt(index - 2) ?? NONE;
  return pair > 0xffff ? pair : unit;
}

function isWordUnit(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit < 128 && hasCode(WORD_UNITS, unit);
}

const WORD_UNITS: AsciiSet = new Int32Array(4);
for (const unit of "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz") {
  addCode(WORD_UNITS, unit.charCodeAt(0));
}
