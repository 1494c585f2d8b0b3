/** A seeded source of chance: the same seed draws the same numbers, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
    // Seeds that lie side by side must not begin alike.
    for (let turn = 0; turn < 4; turn += 1) this.next();
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the list; undefined where it is empty. */
  some<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.next() * items.length)];
  }

  /** One of the list, which holds at least one. */
  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** One of the names of `weights`, the heavier the likelier. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    // The record's own keys.
    const names = Object.keys(weights) as Name[];
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names.at(-1) ?? names[0] ?? fail();
  }

  /** A time in ms: most are short, some take seconds, few take minutes. */
  delay(): number {
    const kind = this.next();
    if (kind < 0.3) return 0;
    if (kind < 0.8) return this.whole(1, 50);
    if (kind < 0.97) return this.whole(50, 5_000);
    return this.whole(5_000, 120_000);
  }
}

function fail(): never {
  throw new Error("nothing to choose from");
}
