import type { Evaluated } from "./evaluated.ts";
import type { JsonObject } from "./json-object.ts";
import { ANY, NEVER } from "./schema-node.ts";
import type { Dependents, ObjectRules, Property, SchemaNode } from "./schema-node.ts";
import type { Visit } from "./visit.ts";

const NO_KEYS: readonly string[] = [];
const NAME_STEPS = 2;
const CHARS_PER_STEP = 16;

/** Checks the keywords for objects, in the order in which Ajv reports them. */
export function checkObject(
  visit: Visit,
  rules: ObjectRules | null,
  value: JsonObject,
  evaluated: Evaluated | null,
): boolean {
  if (rules === null) return true;
  if (rules.isPlain && visit.muted > 0 && evaluated === null) return isFit(visit, rules, value);
  const keys = rules.readsNames ? Object.keys(value) : NO_KEYS;
  visit.steps.spend(NAME_STEPS * keys.length);
  return (
    checkSize(visit, rules, keys.length) &&
    checkRequired(visit, rules.required, value) &&
    (rules.propertyNames === null || checkNames(visit, rules.propertyNames, keys)) &&
    (rules.additional === null || checkAdditional(visit, rules, rules.additional, value, keys)) &&
    (rules.dependencies === null || checkDependents(visit, rules.dependencies, value, evaluated)) &&
    checkProperties(visit, rules, value, evaluated) &&
    checkPatterns(visit, rules, value, keys, evaluated) &&
    (rules.dependents === null || checkDependents(visit, rules.dependents, value, evaluated)) &&
    checkUnevaluated(visit, rules, value, keys, evaluated)
  );
}

/**
 * Says yes or no in one pass over the value's own names: what `checkObject` says of plain rules,
 * without its order.
 */
function isFit(visit: Visit, rules: ObjectRules, value: JsonObject): boolean {
  let names = 0;
  let required = 0;
  let next = 0;
  for (const name in value) {
    // V8 drops this test inside `for in`; it knows no such thing for Object.hasOwn.
    if (!Object.prototype.hasOwnProperty.call(value, name)) continue;
    names += 1;
    const property = findProperty(rules, name, next);
    if (property !== undefined) {
      next = property.index + 1;
      if (property.required) required += 1;
    }
    const node = property === undefined ? null : property.node;
    const applied = node === null ? rules.additional : node;
    if (applied !== null && !visit.node(applied, value[name], null)) return false;
  }
  visit.steps.spend(NAME_STEPS * (names + rules.required.length));
  return required === rules.required.length;
}

/** Most values name their properties in the order of the schema: the expected one is tried first. */
function findProperty(rules: ObjectRules, name: string, next: number): Property | undefined {
  const expected = rules.asked[next];
  if (expected !== undefined && expected.name === name) return expected;
  return rules.askedByName.get(name);
}

function checkSize(visit: Visit, rules: ObjectRules, size: number): boolean {
  if (size > rules.maxProperties) {
    return visit.fail(`must NOT have more than ${rules.maxProperties} properties`);
  }
  if (size < rules.minProperties) {
    return visit.fail(`must NOT have fewer than ${rules.minProperties} properties`);
  }
  return true;
}

function checkRequired(visit: Visit, required: readonly string[], value: JsonObject): boolean {
  visit.steps.spend(NAME_STEPS * required.length);
  for (const name of required) {
    if (!Object.hasOwn(value, name)) return visit.fail(`must have required property '${name}'`);
  }
  return true;
}

function checkNames(visit: Visit, node: SchemaNode, keys: readonly string[]): boolean {
  const outside = visit.inBranch;
  visit.inBranch = true;
  const passed = keys.every((key) => visit.node(node, key, null));
  visit.inBranch = outside;
  return passed || visit.fail("property name must be valid");
}

function checkAdditional(
  visit: Visit,
  rules: ObjectRules,
  node: SchemaNode,
  value: JsonObject,
  keys: readonly string[],
): boolean {
  if (node === ANY) return true;
  for (const key of keys) {
    const property = rules.askedByName.get(key);
    if (property !== undefined && property.node !== null) continue;
    if (matchesPattern(visit, rules, key)) continue;
    if (node === NEVER) return visit.fail("must NOT have additional properties");
    if (!visit.child(node, key, value[key])) return false;
  }
  return true;
}

function matchesPattern(visit: Visit, rules: ObjectRules, key: string): boolean {
  for (const { pattern } of rules.patterns) {
    if (visit.matches(pattern, key)) return true;
  }
  return false;
}

function checkDependents(
  visit: Visit,
  dependents: Dependents,
  value: JsonObject,
  evaluated: Evaluated | null,
): boolean {
  const { required, schemas } = dependents;
  visit.steps.spend(NAME_STEPS * (required.length + schemas.length));
  for (const { name, names } of required) {
    if (!Object.hasOwn(value, name)) continue;
    visit.steps.spend(NAME_STEPS * names.length);
    if (names.every((other) => Object.hasOwn(value, other))) continue;
    return visit.fail(dependentsText(visit, name, names));
  }
  for (const { name, node } of schemas) {
    if (Object.hasOwn(value, name) && !visit.node(node, value, evaluated)) return false;
  }
  return true;
}

function dependentsText(visit: Visit, name: string, names: readonly string[]): string {
  const list = names.join(", ");
  visit.steps.spend(Math.ceil(list.length / CHARS_PER_STEP));
  const noun = names.length === 1 ? "property" : "properties";
  return `must have ${noun} ${list} when property ${name} is present`;
}

function checkProperties(
  visit: Visit,
  rules: ObjectRules,
  value: JsonObject,
  evaluated: Evaluated | null,
): boolean {
  visit.steps.spend(NAME_STEPS * rules.properties.length);
  // With additionalProperties every name is evaluated: here, by a pattern, or as additional.
  const collects = rules.additional === null ? evaluated : null;
  if (rules.additional !== null && evaluated !== null) evaluated.allProperties = true;
  for (const { name, node } of rules.properties) {
    // Names such as `toString` are inherited; only the value's own properties count.
    if (!Object.hasOwn(value, name)) continue;
    if (collects !== null) collects.addProperty(name);
    if (!visit.child(node, name, value[name])) return false;
  }
  return true;
}

function checkPatterns(
  visit: Visit,
  rules: ObjectRules,
  value: JsonObject,
  keys: readonly string[],
  evaluated: Evaluated | null,
): boolean {
  const collects = rules.additional === null ? evaluated : null;
  for (const { pattern, node } of rules.patterns) {
    if (node === ANY && collects === null) continue;
    for (const key of keys) {
      if (!visit.matches(pattern, key)) continue;
      if (collects !== null) collects.addProperty(key);
      if (!visit.child(node, key, value[key])) return false;
    }
  }
  return true;
}

function checkUnevaluated(
  visit: Visit,
  rules: ObjectRules,
  value: JsonObject,
  keys: readonly string[],
  evaluated: Evaluated | null,
): boolean {
  const node = rules.unevaluated;
  if (node === null || node === ANY || evaluated === null || evaluated.allProperties) return true;
  const done = evaluated.propertySet(visit.steps);
  for (const key of keys) {
    if (done.has(key)) continue;
    if (node === NEVER) return visit.fail("must NOT have unevaluated properties");
    if (!visit.child(node, key, value[key])) return false;
  }
  return true;
}
