import { checkArray } from "./check-array.ts";
import { checkLogic } from "./check-logic.ts";
import { checkNumber } from "./check-number.ts";
import { checkObject } from "./check-object.ts";
import { checkString } from "./check-string.ts";
import { Evaluated } from "./evaluated.ts";
import { FAULTS_MAX } from "./fault.ts";
import type { Fault } from "./fault.ts";
import { isJsonObject } from "./json-object.ts";
import { testPattern } from "./regex/index.ts";
import { KIND, NEVER } from "./schema-node.ts";
import type { Pattern, Scope, SchemaNode } from "./schema-node.ts";
import { OutOfSteps } from "./steps.ts";
import type { Steps } from "./steps.ts";

const DEPTH_MAX = 400;
const NODE_STEPS = 5;
const FAULT_STEPS = 10;
const PATTERN_STEPS = 12;

/**
 * One run of a prepared schema over a value. It holds what the keywords share: the budget, the depth
 * and the faults found so far. Stops at the first keyword that fails, as Ajv does without
 * `allErrors`; branches of `anyOf` and the like each add their own fault.
 */
export class Visit {
  readonly steps: Steps;
  readonly faults: Fault[] = [];
  /** Above 0 the question is yes or no: no fault is written down, and order is of no account. */
  muted: number;
  /**
   * True inside a branch (`anyOf`, `oneOf`, `contains`, `propertyNames`). There Ajv keeps the
   * faults of a keyword's parts beside the keyword's own.
   */
  inBranch = false;
  /**
   * True after a fault that ends Ajv's function at once, so that the keywords around it in the same
   * function add none of their own.
   */
  ended = false;
  /** The resources with dynamic anchors entered so far, outermost first. */
  readonly scopes: Scope[] = [];
  #depth = 0;

  constructor(steps: Steps, muted: boolean) {
    this.steps = steps;
    this.muted = muted ? 1 : 0;
  }

  /**
   * Checks a value against one sub-schema. `outer` collects what was evaluated, or is null where
   * nobody asks. Throws `OutOfSteps`.
   */
  node(node: SchemaNode, value: unknown, outer: Evaluated | null): boolean {
    this.steps.spend(NODE_STEPS);
    const kind = kindOf(value);
    const rightKind = node.kinds === 0 || (node.kinds & kind) !== 0;
    if (!rightKind && (this.muted > 0 || !node.kindLate)) return this.#wrongKind(node, value);
    if (node.logic === null && rightKind) {
      if ((node.ruledKinds & kind) === 0) return true;
      if (typeof value === "string") return checkString(this, node.strings, value);
      if (typeof value === "number") return checkNumber(this, node.numbers, value);
    }
    if (this.#depth >= DEPTH_MAX) throw new OutOfSteps("the check is nested too deep");
    this.#depth += 1;
    const entered = this.#enterScope(node.scope);
    const own = (node.unevaluatedKinds & kind) !== 0;
    const evaluated = own ? new Evaluated() : outer;
    const passed =
      (node.logic === null || checkLogic(this, node.logic, value, evaluated)) &&
      (rightKind || kind < node.kinds || this.#wrongKind(node, value)) &&
      this.#rules(node, value, evaluated) &&
      (rightKind || this.#wrongKind(node, value));
    if (passed && own && outer !== null) outer.addAll(kind);
    if (entered) this.scopes.pop();
    this.#depth -= 1;
    return passed;
  }

  /** Checks a property or an item, one step further down the path. */
  child(node: SchemaNode, key: string | number, value: unknown): boolean {
    if (this.muted > 0) return this.node(node, value, null);
    const before = this.faults.length;
    if (this.node(node, value, null)) return true;
    for (const fault of this.faults.slice(before)) fault.keys.push(key);
    return false;
  }

  /** Asks yes or no, writing no fault down. */
  asks(node: SchemaNode, value: unknown, evaluated: Evaluated | null): boolean {
    const outside = this.inBranch;
    this.inBranch = true;
    this.muted += 1;
    const passed = this.node(node, value, evaluated);
    this.muted -= 1;
    this.inBranch = outside;
    return passed;
  }

  /** Says whether a pattern matches somewhere in a text. */
  matches(pattern: Pattern, text: string): boolean {
    this.steps.spend(PATTERN_STEPS);
    return testPattern(pattern.program, text, this.steps);
  }

  /** Writes a fault of the value at hand down; returns false for the caller to pass on. */
  fail(message: string): false {
    this.steps.spend(FAULT_STEPS);
    this.ended = !this.inBranch;
    const keeps = this.muted === 0 && this.faults.length < FAULTS_MAX;
    if (keeps) this.faults.push({ keys: [], message });
    return false;
  }

  /** Forgets the faults beyond the first `count`. */
  forget(count: number): void {
    if (this.faults.length > count) this.faults.length = count;
  }

  #wrongKind(node: SchemaNode, value: unknown): false {
    this.fail(node === NEVER ? "boolean schema is false" : `must be ${node.kindText}`);
    // In a branch, Ajv goes on to the keywords for any kind before it stops.
    if (node.logic !== null && !node.kindLate && this.inBranch && this.muted === 0) {
      checkLogic(this, node.logic, value, null);
    }
    return false;
  }

  #enterScope(scope: Scope): boolean {
    if (scope.anchors === null || scope === this.scopes.at(-1)) return false;
    this.scopes.push(scope);
    return true;
  }

  #rules(node: SchemaNode, value: unknown, evaluated: Evaluated | null): boolean {
    if (typeof value === "string") return checkString(this, node.strings, value);
    if (typeof value === "number") return checkNumber(this, node.numbers, value);
    if (Array.isArray(value)) return checkArray(this, node.arrays, value, evaluated);
    return !isJsonObject(value) || checkObject(this, node.objects, value, evaluated);
  }
}

function kindOf(value: unknown): number {
  // A chain, and not a switch: V8 compiles each of these tests to a few instructions.
  if (typeof value === "string") return KIND.string;
  if (typeof value === "number") {
    // JSON has no infinity: it is an integer with a large exponent.
    return Number.isInteger(value) || !Number.isFinite(value)
      ? KIND.number | KIND.integer
      : KIND.number;
  }
  if (typeof value === "boolean") return KIND.boolean;
  if (value === null) return KIND.null;
  return Array.isArray(value) ? KIND.array : KIND.object;
}
