import { Toolbox } from "../core/toolbox.ts";
import type { Manifest, Store } from "../store/store.ts";

/** A manifest with its tools at hand. */
export type OpenManifest = { readonly manifest: Manifest; readonly toolbox: Toolbox };

/** What the cache may hold, in estimated bytes. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The manifests in use, by content hash, shared by every link that sent the same one: a manifest
 * is judged once, and its schemas are prepared once. Bounded; the least recently used goes first.
 */
export class Manifests {
  readonly #store: Store;
  readonly #open = new Map<string, OpenManifest>();
  #bytes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns a manifest that is at hand; null when it must be loaded. */
  peek(hash: string): OpenManifest | null {
    const open = this.#open.get(hash);
    if (open === undefined) return null;
    this.#open.delete(hash);
    this.#open.set(hash, open);
    return open;
  }

  /** Loads a stored manifest, which was judged when it came; null when the store has none. */
  async load(hash: string): Promise<OpenManifest | null> {
    const open = this.peek(hash);
    if (open !== null) return open;
    const manifest = await this.#store.getManifest(hash);
    return manifest === null ? null : this.keep(manifest, Toolbox.fromStored(manifest.toolsText));
  }

  /** Keeps a manifest at hand. */
  keep(manifest: Manifest, toolbox: Toolbox): OpenManifest {
    const known = this.peek(manifest.hash);
    if (known !== null) return known;
    const open = { manifest, toolbox };
    this.#open.set(manifest.hash, open);
    this.#bytes += costOf(open);
    for (const [hash, oldest] of this.#open) {
      if (this.#bytes <= CACHE_BYTES_MAX || hash === manifest.hash) break;
      this.#open.delete(hash);
      this.#bytes -= costOf(oldest);
    }
    return open;
  }
}

/** Texts are two bytes a character at worst; the toolbox says its own. */
function costOf({ manifest, toolbox }: OpenManifest): number {
  return 2 * (manifest.toolsText.length + (manifest.instructions?.length ?? 0)) + toolbox.bytes;
}
