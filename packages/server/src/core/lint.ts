import type { LintWarning } from "@relay/protocol";
import { isJsonObject, ownValue } from "./schema/json-object.ts";
import type { JsonObject } from "./schema/json-object.ts";
import { cutText, placeText } from "./schema/place.ts";
import { visitSubschemas } from "./subschemas.ts";
import type { ToolDefinition } from "./tool-shape.ts";

/** At most so many warnings are kept; one more then says how many there were besides. */
export const WARNINGS_MAX = 64;

const NAME_CHARS_MAX = 48;
const PATH_CODE_POINTS_MAX = 200;

type Keys = readonly (string | number)[];
/** Takes a warning; its place is given in parts, which are only joined if it is kept. */
type Warn = (message: string, ...place: readonly Keys[]) => void;

/**
 * Warns of what is valid and yet keeps some hosts from showing or calling a tool (SPEC 5). Paths are
 * cut at 200 code points.
 */
export function lintTools(tools: readonly ToolDefinition[]): readonly LintWarning[] {
  const warnings: LintWarning[] = [];
  let more = 0;
  const warn: Warn = (message, ...place) => {
    if (warnings.length === WARNINGS_MAX) more += 1;
    else warnings.push({ path: cutText(placeText(place.flat()), PATH_CODE_POINTS_MAX), message });
  };
  for (const [index, tool] of tools.entries()) lintTool(tool, ["tools", index], warn);
  if (more === 0) return warnings;
  return [...warnings, { path: "tools", message: `And ${more} more.` }];
}

function lintTool(tool: ToolDefinition, at: Keys, warn: Warn): void {
  lintTexts(tool, at, warn);
  lintAnnotations(tool, at, warn);
  const { inputSchema, outputSchema } = tool;
  if (isJsonObject(inputSchema)) {
    const place = [...at, "inputSchema"];
    lintTop(inputSchema, place, warn);
    lintSchema(inputSchema, place, warn, lintForModels);
  }
  if (isJsonObject(outputSchema)) lintSchema(outputSchema, [...at, "outputSchema"], warn);
}

function lintTexts(tool: ToolDefinition, at: Keys, warn: Warn): void {
  const name = [...at, "name"];
  if (tool.name.length > NAME_CHARS_MAX) {
    warn(
      `Over ${NAME_CHARS_MAX} characters: hosts put the connector's name before it, and some then hide the tool.`,
      name,
    );
  }
  if (/[./]/.test(tool.name)) {
    warn('Has "." or "/": some hosts take only letters, digits, "_" and "-".', name);
  }
  if ((tool.description ?? "").trim() === "") {
    warn("Missing: a model can't tell what the tool is for.", at, ["description"]);
  }
}

const HINTS = ["readOnlyHint", "destructiveHint", "openWorldHint"] as const;

function lintAnnotations(tool: ToolDefinition, at: Keys, warn: Warn): void {
  const missing = HINTS.filter((hint) => tool.annotations?.[hint] === undefined);
  if (missing.length === 0) return;
  warn(`Without ${missing.join(", ")}: some hosts want each one said.`, at, ["annotations"]);
}

function lintTop(schema: JsonObject, at: Keys, warn: Warn): void {
  for (const keyword of ["oneOf", "anyOf", "allOf"]) {
    if (!Object.hasOwn(schema, keyword)) continue;
    warn(
      "At the top of an inputSchema: a model API may refuse the whole conversation for it.",
      at,
      [keyword],
    );
  }
}

type LintPart = (part: JsonObject | boolean, holder: string, warn: Warn) => void;

/** Rules for either schema of a tool, and more of them for each of its parts. */
function lintSchema(schema: JsonObject, at: Keys, warn: Warn, lintPart?: LintPart): void {
  const dialect = ownValue(schema, "$schema");
  if (typeof dialect === "string" && !dialect.includes("/draft/2020-12/")) {
    warn("Not 2020-12, the only dialect that some hosts and model APIs take.", at, ["$schema"]);
  }
  const infinite = infinitePlace(ownValue(schema, "properties"));
  if (infinite !== null) {
    const message = "A number too large for a double: some hosts then hide every tool.";
    warn(message, at, ["properties"], infinite);
  }
  visitSubschemas(schema, (part, keys, holder) => {
    const warnHere: Warn = (message, ...place) => warn(message, at, keys, ...place);
    if (typeof part !== "boolean" && Array.isArray(ownValue(part, "items"))) {
      warnHere("A list of schemas is called prefixItems in 2020-12; some hosts refuse the tool.", [
        "items",
      ]);
    }
    lintPart?.(part, holder, warnHere);
  });
}

/** The keywords by one of which hosts learn what a property may be. */
const TYPED_BY = ["type", "$ref", "anyOf", "oneOf", "allOf"];

/** Rules for a part of an `inputSchema`, which hosts hand on to a model. */
function lintForModels(part: JsonObject | boolean, holder: string, warn: Warn): void {
  const typed = typeof part !== "boolean" && TYPED_BY.some((key) => Object.hasOwn(part, key));
  if (holder === "properties" && !typed) {
    warn("A property without a type: some hosts skip the tool.");
  }
  if (typeof part === "boolean") return;
  const type = ownValue(part, "type");
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  if (isArray && !Object.hasOwn(part, "items")) {
    warn("An array without items: some hosts refuse the tool.");
  }
  if (Object.hasOwn(part, "$dynamicRef")) {
    warn("Some hosts refuse a tool with it.", ["$dynamicRef"]);
  }
}

/** Finds the first number that was too large for a double, such as `1E400`. */
function infinitePlace(value: unknown): Keys | null {
  if (value === Infinity || value === -Infinity) return [];
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const inner = infinitePlace(value[index]);
      if (inner !== null) return [index, ...inner];
    }
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = infinitePlace(value[key]);
      if (inner !== null) return [key, ...inner];
    }
  }
  return null;
}
