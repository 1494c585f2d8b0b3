/** Instructions in the making: a list that grows, and copies stretches of itself fast. */
export class Draft {
  /** A look-ahead's code reads the text from its end, so what it takes is written in reverse. */
  readonly backwards: boolean;
  /** What the instructions add to the size of the program. */
  size = 0;
  #ops = new Uint8Array(32);
  #args = new Int32Array(32);
  #length = 0;

  constructor(backwards: boolean) {
    this.backwards = backwards;
  }

  get length(): number {
    return this.#length;
  }

  get ops(): Uint8Array {
    return this.#ops.subarray(0, this.#length);
  }

  get args(): Int32Array {
    return this.#args.subarray(0, this.#length);
  }

  /** Returns where the instruction is. */
  push(op: number, arg: number, size: number): number {
    this.#reserve(1);
    this.size += size;
    this.#ops[this.#length] = op;
    this.#args[this.#length] = arg;
    return this.#length++;
  }

  /** Appends a copy of the instructions from `start` up to `end`, which are of that size. */
  copy(start: number, end: number, size: number): void {
    this.#reserve(end - start);
    this.size += size;
    this.#ops.copyWithin(this.#length, start, end);
    this.#args.copyWithin(this.#length, start, end);
    this.#length += end - start;
  }

  /** Makes the jump at `at` lead to what will be written next. */
  landHere(at: number): void {
    this.#args[at] = this.#length - at;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#ops.length) return;
    const capacity = Math.max(needed, 2 * this.#ops.length);
    const ops = new Uint8Array(capacity);
    ops.set(this.#ops);
    this.#ops = ops;
    const args = new Int32Array(capacity);
    args.set(this.#args);
    this.#args = args;
  }
}
