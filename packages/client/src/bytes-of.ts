/** The size of `text` as UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
