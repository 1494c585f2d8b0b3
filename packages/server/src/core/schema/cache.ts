import type { PreparedSchema } from "./prepare.ts";

const BYTES_MAX = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;

/**
 * Prepared schemas by a hash of their text, which the caller computes; shared by all tenants, since a
 * prepared schema is a function of the text alone. Bounded by the estimated bytes of what is kept
 * (32 MiB unless told); what was asked for least recently goes first.
 */
export class SchemaCache {
  readonly #bytesMax: number;
  // A Map keeps its order of insertion: the first entry is the one not asked for the longest.
  readonly #entries = new Map<string, PreparedSchema>();
  #bytes = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The estimated bytes of what is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get(hash: string): PreparedSchema | undefined {
    const schema = this.#entries.get(hash);
    if (schema === undefined) return undefined;
    this.#entries.delete(hash);
    this.#entries.set(hash, schema);
    return schema;
  }

  /** Keeps a schema; one larger than the whole cache is not kept. */
  put(hash: string, schema: PreparedSchema): void {
    this.#drop(hash);
    if (cost(schema) > this.#bytesMax) return;
    this.#entries.set(hash, schema);
    this.#bytes += cost(schema);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(hash: string): void {
    const schema = this.#entries.get(hash);
    if (schema === undefined) return;
    this.#entries.delete(hash);
    this.#bytes -= cost(schema);
  }
}

function cost(schema: PreparedSchema): number {
  return ENTRY_BYTES + schema.bytes;
}
