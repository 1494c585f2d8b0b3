import {
  MANIFEST_BYTES_MAX,
  TOOLS_MAX,
  TOOL_DESCRIPTION_CHARS_MAX,
  TOOL_NAME_CHARS_MAX,
} from "@relay/protocol";
import { bytesOf } from "../bytes-of.ts";
import { toolFault } from "../manifest-fault.ts";
import type { ToolDefinition } from "../tool.ts";

/** A tool of an MCP server as Relay can carry it. */
export type CarriedTool = {
  /** What the server calls it. */
  readonly serverName: string;
  readonly definition: ToolDefinition;
};

export type Carried = {
  readonly tools: readonly CarriedTool[];
  /** What was changed or left out, a sentence each. */
  readonly notes: readonly string[];
};

/** What `app` and the brackets around the tools may take, at most. */
const AROUND_BYTES = 1_024;

/**
 * Fits an MCP server's tools into what Relay carries: names are written in its alphabet, texts are
 * cut, and what can't be carried at all is left out. Every change is noted. Pure.
 */
export function carryTools(offered: readonly ToolDefinition[], instructions: string): Carried {
  const tools: CarriedTool[] = [];
  const notes: string[] = [];
  const taken = new Set<string>();
  let bytesLeft = MANIFEST_BYTES_MAX - AROUND_BYTES - bytesOf(JSON.stringify(instructions));
  for (const offer of offered) {
    const { name: serverName } = offer;
    const definition = fitTool(offer, taken, notes);
    const fault = toolFault(definition) || taskFault(definition);
    const bytes = bytesOf(JSON.stringify(definition)) + 1;
    if (fault) notes.push(`${serverName} is left out: ${fault}`);
    else if (tools.length === TOOLS_MAX) {
      notes.push(`${serverName} is left out: Relay carries at most ${TOOLS_MAX} tools`);
    } else if (bytes > bytesLeft) {
      notes.push(`${serverName} is left out: the tools together are too large for Relay`);
    } else {
      tools.push({ serverName, definition });
      taken.add(definition.name);
      bytesLeft -= bytes;
    }
  }
  return { tools, notes };
}

function fitTool(
  offer: ToolDefinition,
  taken: ReadonlySet<string>,
  notes: string[],
): ToolDefinition {
  const name = fitName(offer.name, taken);
  if (name !== offer.name) notes.push(`${offer.name} is called ${name} here`);
  const { description = "" } = offer;
  const cut = Array.from(description).slice(0, TOOL_DESCRIPTION_CHARS_MAX).join("");
  if (cut === description) return { ...offer, name };
  notes.push(`${offer.name}: its description is cut at ${TOOL_DESCRIPTION_CHARS_MAX} characters`);
  return { ...offer, name, description: cut };
}

/** The name in Relay's alphabet, at most 64 characters, with a number where it is taken. */
function fitName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replaceAll(/[^\w./-]/g, "_").slice(0, TOOL_NAME_CHARS_MAX) || "tool";
  let fitted = plain;
  for (let number = 2; taken.has(fitted); number += 1) {
    const suffix = `_${number}`;
    fitted = plain.slice(0, TOOL_NAME_CHARS_MAX - suffix.length) + suffix;
  }
  return fitted;
}

function taskFault({ execution }: ToolDefinition): string {
  return execution?.taskSupport === "required" ? "it runs as a task only, and Relay has none" : "";
}
