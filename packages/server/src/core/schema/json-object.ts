/** An object as JSON.parse makes it. Only its own properties are data. */
export type JsonObject = Record<string, unknown>;

/** Says whether a JSON value is an object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a property of an object itself, never an inherited one; undefined when it is not there. */
export function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Says whether a JSON value is neither an array nor an object. */
export function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}
