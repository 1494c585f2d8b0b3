import { isJsonObject, ownValue } from "./json-object.ts";
import type { JsonObject } from "./json-object.ts";
import { KIND } from "./schema-node.ts";
import type { ObjectRules, Property, SchemaNode } from "./schema-node.ts";

/**
 * Settles what depends on several keywords of a sub-schema once all are read. `namedKinds` are the
 * kinds of value, as `KIND` bits, that some keyword there is about.
 */
export function finishNode(node: SchemaNode, raw: JsonObject, namedKinds: number): void {
  const namesOneKind = node.kindText !== "" && !node.kindText.includes(",");
  node.kindLate = namesOneKind && (node.kinds & namedKinds) !== 0;
  if (node.strings !== null) node.ruledKinds |= KIND.string;
  if (node.numbers !== null) node.ruledKinds |= KIND.number;
  if (node.arrays !== null) {
    node.ruledKinds |= KIND.array;
    if (node.arrays.unevaluated !== null) node.unevaluatedKinds |= KIND.array;
    node.arrays.scalarItems = allowsScalarsOnly(ownValue(raw, "items"));
  }
  if (node.objects !== null) {
    node.ruledKinds |= KIND.object;
    if (node.objects.unevaluated !== null) node.unevaluatedKinds |= KIND.object;
    finishObjects(node.objects);
  }
}

function finishObjects(rules: ObjectRules): void {
  const required = new Set(rules.required);
  const asked: Property[] = rules.properties.map(({ name, node }, index) => ({
    name,
    index,
    node,
    required: required.delete(name),
  }));
  for (const name of required) {
    asked.push({ name, index: asked.length, node: null, required: true });
  }
  rules.asked = asked;
  rules.askedByName = new Map(asked.map((property) => [property.name, property]));
  const limitsSize = rules.minProperties > 0 || rules.maxProperties < Infinity;
  const readsOthers =
    limitsSize ||
    rules.propertyNames !== null ||
    rules.patterns.length > 0 ||
    rules.unevaluated !== null;
  rules.readsNames = readsOthers || rules.additional !== null;
  rules.isPlain = !readsOthers && rules.dependencies === null && rules.dependents === null;
}

function allowsScalarsOnly(items: unknown): boolean {
  if (!isJsonObject(items)) return false;
  const type = ownValue(items, "type");
  const types = Array.isArray(type) ? type : [type];
  return !types.some((name) => name === undefined || name === "object" || name === "array");
}

const NODE_BYTES = 150;
const RULES_BYTES = 160;
const ENTRY_BYTES = 190;

/** Estimates the memory that a node keeps, without its sub-schemas and patterns, in bytes. */
export function nodeBytes(node: SchemaNode): number {
  let bytes = NODE_BYTES;
  for (const rules of [node.logic, node.numbers, node.strings, node.arrays, node.objects]) {
    if (rules !== null) bytes += RULES_BYTES;
  }
  bytes += node.logic?.constant?.bytes ?? 0;
  bytes += node.logic?.enumeration?.bytes ?? 0;
  if (node.objects !== null) bytes += objectBytes(node.objects);
  return bytes;
}

function objectBytes(rules: ObjectRules): number {
  let bytes = 0;
  for (const { name } of rules.properties) bytes += ENTRY_BYTES + 2 * name.length;
  for (const name of rules.required) bytes += ENTRY_BYTES + 2 * name.length;
  for (const dependents of [rules.dependencies, rules.dependents]) {
    for (const { name, names } of dependents?.required ?? []) {
      bytes += ENTRY_BYTES + 2 * name.length;
      for (const other of names) bytes += 8 + 2 * other.length;
    }
    for (const { name } of dependents?.schemas ?? []) bytes += ENTRY_BYTES + 2 * name.length;
  }
  return bytes;
}
