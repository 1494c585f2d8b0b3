/** A source of whole numbers below a bound (mulberry32), so that a seed replays a run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }
}

export type JsonObject = { [key: string]: unknown };

/** Values that are now and then right, and mostly not. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  1e300,
  Infinity,
  "",
  "x",
  "object",
  "required",
  "user",
  "light",
  "aGk=",
  "a*",
  "2026-01-01T00:00:00Z",
  "text",
  "image",
  "resource",
  "#/$defs/a",
  "^a+$",
  String.raw`\@`,
  [],
  [null],
  ["a"],
  ["a", "a"],
  [{}],
  [true],
  {},
  { type: "object" },
  { a: true },
  { a: null },
  { type: "string" },
  { src: "s" },
];

/**
 * Spoils a JSON value in place a few times: a place in it is replaced, removed, or gets another
 * member with one of the `keys`. Returns the value, which may be another one.
 */
export function spoil(value: unknown, keys: readonly string[], random: Random): unknown {
  const holder = { value };
  for (let times = random.below(4); times > 0; times -= 1) {
    const places = placesIn(holder);
    const place = random.pick(places);
    const held = place.object[place.key];
    if (random.chance(20) && place.object !== holder) remove(place);
    else if (random.chance(50) && isJsonObject(held)) held[random.pick(keys)] = oddValue(random);
    else place.object[place.key] = oddValue(random);
  }
  return holder.value;
}

export function oddValue(random: Random): unknown {
  return structuredClone(random.pick(ODD_VALUES));
}

function remove({ object, key }: Place): void {
  if (Array.isArray(object)) object.splice(Number(key), 1);
  else delete object[key];
}

type Place = { readonly object: JsonObject; readonly key: string };

/** Every member of every object and array in a value; an array counts as an object of its indexes. */
function placesIn(value: unknown): readonly Place[] {
  const places: Place[] = [];
  const visit = (object: JsonObject): void => {
    for (const key of Object.keys(object)) {
      places.push({ object, key });
      const held = object[key];
      // An array's members are reached by index as an object's are by name.
      if (typeof held === "object" && held !== null) visit(held as JsonObject);
    }
  };
  if (isJsonObject(value)) visit(value);
  return places;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes JSON as `JSON.stringify` does, but for numbers that only text can hold: `1E400`. */
export function jsonText(value: unknown): string {
  if (value === Infinity) return "1E400";
  if (value === -Infinity) return "-1E400";
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).map(
    ([key, held]) => `${JSON.stringify(key)}:${jsonText(held)}`,
  );
  return `{${members.join(",")}}`;
}
