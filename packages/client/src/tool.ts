import { RelayError } from "./relay-error.ts";
import { toolFault } from "./manifest-fault.ts";
import { isStandardSchema, issuesText } from "./standard-schema.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";
import type { JsonSchemaValue, ObjectSchema } from "./json-schema-value.ts";
import type { ContentBlock, ToolResult } from "./tool-result.ts";

/**
 * Defines a tool. `input` and `output` are schemas of a library with Standard Schema (zod, arktype,
 * valibot) or plain JSON Schema; the handler's types come from them. Throws a `RelayError` with the
 * code `INVALID_MANIFEST`, in Relay's own words, for what Relay would refuse.
 */
export function tool<
  const Input extends ToolSchema = { readonly type: "object" },
  const Output extends ToolSchema | undefined = undefined,
>(name: string, spec: ToolSpec<Input, Output>): Tool {
  const { input, output, run, ...described } = spec;
  const definition: ToolDefinition = {
    name,
    ...described,
    inputSchema: jsonSchemaOf(input ?? { type: "object" }, "input"),
    outputSchema: output && jsonSchemaOf(output, "output"),
  };
  const fault = toolFault(definition);
  if (fault) throw new RelayError("INVALID_MANIFEST", `tool ${name}: ${fault}`);
  return {
    definition,
    readArguments: checkerOf(input, `Invalid arguments for tool ${name}`),
    // `readArguments` makes the arguments what the schema says.
    run: run as Tool["run"],
    readResult: checkerOf(output, `Invalid result of tool ${name}`),
  };
}

/** A tool that is ready for `createRelay`. */
export type Tool = {
  /** The MCP tool definition, which hosts get unchanged. */
  readonly definition: ToolDefinition;
  /** Checks a call's arguments and fills in the schema's defaults; throws what to tell the model. */
  readonly readArguments: (args: unknown) => unknown;
  readonly run: (args: unknown, context: CallContext) => unknown;
  /** Checks a structured result; throws what to tell the model. */
  readonly readResult: (result: unknown) => unknown;
};

export type ToolSchema = StandardSchema | ObjectSchema;

export type ToolSpec<Input extends ToolSchema, Output extends ToolSchema | undefined> = {
  /** What the tool is for, for a model; at most 2,000 characters. */
  readonly description: string;
  /** A name for people. */
  readonly title?: string;
  readonly input?: Input;
  readonly output?: Output;
  /** What a host and `beforeRun` may know of the tool's effects before it runs. */
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly object[];
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Does the work; what it throws is told to the model as the call's error. */
  readonly run: (
    args: ArgumentsOf<Input>,
    context: CallContext,
  ) => ToolResult | Returned<Output> | Promise<ToolResult | Returned<Output>>;
};

export type ToolAnnotations = {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
};

export type ToolDefinition = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly object[];
  readonly execution?: { readonly taskSupport?: string };
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** What a running tool may know and say of its call. */
export type CallContext = {
  /** Aborts when the host cancels, the deadline passes or the connection is lost: stop then. */
  readonly signal: AbortSignal;
  /** When Relay stops waiting, in ms since the epoch by this device's clock. */
  readonly deadline: number;
  /** Tells the host how far the work is; values must grow. Ten a second at most go out. */
  readonly progress: (
    progress: number,
    more?: { readonly total?: number; readonly message?: string },
  ) => void;
};

type ArgumentsOf<Input> = Input extends StandardSchema
  ? SchemaOutput<Input>
  : JsonSchemaValue<Input>;

type Returned<Output> = Output extends StandardSchema
  ? SchemaInput<Output>
  : Output extends ObjectSchema
    ? JsonSchemaValue<Output>
    : readonly ContentBlock[] | object | string | number | boolean | null | void;

function jsonSchemaOf(schema: ToolSchema, side: "input" | "output"): ToolDefinition["inputSchema"] {
  if (!isStandardSchema(schema)) return schema;
  // Some libraries need an adapter for it, such as valibot's `toStandardJsonSchema`.
  const write = (schema["~standard"] as Partial<StandardSchema["~standard"]>).jsonSchema?.[side];
  if (!write) throw new RelayError("INVALID_MANIFEST", `${side} has no JSON Schema`);
  return write({ target: "draft-2020-12" });
}

/** Relay checks against JSON Schema only; refinements, defaults and transforms happen here. */
function checkerOf(schema: ToolSchema | undefined, complaint: string): Tool["readArguments"] {
  return async (value) => {
    if (!schema || !isStandardSchema(schema)) return value;
    const result = await schema["~standard"].validate(value);
    if (result.issues) throw new Error(`${complaint}: ${issuesText(result.issues)}`);
    return result.value;
  };
}
