import type { Random } from "../../test/random.ts";

/** What patterns are made of: the atoms and how a group may be repeated. */
export type PatternParts = {
  readonly atoms: readonly string[];
  readonly quantifiers: readonly string[];
  /** How deep repeats may nest: native RegExp takes minutes for three on a text of 13 characters. */
  readonly repeatsNested: number;
  /** Also makes what only parses without the `u` flag. */
  readonly annexB: boolean;
};

export const ATOMS: readonly string[] = [
  ..."a a b b c 1 _ - é ж Ж 😀 .".split(" "),
  " ",
  ..."\\d \\D \\w \\W \\s \\S \\p{L} \\P{L} \\p{Lu} \\p{sc=Cyrl} \\n \\x61 \\0 \\cA".split(" "),
  ..."[ab] [^ab] [a-c\\d] [^\\w😀] [\\s\\S] [\\p{Lu}\\d] [^\\P{Ll}] [^\\p{L}\\s] [] [^]".split(" "),
  ..."[\\b] [\\-a] [😀-😂] [\\ud800-\\udfff] \\u{1F600} \\ud83d \\ude00 \\ud83d\\ude00".split(" "),
];

export const QUANTIFIERS: readonly string[] =
  "* + ? *? +? ?? {0} {2} {5} {0,2} {1,3} {2,} {0,6} {5,7} {5,9}? {6,} {3,8} {1,20}".split(" ");

const ANNEX_B_ATOMS: readonly string[] =
  "\\@ \\- \\_ \\q \\c \\p \\k { } ] a{,2} \\1 \\8 \\12 \\u12 \\x1 [\\c_] [\\d-x] [\\12] [\\q]".split(
    " ",
  );

/** Makes a pattern with groups and look-aheads nested up to `depth` deep. */
export function randomPattern(random: Random, parts: PatternParts, depth: number): string {
  let source = alternative(random, parts, depth);
  while (random.chance(0.25)) source += `|${alternative(random, parts, depth)}`;
  return source;
}

function alternative(random: Random, parts: PatternParts, depth: number): string {
  let source = "";
  for (let left = random.below(4); left > 0; left--) source += term(random, parts, depth);
  return source;
}

function term(random: Random, parts: PatternParts, depth: number): string {
  const { annexB } = parts;
  if (random.chance(0.1)) return pick(random, ["^", "$", "\\b", "\\B"]);
  if (depth > 0 && random.chance(0.1)) {
    const ahead = `(${pick(random, ["?=", "?!"])}${randomPattern(random, parts, depth - 1)})`;
    return annexB && random.chance(0.25) ? ahead + pick(random, parts.quantifiers) : ahead;
  }
  const quantifier = random.chance(0.35) ? pick(random, parts.quantifiers) : "";
  if (depth > 0 && random.chance(0.3)) {
    const repeatsNested = parts.repeatsNested - (quantifier === "" ? 0 : 1);
    const kind = pick(random, ["?:", "", `?<n${random.below(1_000_000)}>`]);
    const group = `(${kind}${randomPattern(random, { ...parts, repeatsNested }, depth - 1)})`;
    return parts.repeatsNested > 0 ? group + quantifier : group;
  }
  const atom = pick(random, annexB && random.chance(0.3) ? ANNEX_B_ATOMS : parts.atoms);
  return parts.repeatsNested > 0 ? atom + quantifier : atom;
}

/** Returns one of the items; an empty text when there are none. */
export function pick(random: Random, items: readonly string[]): string {
  return items[random.below(items.length)] ?? "";
}
