import type { Limits } from "@relay/protocol";
import { countCodePoints } from "@relay/protocol";
import { readHeaderParams } from "./header-params.ts";
import type { HeaderParam } from "./header-params.ts";
import { readJson } from "./json.ts";
import type { ShapeFault } from "./json-shape.ts";
import { placeText } from "./schema/place.ts";
import { PatternUse, prepareSchema } from "./schema/prepare.ts";
import type { PreparedSchema } from "./schema/prepare.ts";
import { inputSchemaFault, outputSchemaFault, readTool } from "./tool-shape.ts";
import type { ToolDefinition } from "./tool-shape.ts";

/** A tool as calls need it: what its arguments and results must fit. */
export type Tool = {
  readonly name: string;
  readonly input: PreparedSchema;
  readonly output: PreparedSchema | null;
  /** The parameters that hosts of MCP 2026-07-28 repeat in a header. */
  readonly headerParams: readonly HeaderParam[];
};

/** The tools of a hello, or the first broken rule with its place. */
export type JudgedTools =
  | {
      readonly ok: true;
      readonly toolbox: Toolbox;
      readonly definitions: readonly ToolDefinition[];
    }
  | Refusal;

type Refusal = { readonly ok: false; readonly message: string };
type ToolLimits = Pick<Limits, "toolDescriptionChars" | "toolNameChars">;

/** The tools of one manifest by name, ready for calls; shared by every link that sent it. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, Tool>;
  /** An estimate of the memory it keeps. */
  readonly bytes: number;

  private constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.bytes = tools.reduce((sum, tool) => sum + bytesOf(tool), 0);
  }

  /** Judges the tools of a hello by the rules of SPEC 5. */
  static judge(values: readonly unknown[], limits: ToolLimits): JudgedTools {
    const tools: Tool[] = [];
    const definitions: ToolDefinition[] = [];
    const names = new Map<string, number>();
    const use = new PatternUse();
    for (const [index, value] of values.entries()) {
      const reading = readTool(value);
      if (!reading.ok) return refuse(faultText(index, reading.fault));
      const wrong = toolFault(reading.tool, names, limits);
      if (wrong !== null) return refuse(faultText(index, wrong));
      names.set(reading.tool.name, index);
      const prepared = prepareTool(reading.tool, use);
      if (!prepared.ok) return refuse(`tools[${index}].${prepared.message}`);
      tools.push(prepared.tool);
      definitions.push(reading.tool);
    }
    return { ok: true, toolbox: new Toolbox(tools), definitions };
  }

  /**
   * Prepares the tools of a manifest that was judged when it came. One that this Relay would refuse
   * today, because a rule is new, is left out: calls of it find no tool until the app's next hello.
   */
  static fromStored(toolsText: string): Toolbox {
    const use = new PatternUse();
    const tools: Tool[] = [];
    // Written by `admitManifest`: an array of tools.
    for (const value of readJson(toolsText).value as readonly unknown[]) {
      const reading = readTool(value);
      const prepared = reading.ok ? prepareTool(reading.tool, use) : reading;
      if (prepared.ok) tools.push(prepared.tool);
    }
    return new Toolbox(tools);
  }

  get size(): number {
    return this.#tools.size;
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }
}

const NAME = /^[A-Za-z0-9_./-]+$/;

function toolFault(
  tool: ToolDefinition,
  names: ReadonlyMap<string, number>,
  limits: ToolLimits,
): ShapeFault | null {
  const { name, description = "" } = tool;
  if (!NAME.test(name) || name.length > limits.toolNameChars) {
    const reason = `must be 1 to ${limits.toolNameChars} of the characters A-Z, a-z, 0-9, _, ., / and -`;
    return { path: ["name"], reason };
  }
  const earlier = names.get(name);
  if (earlier !== undefined) {
    return { path: ["name"], reason: `is the name of tools[${earlier}] too` };
  }
  const charsMax = limits.toolDescriptionChars;
  if (countCodePoints(description, charsMax) > charsMax) {
    return { path: ["description"], reason: `must be at most ${charsMax} characters` };
  }
  if (tool.execution?.taskSupport !== "required") return null;
  return {
    path: ["execution", "taskSupport"],
    reason: 'must not be "required": Relay has no tasks, so no host could call the tool',
  };
}

/** Prepares both schemas of a tool; a refusal's message goes on from the tool's place. */
function prepareTool(
  tool: ToolDefinition,
  use: PatternUse,
): { readonly ok: true; readonly tool: Tool } | Refusal {
  const input = prepare("inputSchema", tool.inputSchema, use, inputSchemaFault);
  if (!input.ok) return input;
  const headers = readHeaderParams(tool.inputSchema);
  if (!headers.ok) return refuse(`${goOn("inputSchema", headers.path)} ${headers.reason}`);
  const { name, outputSchema } = tool;
  const done = { name, input: input.schema, headerParams: headers.params };
  if (outputSchema === undefined) return { ok: true, tool: { ...done, output: null } };
  const output = prepare("outputSchema", outputSchema, use, outputSchemaFault);
  if (!output.ok) return output;
  return { ok: true, tool: { ...done, output: output.schema } };
}

function prepare(
  field: string,
  schema: unknown,
  use: PatternUse,
  clientFault: (schema: unknown) => ShapeFault | null,
): { readonly ok: true; readonly schema: PreparedSchema } | Refusal {
  const prepared = prepareSchema(schema, use);
  if (!prepared.ok) {
    const { path, reason } = prepared;
    // What Relay does not support may well be valid.
    if (reason.includes("support")) return refuse(`${goOn(field, path)} ${reason}`);
    return refuse(`${field} is not a valid JSON Schema: ${path || "it"} ${reason}`);
  }
  const fault = clientFault(schema);
  if (fault === null) return prepared;
  const place = placeText(fault.path) || "it";
  return refuse(`${field} is not a valid JSON Schema for MCP clients: ${place} ${fault.reason}`);
}

const TOOL_BYTES = 300;
const HEADER_PARAM_BYTES = 300;

function bytesOf(tool: Tool): number {
  return (
    TOOL_BYTES +
    tool.input.bytes +
    (tool.output?.bytes ?? 0) +
    HEADER_PARAM_BYTES * tool.headerParams.length
  );
}

function faultText(index: number, fault: ShapeFault): string {
  return `${placeText(["tools", index, ...fault.path])} ${fault.reason}`;
}

/** Joins a field with the path inside it: `inputSchema.properties.code`, `inputSchema["a b"]`. */
function goOn(field: string, path: string): string {
  return path === "" || path.startsWith("[") ? `${field}${path}` : `${field}.${path}`;
}

function refuse(message: string): Refusal {
  return { ok: false, message };
}
