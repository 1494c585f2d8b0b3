import { ByteCache } from "../core/byte-cache.ts";
import { Toolbox } from "../core/toolbox.ts";
import type { Manifest, Store } from "../store/store.ts";

/** A manifest with its tools at hand. */
export type OpenManifest = {
  readonly manifest: Manifest;
  readonly toolbox: Toolbox;
  /** An estimate of the memory both keep. */
  readonly bytes: number;
};

/** What the cache may hold, in estimated bytes. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The manifests in use, by content hash, shared by every link that sent the same one: a manifest
 * is judged once, and its schemas are prepared once. Bounded; the least recently used goes first.
 */
export class Manifests {
  readonly #store: Store;
  readonly #open = new ByteCache<OpenManifest>(CACHE_BYTES_MAX);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns a manifest that is at hand; null when it must be loaded. */
  peek(hash: string): OpenManifest | null {
    return this.#open.get(hash) ?? null;
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
    const open = { manifest, toolbox, bytes: bytesOf(manifest, toolbox) };
    this.#open.put(manifest.hash, open);
    return open;
  }
}

/** Texts are two bytes a character at worst; the toolbox says its own. */
function bytesOf({ toolsText, instructions }: Manifest, toolbox: Toolbox): number {
  return 2 * (toolsText.length + (instructions?.length ?? 0)) + toolbox.bytes;
}
