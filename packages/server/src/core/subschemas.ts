import { isJsonObject } from "./schema/json-object.ts";
import type { JsonObject } from "./schema/json-object.ts";

type Keys = readonly (string | number)[];
type Visit = (schema: JsonObject | boolean, keys: Keys, holder: string) => void;

/** The keywords that hold a schema or a list of them. */
const SCHEMAS: ReadonlySet<string> = words(
  "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not",
  "oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties",
);

/** The keywords that hold schemas by name. */
const MAPS: ReadonlySet<string> = words(
  "$defs definitions dependencies dependentSchemas patternProperties properties",
);

/**
 * Visits the sub-schemas of a schema that `prepareSchema` accepted: the root first, in the order of
 * the text. `keys` leads there from the root, and is only good during the visit; `holder` is the
 * keyword that the sub-schema stands under, "" for the root.
 */
export function visitSubschemas(schema: JsonObject, visit: Visit): void {
  step(schema, [], "", visit);
}

/** Its depth is bounded by that of the frame the schema came in. */
function step(value: unknown, keys: (string | number)[], holder: string, visit: Visit): void {
  if (typeof value === "boolean") visit(value, keys, holder);
  if (!isJsonObject(value)) return;
  visit(value, keys, holder);
  for (const keyword of Object.keys(value)) {
    const named = MAPS.has(keyword);
    if (!named && !SCHEMAS.has(keyword)) continue;
    const held = value[keyword];
    keys.push(keyword);
    if (Array.isArray(held)) {
      for (let index = 0; index < held.length; index += 1) {
        keys.push(index);
        step(held[index], keys, keyword, visit);
        keys.pop();
      }
    } else if (named && isJsonObject(held)) {
      for (const name of Object.keys(held)) {
        keys.push(name);
        step(held[name], keys, keyword, visit);
        keys.pop();
      }
    } else {
      step(held, keys, keyword, visit);
    }
    keys.pop();
  }
}

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}
