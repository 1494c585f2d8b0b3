/**
 * The shapes that official MCP clients parse with, restated as data: `tool-shape.ts` and
 * `content-block.ts` are written in these words. Pure; never throws, whatever the JSON.
 */
import { isJsonObject, ownValue } from "./schema/json-object.ts";

/** What is wrong with a JSON value, and where inside it, as keys from its root. */
export type ShapeFault = {
  readonly path: readonly (string | number)[];
  readonly reason: string;
};

/** Finds the first thing wrong with a value; null when the value has the shape. */
export type Shape = (value: unknown) => ShapeFault | null;

/** Makes a shape out of one test and what to say when it fails: `must be a string`. */
export function rule(holds: (value: unknown) => boolean, reason: string): Shape {
  return (value) => (holds(value) ? null : { path: [], reason });
}

export const aString = rule((value) => typeof value === "string", "must be a string");
export const aBoolean = rule((value) => typeof value === "boolean", "must be a boolean");
/** `1E400` is JSON, but no client's number: it parses to infinity. */
export const aNumber = rule(Number.isFinite, "must be a number, and not an infinite one");
export const anObject = rule(isJsonObject, "must be an object");

/** One of a few strings: `must be "light" or "dark"`. */
export function oneOf(...texts: readonly string[]): Shape {
  const quoted = texts.map((text) => `"${text}"`);
  const last = quoted.pop() ?? "";
  const list = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
  return rule((value) => typeof value === "string" && texts.includes(value), `must be ${list}`);
}

/** An array whose items all have one shape. */
export function listOf(item: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return { path: [], reason: "must be an array" };
    for (const [index, entry] of value.entries()) {
      const fault = item(entry);
      if (fault !== null) return within(index, fault);
    }
    return null;
  };
}

/** An object with these fields; other fields may be there too, as clients ignore them. */
export function fields(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const needed = Object.entries(required);
  const allowed = Object.entries(optional);
  return (value) => {
    if (!isJsonObject(value)) return { path: [], reason: "must be an object" };
    for (const [key, shape] of needed) {
      const fault = shape(ownValue(value, key));
      if (fault !== null) return within(key, fault);
    }
    for (const [key, shape] of allowed) {
      if (!Object.hasOwn(value, key)) continue;
      const fault = shape(value[key]);
      if (fault !== null) return within(key, fault);
    }
    return null;
  };
}

function within(key: string | number, fault: ShapeFault): ShapeFault {
  return { path: [key, ...fault.path], reason: fault.reason };
}
