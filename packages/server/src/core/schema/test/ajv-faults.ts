import { isJsonObject } from "../json-object.ts";
import type { JsonObject } from "../json-object.ts";
import type { DialectName } from "./ajv-oracle.ts";

/** A known fault of Ajv, and the way around it: how to write the schema so that Ajv gets it right. */
export interface AjvFault {
  readonly name: string;
  readonly dialects: readonly DialectName[];
  /** True when the way around means the same, so that our verdict must stay what it was. */
  readonly keepsMeaning: boolean;
  /** Rewrites one sub-schema; null where the fault cannot show. */
  readonly around: (schema: JsonObject) => JsonObject | null;
}

/** Where Ajv 8.20 and the specifications part, as far as the random pairs meet it. */
export const AJV_FAULTS: readonly AjvFault[] = [
  {
    name: "draft-07: the siblings of $ref count, though the specification says to ignore them",
    dialects: ["draft-07"],
    keepsMeaning: true,
    around: (schema) => {
      const siblings = Object.keys(schema).filter((key) => !KEPT.includes(key));
      if (!Object.hasOwn(schema, "$ref") || siblings.length === 0) return null;
      return Object.fromEntries(Object.entries(schema).filter(([key]) => KEPT.includes(key)));
    },
  },
  {
    name: "$dynamicRef and $recursiveRef silence or are silenced by their siblings",
    dialects: ["2020-12", "2019-09"],
    keepsMeaning: true,
    around: ({ $dynamicRef, $recursiveRef, ...siblings }) => {
      const reference = $dynamicRef === undefined ? { $recursiveRef } : { $dynamicRef };
      if ($dynamicRef === undefined && $recursiveRef === undefined) return null;
      if (Object.keys(siblings).length === 0) return null;
      const parts = Array.isArray(siblings["allOf"]) ? siblings["allOf"] : [];
      return { ...siblings, allOf: [reference, ...parts] };
    },
  },
  {
    name: "a required property with the empty name counts as present",
    dialects: ["2020-12", "2019-09", "draft-07"],
    keepsMeaning: false,
    around: (schema) => {
      const { required, dependentRequired, dependencies, ...rest } = schema;
      const keywords = { required, dependentRequired, dependencies };
      if (!JSON.stringify(keywords).includes('""')) return null;
      return { ...rest, ...withoutEmptyNames(keywords) };
    },
  },
  {
    name: "contains evaluates all items or none for unevaluatedItems, never the ones it matched",
    dialects: ["2020-12", "2019-09"],
    keepsMeaning: false,
    around: ({ contains, ...rest }) => (contains === undefined ? null : rest),
  },
  {
    name: "contains passes on an empty array beside a tuple",
    dialects: ["2020-12", "2019-09", "draft-07"],
    keepsMeaning: true,
    around: ({ contains, minContains, maxContains, ...rest }) => {
      const isBesideTuple = Array.isArray(rest["items"]) || Array.isArray(rest["prefixItems"]);
      if (contains === undefined || !isBesideTuple) return null;
      const moved = Object.entries({ contains, minContains, maxContains });
      const own = Object.fromEntries(moved.filter(([, value]) => value !== undefined));
      const parts = Array.isArray(rest["allOf"]) ? rest["allOf"] : [];
      return { ...rest, allOf: [...parts, own] };
    },
  },
  {
    name: "a branch that failed counts for unevaluated…, an if alone does not, nested ones mix up",
    dialects: ["2020-12", "2019-09"],
    keepsMeaning: false,
    around: ({ unevaluatedItems, unevaluatedProperties, ...rest }) => {
      const isAsked = unevaluatedItems !== undefined || unevaluatedProperties !== undefined;
      return isAsked ? rest : null;
    },
  },
];

const KEPT = ["$schema", "$id", "$ref", "definitions"];

/** Applies a rewriting to every sub-schema, innermost first; null where none of them changes. */
export function rewrite(
  schema: JsonObject,
  around: (schema: JsonObject) => JsonObject | null,
): JsonObject | null {
  let changed = false;
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isJsonObject(value)) return value;
    const inner = Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, visit(item)]),
    );
    const outer = around(inner);
    if (outer !== null) changed = true;
    return outer ?? inner;
  };
  const rewritten = visit(schema);
  return changed && isJsonObject(rewritten) ? rewritten : null;
}

function withoutEmptyNames(keywords: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(keywords)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, dropEmpty(value)]),
  );
}

function dropEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((name) => name !== "");
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, names]) => [
      name,
      Array.isArray(names) ? names.filter((other) => other !== "") : names,
    ]),
  );
}
