import { canonicalText } from "./canonical-text.ts";
import { isScalar } from "./json-object.ts";
import { OutOfSteps } from "./steps.ts";
import type { Steps } from "./steps.ts";
import type { Visit } from "./visit.ts";

const FEW = 8;
const SHORT = 64;
const ITEM_STEPS = 8;
const CHARS_PER_STEP = 16;
const LOOKALIKES = ["[", "{", '"'];

/**
 * Checks that no two items are equal, as JSON Schema compares, in work linear in their size. Which
 * pair the error names, and which way round, is Ajv's choice and hangs on what `items` allows.
 */
export function checkUnique(
  visit: Visit,
  scalarItems: boolean,
  items: readonly unknown[],
): boolean {
  if (items.length < 2 || (items.length <= FEW && areFewScalars(visit, items))) return true;
  const keys = items.map((item) => uniqueKey(item, visit.steps));
  if (new Set(keys).size === items.length) return true;
  const [one, other] = scalarItems ? twinsFromEnd(keys) : twinsFromStart(keys);
  return visit.fail(`must NOT have duplicate items (items ## ${other} and ${one} are identical)`);
}

/** Says that a few items are all short scalars and all different: no table is needed for that. */
function areFewScalars(visit: Visit, items: readonly unknown[]): boolean {
  visit.steps.spend(FEW * items.length);
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (!isScalar(item) || (typeof item === "string" && item.length > SHORT)) return false;
    for (let other = 0; other < index; other += 1) if (items[other] === item) return false;
  }
  return true;
}

/** A key that equal items share and others do not. Strings and canonical texts are kept apart. */
function uniqueKey(item: unknown, steps: Steps): unknown {
  steps.spend(ITEM_STEPS);
  if (!isScalar(item)) {
    const text = canonicalText(item, steps);
    if (text === null) throw new OutOfSteps("an item is nested too deep");
    steps.spend(Math.ceil(text.length / CHARS_PER_STEP));
    return text;
  }
  if (typeof item !== "string") return item;
  steps.spend(Math.ceil(item.length / CHARS_PER_STEP));
  // Canonical texts begin with a bracket or a brace: strings that do so are moved out of their way.
  return LOOKALIKES.includes(item.charAt(0)) ? `"${item}` : item;
}

/** The pair that Ajv names where items are scalars: the first met on the way from the end. */
function twinsFromEnd(keys: readonly unknown[]): readonly [number, number] {
  const seen = new Map<unknown, number>();
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const other = seen.get(keys[index]);
    if (other !== undefined) return [index, other];
    seen.set(keys[index], index);
  }
  return [0, 0];
}

/** The pair that Ajv names elsewhere: the last item with a twin before it, and the nearest twin. */
function twinsFromStart(keys: readonly unknown[]): readonly [number, number] {
  const seen = new Map<unknown, number>();
  let twins: readonly [number, number] = [0, 0];
  for (const [index, key] of keys.entries()) {
    const other = seen.get(key);
    if (other !== undefined) twins = [index, other];
    seen.set(key, index);
  }
  return twins;
}
