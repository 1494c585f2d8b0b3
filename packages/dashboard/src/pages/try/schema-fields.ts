import type { JsonSchema } from "../../api/shapes.ts";

export type FieldKind = "text" | "number" | "whole number" | "boolean" | "list of text";

/** One property of an inputSchema that a plain form can ask for. */
export type SchemaField = {
  readonly name: string;
  readonly kind: FieldKind;
  readonly description: string | null;
  readonly required: boolean;
  readonly choices: readonly string[] | null;
};

/** What stands in the form, as typed; absent and empty are the same. */
export type Values = Readonly<Record<string, string>>;

const FIELDS_MAX = 24;
const SIMPLE = new Set(["type", "properties", "required", "additionalProperties", "description"]);
const KINDS: Readonly<Record<string, FieldKind>> = {
  string: "text",
  number: "number",
  integer: "whole number",
  boolean: "boolean",
};

/** The fields of a schema that a form can show whole; null where it can't, and JSON is better. */
export function fieldsOf(schema: JsonSchema): readonly SchemaField[] | null {
  const names = Object.keys(schema).filter((key) => !key.startsWith("$") && key !== "title");
  if (names.some((name) => !SIMPLE.has(name)) || "$ref" in schema) return null;
  const properties = Object.entries(objectOf(schema["properties"]));
  if (properties.length > FIELDS_MAX) return null;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = properties.map(([name, value]) =>
    fieldOf(name, objectOf(value), required.includes(name)),
  );
  const whole = fields.filter((field) => field !== null);
  return whole.length === fields.length ? whole : null;
}

function fieldOf(name: string, schema: JsonSchema, required: boolean): SchemaField | null {
  const description = typeof schema["description"] === "string" ? schema["description"] : null;
  const about = { name, description, required };
  const { type } = schema;
  if (Array.isArray(schema["enum"])) {
    const choices: readonly unknown[] = schema["enum"];
    const isText = choices.every((choice) => typeof choice === "string");
    return isText ? { ...about, kind: "text", choices: choices.map(String) } : null;
  }
  if (type === "array") {
    const items = objectOf(schema["items"]);
    const isText = items["type"] === "string" && items["enum"] === undefined;
    return isText ? { ...about, kind: "list of text", choices: null } : null;
  }
  const kind = typeof type === "string" ? KINDS[type] : undefined;
  return kind === undefined ? null : { ...about, kind, choices: null };
}

/**
 * The form as the JSON text of the arguments. Numbers go out as they were typed, so that none is
 * rounded on the way; what is empty is left out, but for texts that the tool requires.
 */
export function argumentsText(schema: JsonSchema, values: Values): string {
  const members = (fieldsOf(schema) ?? []).flatMap((field) => {
    const text = memberText(field, values[field.name] ?? "");
    return text === null ? [] : [`${JSON.stringify(field.name)}: ${text}`];
  });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function memberText({ kind, required, choices }: SchemaField, value: string): string | null {
  const isEmpty = value.trim() === "";
  switch (kind) {
    case "text":
      if (value === "" && (!required || choices !== null)) return null;
      return JSON.stringify(value);
    case "boolean":
      if (isEmpty) return required ? "false" : null;
      return value === "true" ? "true" : "false";
    case "list of text": {
      const lines = value.split("\n").filter((line) => line.trim() !== "");
      return lines.length === 0 && !required ? null : JSON.stringify(lines);
    }
    case "number":
    case "whole number":
      return isEmpty ? null : value.trim();
  }
}

/** Arguments to begin with in the JSON editor: every required property, empty. */
export function sketchOf(schema: JsonSchema): string {
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const properties = objectOf(schema["properties"]);
  const sketch = Object.fromEntries(
    required.map((name) => [name, emptyOf(objectOf(properties[name])["type"])]),
  );
  return JSON.stringify(sketch, null, 2);
}

function emptyOf(type: unknown): unknown {
  switch (type) {
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "";
  }
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
