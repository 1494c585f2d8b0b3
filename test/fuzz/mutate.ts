import type { Random } from "../sim/random.ts";

const STRINGS = [
  "",
  "a",
  "__proto__",
  "constructor",
  "toString",
  "Zürich \u{1F980}",
  "\ud800",
  "line\nbreak\r\n",
  "\u2028\u0000\u007f",
  "tools[0].name",
  "x".repeat(1_001),
] as const;

const NUMBERS = [0, -0, 1, -1, 0.5, 1e21, 2 ** 53, -(2 ** 31), Number.MAX_VALUE] as const;

/** Raw texts that no `JSON.stringify` writes. */
const RAW = [
  "1E400",
  "-0.0",
  "9007199254740993",
  '"\\ud800"',
  '"\\u0061\\ud83e\\udd80"',
  '{"a":1,"a":2}',
  '{"\\u0061":1,"a":2}',
  '{"__proto__":{"x":1}}',
  "[".repeat(200) + "]".repeat(200),
  "\ufeff{}",
  "NaN",
  "'a'",
  "",
] as const;

const BITS = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\u",
  "\u0000",
  "\n",
  "é",
  "\ud83e",
  "e9",
] as const;

/** A value of JSON, not deep. */
export function anyValue(random: Random, depth = 2): unknown {
  const kinds = { string: 3, number: 2, boolean: 1, null: 1, array: depth, object: depth };
  switch (random.weighted(kinds)) {
    case "string":
      return random.pick([...STRINGS]);
    case "number":
      return random.pick([...NUMBERS]);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from({ length: random.whole(0, 3) }, () => anyValue(random, depth - 1));
    case "object":
      return Object.fromEntries(
        Array.from({ length: random.whole(0, 3) }, () => [
          random.pick([...STRINGS]),
          anyValue(random, depth - 1),
        ]),
      );
  }
}

/** The same value with one member, somewhere, changed, taken out, renamed or added. */
export function changeValue(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = [...value];
    const at = random.whole(0, items.length);
    if (random.chance(0.2) || at === items.length)
      items.splice(at, random.whole(0, 1), anyValue(random));
    else items[at] = changeValue(items[at], random);
    return items;
  }
  if (typeof value !== "object" || value === null || random.chance(0.15)) return anyValue(random);
  const members = Object.entries(value);
  const at = random.whole(0, members.length);
  const member = members[at];
  if (member === undefined) members.push([random.pick([...STRINGS]), anyValue(random)]);
  else if (random.chance(0.15)) members.splice(at, 1);
  else if (random.chance(0.1)) members[at] = [`${member[0]} `, member[1]];
  else members[at] = [member[0], changeValue(member[1], random)];
  return Object.fromEntries(members);
}

/** Text that was JSON, damaged in up to three places. */
export function changeText(text: string, random: Random): string {
  let changed = text;
  for (let times = random.whole(1, 3); times > 0; times -= 1) {
    const at = random.whole(0, changed.length);
    const length = random.chance(0.7) ? random.whole(0, 2) : random.whole(0, changed.length);
    const put = random.weighted({ nothing: 2, bit: 4, raw: 2, copy: 1 });
    const piece = {
      nothing: () => "",
      bit: () => random.pick([...BITS]),
      raw: () => random.pick([...RAW]),
      copy: () => changed.slice(at, at + random.whole(1, 40)),
    }[put]();
    changed = changed.slice(0, at) + piece + changed.slice(at + length);
  }
  return changed;
}

/** One of the values, as JSON, as it is or changed in its values or in its text. */
export function anyText(valid: unknown, random: Random): string {
  let value = valid;
  for (let times = random.whole(0, 3); times > 0; times -= 1) value = changeValue(value, random);
  // A value of nothing at all has no text.
  const text = JSON.stringify(value ?? null, null, random.chance(0.2) ? 1 : 0);
  return random.chance(0.4) ? changeText(text, random) : text;
}
