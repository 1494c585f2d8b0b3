import type { Evaluated } from "./evaluated.ts";
import type { LogicRules, Reference, SchemaNode } from "./schema-node.ts";
import type { Visit } from "./visit.ts";

/** Checks the keywords for values of any kind, in the order in which Ajv reports them. */
export function checkLogic(
  visit: Visit,
  rules: LogicRules,
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  if (rules.dynamicRef !== null && !follow(visit, rules.dynamicRef, value, evaluated)) return false;
  if (rules.ref !== null && !follow(visit, rules.ref, value, evaluated)) return false;
  if (rules.constant !== null && !rules.constant.has(value, visit.steps)) {
    return visit.fail("must be equal to constant");
  }
  if (rules.enumeration !== null && !rules.enumeration.has(value, visit.steps)) {
    return visit.fail("must be equal to one of the allowed values");
  }
  if (rules.not !== null && visit.asks(rules.not, value, null)) {
    return visit.fail("must NOT be valid");
  }
  if (rules.anyOf !== null && !anyOf(visit, rules.anyOf, value, evaluated)) return false;
  if (rules.oneOf !== null && !oneOf(visit, rules.oneOf, value, evaluated)) return false;
  if (rules.allOf !== null && !allOf(visit, rules.allOf, value, evaluated)) return false;
  return rules.condition === null || conditional(visit, rules, rules.condition, value, evaluated);
}

function follow(
  visit: Visit,
  reference: Reference,
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  if (reference.inPlace) return visit.node(reference.target, value, evaluated);
  const outside = visit.inBranch;
  visit.inBranch = false;
  const passed = visit.node(targetOf(visit, reference), value, evaluated);
  visit.inBranch = outside;
  visit.ended = false;
  return passed;
}

/** A dynamic reference goes to the outermost resource on the way here that has the anchor. */
function targetOf(visit: Visit, reference: Reference): SchemaNode {
  if (reference.anchor === null) return reference.target;
  for (const scope of visit.scopes) {
    visit.steps.spend(2);
    const target = scope.anchors?.get(reference.anchor);
    if (target !== undefined) return target;
  }
  return reference.target;
}

function anyOf(
  visit: Visit,
  branches: readonly SchemaNode[],
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  const before = visit.faults.length;
  let passed = false;
  for (const branch of branches) {
    if (!inBranch(visit, branch, value, evaluated)) continue;
    passed = true;
    if (evaluated === null) break;
  }
  if (!passed) return visit.fail("must match a schema in anyOf");
  visit.forget(before);
  return true;
}

function oneOf(
  visit: Visit,
  branches: readonly SchemaNode[],
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  const before = visit.faults.length;
  let matches = 0;
  for (const branch of branches) {
    if (inBranch(visit, branch, value, evaluated)) matches += 1;
    if (matches > 1) break;
  }
  if (matches !== 1) return visit.fail("must match exactly one schema in oneOf");
  visit.forget(before);
  return true;
}

function inBranch(
  visit: Visit,
  branch: SchemaNode,
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  const outside = visit.inBranch;
  visit.inBranch = true;
  const mark = evaluated === null ? null : evaluated.mark();
  const passed = visit.node(branch, value, evaluated);
  if (!passed && evaluated !== null && mark !== null) evaluated.cutBack(mark);
  visit.inBranch = outside;
  return passed;
}

function allOf(
  visit: Visit,
  parts: readonly SchemaNode[],
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  for (const part of parts) if (!visit.node(part, value, evaluated)) return false;
  return true;
}

function conditional(
  visit: Visit,
  rules: LogicRules,
  condition: SchemaNode,
  value: unknown,
  evaluated: Evaluated | null,
): boolean {
  if (evaluated === null && rules.whenTrue === null && rules.whenFalse === null) return true;
  const mark = evaluated === null ? null : evaluated.mark();
  const held = visit.asks(condition, value, evaluated);
  if (!held && evaluated !== null && mark !== null) evaluated.cutBack(mark);
  // Without `then` and `else`, a condition still says what it evaluated.
  const consequence = held ? rules.whenTrue : rules.whenFalse;
  if (consequence === null || visit.node(consequence, value, evaluated)) return true;
  return !visit.ended && visit.fail(`must match "${held ? "then" : "else"}" schema`);
}
