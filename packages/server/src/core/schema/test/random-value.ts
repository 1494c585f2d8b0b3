import { isJsonObject } from "../json-object.ts";
import type { JsonObject } from "../json-object.ts";
import type { Random } from "./random.ts";

/** The property names that random schemas and values share, some of them awkward in a pointer. */
export const NAMES = ["a", "b", "c", "d1", "x/y", "~t", "", "é"] as const;

const STRINGS = ["", "a", "b", "ab", "abc", "c1", "12", "é", "😀", "😀a", "A"] as const;
const NUMBERS = [0, 1, 2, 3, 4, -1, -2, 0.5, 1.5, 0.25, 0.1, 0.3, 0.07, 10, 1e3, 1e15] as const;

export function randomString(random: Random): string {
  return random.pick(STRINGS);
}

export function randomNumber(random: Random): number {
  return random.pick(NUMBERS);
}

export function randomScalar(random: Random): unknown {
  switch (random.below(6)) {
    case 0:
    case 1:
      return randomString(random);
    case 2:
    case 3:
      return randomNumber(random);
    case 4:
      return random.chance(0.5);
    default:
      return null;
  }
}

/** Any JSON value, at most `depth` levels deep. */
export function randomValue(random: Random, depth: number): unknown {
  if (depth <= 0 || random.chance(0.45)) return randomScalar(random);
  if (random.chance(0.5)) return randomItems(random, depth);
  const names = random.some(NAMES, 3);
  return Object.fromEntries(names.map((name) => [name, randomValue(random, depth - 1)]));
}

/** A value that stands a good chance of fitting the schema, or of just missing it. */
export function fittingValue(
  random: Random,
  schema: unknown,
  root: JsonObject,
  depth = 4,
): unknown {
  if (!isJsonObject(schema) || depth <= 0 || random.chance(0.15)) return randomValue(random, 2);
  if (Object.hasOwn(schema, "const") && random.chance(0.7)) return schema["const"];
  const choices = schema["enum"];
  if (Array.isArray(choices) && random.chance(0.7)) return choices[random.below(choices.length)];
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const parts = schema[key];
    if (Array.isArray(parts) && random.chance(0.3)) {
      return fittingValue(random, parts[random.below(parts.length)], root, depth - 1);
    }
  }
  const kinds: unknown[] = [schema["type"]].flat();
  const kind = kinds[random.below(kinds.length)];
  switch (typeof kind === "string" ? kind : likelyKind(schema)) {
    case "string":
      return randomString(random);
    case "number":
      return randomNumber(random);
    case "integer":
      return Math.floor(randomNumber(random));
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "array":
      return fittingItems(random, schema, root, depth);
    case "object":
      return fittingObject(random, schema, root, depth);
    default:
      return randomValue(random, 2);
  }
}

function likelyKind(schema: JsonObject): string {
  const keys = Object.keys(schema);
  if (keys.some((key) => /propert|required|dependen/i.test(key))) return "object";
  if (keys.some((key) => /items|contains/i.test(key))) return "array";
  if (keys.some((key) => /length|pattern/i.test(key))) return "string";
  return keys.some((key) => /maximum|minimum|multipleOf/i.test(key)) ? "number" : "";
}

function fittingItems(
  random: Random,
  schema: JsonObject,
  root: JsonObject,
  depth: number,
): unknown {
  const prefix = [schema["prefixItems"], schema["items"]].find((list) => Array.isArray(list));
  return Array.from({ length: random.below(5) }, (_, index) => {
    const item: unknown = Array.isArray(prefix)
      ? (prefix[index] ?? schema["additionalItems"])
      : null;
    const chosen = random.chance(0.3) ? schema["contains"] : (item ?? schema["items"]);
    return fittingValue(random, chosen, root, depth - 1);
  });
}

function fittingObject(
  random: Random,
  schema: JsonObject,
  root: JsonObject,
  depth: number,
): unknown {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const value: JsonObject = {};
  for (const name of [...Object.keys(properties), ...required, ...random.some(NAMES, 1)]) {
    if (random.chance(0.75)) {
      value[String(name)] = fittingValue(random, properties[String(name)], root, depth - 1);
    }
  }
  return value;
}

function randomItems(random: Random, depth: number): unknown {
  return Array.from({ length: random.below(4) }, () => randomValue(random, depth - 1));
}
