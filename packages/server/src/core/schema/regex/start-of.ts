import { type AsciiSet, addCode, addSet } from "./ascii-set.ts";
import type { CharClass } from "./char-class.ts";
import { type Code, OP } from "./program.ts";

type Instructions = Pick<Code, "ops" | "args" | "repeats">;

/** Finds out where in a text an attempt is worth making at all. */
export function startOf(
  code: Instructions,
  classes: readonly CharClass[],
): Pick<Code, "first" | "mayTakeNothing" | "anchored"> {
  const { ops, args, repeats } = code;
  const first: AsciiSet = new Int32Array(4);
  let mayTakeNothing = false;
  for (const at of reach(code, true)) {
    const arg = args[at] ?? 0;
    switch (ops[at] ?? OP.match) {
      case OP.character:
        if (arg < 128) addCode(first, arg);
        break;
      case OP.charClass:
        addSet(first, classes[arg]?.ascii ?? first, false);
        break;
      case OP.repeat:
        addSet(first, repeats[arg]?.charClass.ascii ?? first, false);
        break;
      case OP.match:
        mayTakeNothing = true;
        break;
    }
  }
  const anchored =
    ops.includes(OP.textStart) && !reach(code, false).some((at) => TAKES_OR_MATCHES.has(ops[at]));
  return { first, mayTakeNothing, anchored };
}

const TAKES_OR_MATCHES: ReadonlySet<number | undefined> = new Set([
  OP.character,
  OP.charClass,
  OP.repeat,
  OP.match,
]);

/** Returns the instructions that can be reached before a character is taken. */
function reach({ ops, args, repeats }: Instructions, passesTextStart: boolean): readonly number[] {
  const reached = [0];
  const seen = new Uint8Array(ops.length);
  const visit = (at: number) => {
    if (seen[at] === 0) reached.push(at);
    seen[at] = 1;
  };
  // The list grows while it is walked.
  for (const at of reached) {
    switch (ops[at] ?? OP.match) {
      case OP.character:
      case OP.charClass:
      case OP.match:
        break;
      case OP.repeat:
        if (repeats[args[at] ?? 0]?.min === 0) visit(at + 1);
        break;
      case OP.jump:
        visit(at + (args[at] ?? 0));
        break;
      case OP.split:
        visit(at + 1);
        visit(at + (args[at] ?? 0));
        break;
      case OP.textStart:
        if (passesTextStart) visit(at + 1);
        break;
      default:
        visit(at + 1);
    }
  }
  return reached;
}
