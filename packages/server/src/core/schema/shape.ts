import type { JsonObject } from "./json-object.ts";
import { isJsonObject } from "./json-object.ts";
import type { NamedNode, SchemaNode } from "./schema-node.ts";
import type { Walk } from "./walk.ts";

/** Reads a keyword's value as a string. */
export function readString(walk: Walk, value: unknown): string {
  return typeof value === "string" ? value : walk.fail("must be a string");
}

/** Reads a keyword's value as a boolean. */
export function readBoolean(walk: Walk, value: unknown): boolean {
  return typeof value === "boolean" ? value : walk.fail("must be a boolean");
}

/** Reads a keyword's value as a number. */
export function readNumber(walk: Walk, value: unknown): number {
  return typeof value === "number" ? value : walk.fail("must be a number");
}

/** Reads a keyword's value as a count: an integer of 0 or more; `2.0` is one. */
export function readCount(walk: Walk, value: unknown): number {
  const isCount =
    typeof value === "number" && value >= 0 && (value % 1 === 0 || value === Infinity);
  return isCount ? value : walk.fail("must be a non-negative integer");
}

/** Reads a keyword's value as an array. */
export function readArray(walk: Walk, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : walk.fail("must be an array");
}

/** Reads a keyword's value as an object. */
export function readObject(walk: Walk, value: unknown): JsonObject {
  return isJsonObject(value) ? value : walk.fail("must be an object");
}

/** Reads a keyword's value as an array of different strings. */
export function readNames(
  walk: Walk,
  value: unknown,
  ...keys: readonly string[]
): readonly string[] {
  if (!Array.isArray(value)) return walk.fail("must be an array", ...keys);
  const names = new Set<string>();
  for (const [index, name] of value.entries()) {
    if (typeof name !== "string") return walk.fail("must be a string", ...keys, index);
    if (names.has(name)) return walk.fail("repeats an earlier entry", ...keys, index);
    names.add(name);
  }
  return [...names];
}

/** Reads a keyword's value as a list of at least one schema. */
export function readSchemas(walk: Walk, value: unknown): readonly SchemaNode[] {
  const list = readArray(walk, value);
  if (list.length === 0) walk.fail("must not be empty");
  return list.map((item, index) => walk.child(index, item));
}

/** Reads a keyword's value as a map from names to schemas. */
export function readSchemaMap(walk: Walk, value: unknown): readonly NamedNode[] {
  return Object.entries(readObject(walk, value)).map(([name, schema]) => ({
    name,
    node: walk.child(name, schema),
  }));
}
