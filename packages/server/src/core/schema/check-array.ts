import { checkUnique } from "./check-unique.ts";
import type { Evaluated } from "./evaluated.ts";
import { ANY, NEVER } from "./schema-node.ts";
import type { ArrayRules, SchemaNode } from "./schema-node.ts";
import type { Visit } from "./visit.ts";

/** Checks the keywords for arrays, in the order in which Ajv reports them. */
export function checkArray(
  visit: Visit,
  rules: ArrayRules | null,
  items: readonly unknown[],
  evaluated: Evaluated | null,
): boolean {
  if (rules === null) return true;
  if (items.length > rules.maxItems) {
    return visit.fail(`must NOT have more than ${rules.maxItems} items`);
  }
  if (items.length < rules.minItems) {
    return visit.fail(`must NOT have fewer than ${rules.minItems} items`);
  }
  if (rules.restFirst && !checkRest(visit, rules, items)) return false;
  if (!checkPrefix(visit, rules.prefix, items)) return false;
  if (!rules.restFirst && !checkRest(visit, rules, items)) return false;
  if (evaluated !== null) {
    evaluated.items = Math.max(evaluated.items, rules.prefix.length);
    if (rules.rest !== null) evaluated.allItems = true;
  }
  if (rules.contains !== null && !checkContains(visit, rules, rules.contains, items, evaluated)) {
    return false;
  }
  if (rules.unique && !checkUnique(visit, rules.scalarItems, items)) return false;
  if (rules.unevaluated === null || evaluated === null) return true;
  return checkUnevaluated(visit, rules.unevaluated, items, evaluated);
}

function checkPrefix(
  visit: Visit,
  prefix: readonly SchemaNode[],
  items: readonly unknown[],
): boolean {
  let index = 0;
  for (const node of prefix) {
    if (index >= items.length) break;
    if (!visit.child(node, index, items[index])) return false;
    index += 1;
  }
  return true;
}

function checkRest(visit: Visit, rules: ArrayRules, items: readonly unknown[]): boolean {
  const { rest, prefix } = rules;
  if (rest === null || rest === ANY) return true;
  // Ajv names the length where a tuple is closed, and the first item where there is no tuple.
  if (rest === NEVER && rules.tuple) {
    if (items.length <= prefix.length) return true;
    return visit.fail(`must NOT have more than ${prefix.length} items`);
  }
  for (let index = prefix.length; index < items.length; index += 1) {
    if (!visit.child(rest, index, items[index])) return false;
  }
  return true;
}

function checkContains(
  visit: Visit,
  rules: ArrayRules,
  node: SchemaNode,
  items: readonly unknown[],
  evaluated: Evaluated | null,
): boolean {
  const { minContains, maxContains } = rules;
  const collects = rules.containsEvaluates ? evaluated : null;
  if (minContains === 0 && maxContains === Infinity && collects === null) return true;
  const before = visit.faults.length;
  const outside = visit.inBranch;
  visit.inBranch = true;
  let matches = 0;
  for (const [index, item] of items.entries()) {
    if (!visit.child(node, index, item)) continue;
    matches += 1;
    if (collects !== null) collects.addIndex(index);
    else if (matches > maxContains) break;
    else if (matches >= minContains && maxContains === Infinity) break;
  }
  visit.inBranch = outside;
  const passed = matches >= minContains && matches <= maxContains;
  if (passed || !outside) visit.forget(before);
  return passed || visit.fail(containsText(rules));
}

function containsText({ minContains, maxContains }: ArrayRules): string {
  const most = maxContains === Infinity ? "" : ` and no more than ${maxContains}`;
  return `must contain at least ${minContains}${most} valid item(s)`;
}

function checkUnevaluated(
  visit: Visit,
  node: SchemaNode,
  items: readonly unknown[],
  evaluated: Evaluated,
): boolean {
  if (evaluated.allItems || node === ANY) return true;
  const done = evaluated.indexSet(visit.steps);
  for (let index = evaluated.items; index < items.length; index += 1) {
    visit.steps.spend(1);
    if (done.has(index)) continue;
    if (node === NEVER) return visit.fail(`must NOT have more than ${evaluated.items} items`);
    if (!visit.child(node, index, items[index])) return false;
  }
  return true;
}
