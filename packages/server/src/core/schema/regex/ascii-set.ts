/** A set of codes below 128: four words of 32 bits. */
export type AsciiSet = Int32Array;

/** Puts a code of 0 to 127 into the set. */
export function addCode(set: AsciiSet, code: number): void {
  set[code >> 5] = (set[code >> 5] ?? 0) | (1 << (code & 31));
}

/** Tells whether a code of 0 to 127 is in the set. */
export function hasCode(set: AsciiSet, code: number): boolean {
  return (((set[code >> 5] ?? 0) >>> (code & 31)) & 1) === 1;
}

/** Puts the members of `other` into the set, or those codes that `other` lacks. */
export function addSet(set: AsciiSet, other: AsciiSet, inverted: boolean): void {
  for (let word = 0; word < 4; word++) {
    const added = other[word] ?? 0;
    set[word] = (set[word] ?? 0) | (inverted ? ~added : added);
  }
}
