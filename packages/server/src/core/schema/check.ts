/**
 * Judges strangers' JSON by strangers' schemas, in a process that serves everybody.
 *
 * The doors of this folder are `prepare.ts`, `check.ts` (this file), `cache.ts` and `steps.ts`. All
 * work on a value is paid for in steps, before or while it is done; all work on a schema is bounded by
 * its size. Nothing here may compile code, run a stranger's pattern on `RegExp`, fetch, or remember
 * anything from one call to the next, but for the official meta-schemas.
 */
import { faultsText } from "./fault.ts";
import type { PreparedSchema } from "./prepare.ts";
import { OutOfSteps } from "./steps.ts";
import type { Steps } from "./steps.ts";
import { Visit } from "./visit.ts";

const STEPS_PER_CHECK = 100_000;
const STEPS_PER_BYTE = 4;

/**
 * What is wrong with a value: it breaks the schema, with the text for the host, or it took more
 * steps or a deeper recursion than a check may.
 */
export type Complaint =
  | { readonly type: "invalid"; readonly text: string }
  | { readonly type: "too-complex" };

/**
 * Checks a JSON value against a prepared schema; null means that it fits. The text is the one of
 * Ajv's `errorsText` with `dataVar: name`, at most 5 errors and 500 code points. The answer depends
 * on the schema, the value and the budget only. Source: SPEC 8.
 */
export function checkValue(
  schema: PreparedSchema,
  value: unknown,
  steps: Steps,
  name: string,
): Complaint | null {
  try {
    // Most values fit, which one quick pass can tell. What is wrong with the others takes another.
    if (new Visit(steps, true).node(schema.root, value, null)) return null;
    return { type: "invalid", text: explain(schema, value, steps, name) };
  } catch (error) {
    if (error instanceof OutOfSteps) return { type: "too-complex" };
    throw error;
  }
}

function explain(schema: PreparedSchema, value: unknown, steps: Steps, name: string): string {
  const visit = new Visit(steps, false);
  if (visit.node(schema.root, value, null)) throw new Error("the two passes of a check disagree");
  return faultsText(visit.faults, name);
}

/** The budget of one check of a JSON text of so many UTF-8 bytes, in steps (SPEC 8). */
export function stepsFor(bytes: number): number {
  return STEPS_PER_CHECK + STEPS_PER_BYTE * bytes;
}

/** What of the steps used is charged to the link's bucket: those above the per-byte part (SPEC 8). */
export function chargeable(used: number, bytes: number): number {
  return Math.max(0, used - STEPS_PER_BYTE * bytes);
}
