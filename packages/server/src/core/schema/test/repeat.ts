/** Makes a list of so many items. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Makes an object of so many properties. */
export function record<Item>(
  count: number,
  make: (index: number) => readonly [string, Item],
): Record<string, Item> {
  return Object.fromEntries(times(count, make));
}

/** Wraps a value so many times. */
export function nest(depth: number, core: unknown, wrap: (inner: unknown) => unknown): unknown {
  let value = core;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}
