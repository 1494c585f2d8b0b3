import {
  APP_NAME_CHARS_MAX,
  INSTRUCTIONS_CHARS_MAX,
  MANIFEST_BYTES_MAX,
  TOOLS_MAX,
  TOOL_DESCRIPTION_CHARS_MAX,
  TOOL_NAME_CHARS_MAX,
} from "@relay/protocol";
import type { AppInfo } from "@relay/protocol";
import { bytesOf } from "./bytes-of.ts";
import type { ToolDefinition } from "./tool.ts";

/** What a hello tells hosts about the app. */
export type Manifest = {
  readonly app: AppInfo;
  readonly instructions?: string | undefined;
  readonly tools: readonly ToolDefinition[];
};

/**
 * Finds the first rule of a hello that a manifest breaks, in the words Relay would use; "" when it
 * breaks none of these. Relay checks more (schemas, shapes) and says so in its `error` frame.
 */
export function manifestFault({ app, instructions, tools }: Manifest): string {
  const bytes = bytesOf([app, instructions, tools].map((part) => JSON.stringify(part)).join(""));
  if (bytes > MANIFEST_BYTES_MAX) {
    return `app, instructions and tools: at most ${MANIFEST_BYTES_MAX} bytes as JSON together, not ${bytes}`;
  }
  if (tools.length > TOOLS_MAX) return `tools: at most ${TOOLS_MAX} tools, not ${tools.length}`;
  for (const key of ["name", "version"] as const) {
    if (!app[key] || overLength("", app[key], APP_NAME_CHARS_MAX)) {
      return `app.${key} must be a string of 1 to ${APP_NAME_CHARS_MAX} characters`;
    }
  }
  const tooLong = overLength("instructions", instructions, INSTRUCTIONS_CHARS_MAX);
  if (tooLong) return tooLong;
  const names = tools.map(({ name }) => name);
  for (const [index, tool] of tools.entries()) {
    const fault = toolFault(tool);
    if (fault) return `tools[${index}].${fault}`;
    const first = names.indexOf(tool.name);
    if (first < index) return `tools[${index}].name is the name of tools[${first}] too`;
  }
  return "";
}

/** The same for one tool; what it returns goes on from the tool's place. */
export function toolFault({ name, description, ...schemas }: ToolDefinition): string {
  if (!/^[\w./-]+$/.test(name) || name.length > TOOL_NAME_CHARS_MAX) {
    return `name must be 1 to ${TOOL_NAME_CHARS_MAX} of the characters A-Z, a-z, 0-9, _, ., / and -`;
  }
  for (const field of ["inputSchema", "outputSchema"] as const) {
    if (schemas[field] && schemas[field]["type"] !== "object") {
      return `${field} is not a valid JSON Schema for MCP clients: type must be "object"`;
    }
  }
  return overLength("description", description, TOOL_DESCRIPTION_CHARS_MAX);
}

function overLength(field: string, text = "", charsMax: number): string {
  return Array.from(text).length > charsMax
    ? `${field} must be at most ${charsMax} characters`
    : "";
}
