/** The number of no set, and of no transition. */
export const UNKNOWN = -1;
/** The number of the set without threads. */
export const EMPTY = 0;

const SETS_MAX = 64;
/** In all sets together. */
const THREADS_MAX = 8_192;
const TRANSITIONS_MAX = 4_096;

/**
 * What one scan has learnt: which sets of threads it came by, and which set follows which by which
 * character. Where that is known no instruction needs visiting. This is a deterministic automaton,
 * built on the way and thrown away with the scan.
 */
export class ThreadSets {
  readonly #sets: Int32Array[] = [new Int32Array(0)];
  readonly #numbers = new Map<string, number>([["", EMPTY]]);
  #threadCount = 0;
  #transitionCount = 0;
  /** By set and ASCII character: one more than the transition. */
  readonly #ascii: Uint16Array[] = [new Uint16Array(128)];
  /** By character and set. */
  readonly #wide = new Map<number, number>();

  get isFull(): boolean {
    return this.#transitionCount >= TRANSITIONS_MAX;
  }

  /** Returns the number of a set, however it is ordered; UNKNOWN when there is no room for it. */
  numberOf(threads: Int32Array): number {
    const set = threads.length > 1 ? threads.toSorted() : threads.slice();
    const name = set.join();
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    if (this.#sets.length === SETS_MAX || this.#threadCount + set.length > THREADS_MAX) {
      return UNKNOWN;
    }
    this.#threadCount += set.length;
    this.#numbers.set(name, this.#sets.length);
    this.#ascii.push(new Uint16Array(128));
    return this.#sets.push(set) - 1;
  }

  threadsOf(set: number): Int32Array {
    return this.#sets[set] ?? new Int32Array(0);
  }

  /** Returns 2 × the next set, plus one if a match ended before the character; or UNKNOWN. */
  transition(set: number, code: number): number {
    if (code < 128) return (this.#ascii[set]?.[code] ?? 0) - 1;
    return this.#wide.get(code * SETS_MAX + set) ?? UNKNOWN;
  }

  learn(set: number, code: number, transition: number): void {
    this.#transitionCount++;
    const ascii = code < 128 ? this.#ascii[set] : undefined;
    if (ascii) ascii[code] = transition + 1;
    else this.#wide.set(code * SETS_MAX + set, transition);
  }
}
