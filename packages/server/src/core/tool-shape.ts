import { RegExpValidator } from "@eslint-community/regexpp";
import { iconShape } from "./content-block.ts";
import { isJsonObject, ownValue } from "./schema/json-object.ts";
import type { JsonObject } from "./schema/json-object.ts";
import { aBoolean, aString, anObject, fields, listOf, oneOf } from "./json-shape.ts";
import type { ShapeFault } from "./json-shape.ts";
import { visitSubschemas } from "./subschemas.ts";

/** A tool of a hello, its fields of the types that MCP clients parse; of its schemas nothing is known. */
export type ToolDefinition = {
  readonly name: string;
  readonly description?: string;
  readonly annotations?: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  readonly execution?: { readonly taskSupport?: "required" | "optional" | "forbidden" };
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
};

export type ToolReading =
  | { readonly ok: true; readonly tool: ToolDefinition }
  | { readonly ok: false; readonly fault: ShapeFault };

/**
 * Reads a tool, restated from the official SDK's `ToolSchema` but for the schemas in it: clients parse
 * the list as a whole, so that one bad tool hides them all (SPEC 5). Fields it does not name pass.
 */
export function readTool(value: unknown): ToolReading {
  const fault = toolShape(value);
  // The shape has made sure of every field that the type names.
  return fault === null ? { ok: true, tool: value as ToolDefinition } : { ok: false, fault };
}

const toolShape = fields(
  { name: aString },
  {
    title: aString,
    description: aString,
    icons: listOf(iconShape),
    annotations: fields(
      {},
      {
        title: aString,
        readOnlyHint: aBoolean,
        destructiveHint: aBoolean,
        idempotentHint: aBoolean,
        openWorldHint: aBoolean,
      },
    ),
    execution: fields({}, { taskSupport: oneOf("required", "optional", "forbidden") }),
    _meta: anObject,
  },
);

/**
 * Finds what MCP clients ask of an `inputSchema` beyond JSON Schema before they show any tool: an
 * object at its root, and no boolean right under `properties`.
 */
export function inputSchemaFault(schema: unknown): ShapeFault | null {
  if (!isJsonObject(schema)) return { path: [], reason: "must be an object" };
  if (ownValue(schema, "type") !== "object") return { path: ["type"], reason: 'must be "object"' };
  const properties = ownValue(schema, "properties");
  if (!isJsonObject(properties)) return null;
  const wrong = Object.keys(properties).find((name) => !isJsonObject(properties[name]));
  if (wrong === undefined) return null;
  return { path: ["properties", wrong], reason: "must not be a boolean" };
}

/**
 * Finds the same of an `outputSchema`, and what the Ajv of the official SDK does not compile: a
 * client compiles every `outputSchema` when it lists the tools, and one that throws hides them all.
 * Both take a schema that `prepareSchema` accepted.
 */
export function outputSchemaFault(schema: unknown): ShapeFault | null {
  let fault = inputSchemaFault(schema);
  if (!isJsonObject(schema)) return fault;
  visitSubschemas(schema, (subschema, keys) => {
    if (fault !== null || typeof subschema === "boolean") return;
    for (const [keyword, compiles] of COMPILE_RULES) {
      if (!Object.hasOwn(subschema, keyword)) continue;
      const reason = compiles(subschema[keyword], subschema);
      if (reason !== null) {
        fault = { path: [...keys, keyword], reason };
        return;
      }
    }
  });
  return fault;
}

type CompileRule = (value: unknown, schema: JsonObject) => string | null;

/** What the SDK's Ajv throws at though it is valid, as far as schemas in use go. */
const COMPILE_RULES: ReadonlyMap<string, CompileRule> = new Map<string, CompileRule>([
  ["enum", (value) => (isEmptyList(value) ? "must not be empty" : null)],
  ["nullable", nullableFault],
  ["id", () => 'must be "$id"'],
  ["$ref", (value) => (isMetaSchema(value) ? "must not lead to a meta-schema" : null)],
  ["pattern", (value) => patternFault([value])],
  ["patternProperties", (value) => patternFault(Object.keys(value ?? {}))],
]);

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function nullableFault(value: unknown, schema: JsonObject): string | null {
  if (typeof value !== "boolean") return "must be a boolean";
  const type = ownValue(schema, "type");
  if (type === undefined) return "must stand beside a type";
  const nullType = type === "null" || (Array.isArray(type) && type.includes("null"));
  return value || !nullType ? null : 'must not be false beside the type "null"';
}

function isMetaSchema(reference: unknown): boolean {
  return typeof reference === "string" && /^https?:\/\/json-schema\.org\/draft/.test(reference);
}

/** Clients compile patterns with the flag `u`, under which `\@` is wrong. Reads them, runs nothing. */
function patternFault(sources: readonly unknown[]): string | null {
  const validator = new RegExpValidator();
  for (const source of sources) {
    if (typeof source !== "string") continue;
    try {
      validator.validatePattern(source, 0, source.length, { unicode: true });
    } catch {
      return "must be a pattern that is valid in Unicode mode";
    }
  }
  return null;
}
