import { canonicalText } from "./schema/canonical-text.ts";
import { isJsonObject } from "./schema/json-object.ts";
import { Steps } from "./schema/steps.ts";
import { readJson } from "./json.ts";

/** Names of tools, in the order in which their manifests have them. */
export type ToolChanges = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
};

/**
 * Says how the tools of a manifest differ from those of the one before it, which is null for a
 * link's first. Tools are told apart by name and compared as JSON values: white space, the order of
 * keys and the order of tools are no change. Takes `tools` texts that a hello was accepted with.
 */
export function toolChanges(before: string | null, after: string): ToolChanges {
  const old = before === null ? new Map<string, string>() : toolTexts(before);
  const tools = toolTexts(after);
  const names = [...tools.keys()];
  return {
    added: names.filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !tools.has(name)),
    changed: names.filter((name) => old.has(name) && old.get(name) !== tools.get(name)),
  };
}

/** The tools by name, as texts that are equal for equal values. */
function toolTexts(toolsText: string): Map<string, string> {
  const texts = new Map<string, string>();
  const { value } = readJson(toolsText);
  for (const tool of Array.isArray(value) ? value : []) {
    if (!isJsonObject(tool) || typeof tool["name"] !== "string") continue;
    // Never null: JSON that was accepted is not nested so deep.
    texts.set(tool["name"], canonicalText(tool, new Steps(Infinity)) ?? "");
  }
  return texts;
}
