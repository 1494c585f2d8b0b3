import { toolChanges } from "../core/tool-changes.ts";

/** Names of tools as JSON arrays, the way they are stored. */
export type ChangesText = {
  readonly added: string;
  readonly removed: string;
  readonly changed: string;
};

/** A manifest's hash, and its tools where they have to be read. */
export type ToolsOf = { readonly hash: string; readonly toolsText: () => string };

/**
 * How manifests differ from those before them. A new version of an app makes every link go from the
 * same manifest to the same other one, so the latest comparisons are kept. Bounded.
 */
export class ManifestChanges {
  readonly #max: number;
  readonly #known = new Map<string, ChangesText>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Compares a link's manifest with the one before, null for its first. */
  between(before: ToolsOf | null, after: ToolsOf): ChangesText {
    const pair = `${before?.hash ?? ""} ${after.hash}`;
    const known = this.#known.get(pair);
    if (known !== undefined) return known;
    const changes = toolChanges(before?.toolsText() ?? null, after.toolsText());
    const text = {
      added: JSON.stringify(changes.added),
      removed: JSON.stringify(changes.removed),
      changed: JSON.stringify(changes.changed),
    };
    if (this.#known.size >= this.#max) this.#known.clear();
    this.#known.set(pair, text);
    return text;
  }
}
