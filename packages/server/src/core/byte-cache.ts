/** What an entry costs beside its value. */
const ENTRY_BYTES = 200;

/** A value that knows about how much memory it keeps. */
type Sized = { readonly bytes: number };

/**
 * Values by a hash of the content they were made of, which the caller computes; shared by all
 * tenants, since each is a function of that content alone. Bounded by the estimated bytes of what is
 * kept; what was asked for least recently goes first.
 */
export class ByteCache<Value extends Sized> {
  readonly #bytesMax: number;
  // A Map keeps its order of insertion: the first entry is the one not asked for the longest.
  readonly #entries = new Map<string, Value>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The estimated bytes of what is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get(hash: string): Value | undefined {
    const value = this.#entries.get(hash);
    if (value === undefined) return undefined;
    this.#entries.delete(hash);
    this.#entries.set(hash, value);
    return value;
  }

  /** Keeps a value; one larger than the whole cache is not kept. */
  put(hash: string, value: Value): void {
    this.#drop(hash);
    if (cost(value) > this.#bytesMax) return;
    this.#entries.set(hash, value);
    this.#bytes += cost(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(hash: string): void {
    const value = this.#entries.get(hash);
    if (value === undefined) return;
    this.#entries.delete(hash);
    this.#bytes -= cost(value);
  }
}

function cost(value: Sized): number {
  return ENTRY_BYTES + value.bytes;
}
