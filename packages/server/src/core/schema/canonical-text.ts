import { isJsonObject } from "./json-object.ts";
import type { JsonObject } from "./json-object.ts";
import type { Steps } from "./steps.ts";

const DEPTH_MAX = 400;
const NODE_STEPS = 6;
const CHARS_PER_STEP = 8;

/**
 * Writes a JSON value so that equal values give equal texts: keys sorted, `-0` as `0`, `1.0` as `1`.
 * Returns null as soon as the text must be longer than `charsMax`, or the value is nested more than
 * 400 deep; throws `OutOfSteps`.
 */
export function canonicalText(value: unknown, steps: Steps, charsMax = Infinity): string | null {
  return writeValue(value, steps, charsMax, 0);
}

function writeValue(value: unknown, steps: Steps, room: number, depth: number): string | null {
  steps.spend(NODE_STEPS);
  if (depth > DEPTH_MAX) return null;
  if (typeof value === "string") return writeString(value, steps, room);
  if (Array.isArray(value)) return writeArray(value, steps, room, depth);
  if (isJsonObject(value)) return writeObject(value, steps, room, depth);
  return value === 0 ? "0" : String(value);
}

function writeString(value: string, steps: Steps, room: number): string | null {
  if (value.length + 2 > room) return null;
  steps.spend(Math.ceil(value.length / CHARS_PER_STEP));
  return JSON.stringify(value);
}

function writeArray(
  items: readonly unknown[],
  steps: Steps,
  room: number,
  depth: number,
): string | null {
  let text = "[";
  for (const item of items) {
    const part = writeValue(item, steps, room - text.length, depth + 1);
    if (part === null) return null;
    text += text === "[" ? part : `,${part}`;
    if (text.length >= room) return null;
  }
  return `${text}]`;
}

function writeObject(value: JsonObject, steps: Steps, room: number, depth: number): string | null {
  const keys = Object.keys(value);
  steps.spend(keys.length);
  if (keys.length * 4 > room) return null;
  steps.spend(sortSteps(keys));
  keys.sort();
  let text = "{";
  for (const key of keys) {
    const name = writeString(key, steps, room - text.length);
    if (name === null) return null;
    const part = writeValue(value[key], steps, room - text.length - name.length, depth + 1);
    if (part === null) return null;
    text += text === "{" ? `${name}:${part}` : `,${name}:${part}`;
    if (text.length >= room) return null;
  }
  return `${text}}`;
}

/** Comparisons of a sort, and the characters each may have to look at. */
function sortSteps(keys: readonly string[]): number {
  let chars = 0;
  for (const key of keys) chars += key.length;
  const rounds = Math.ceil(Math.log2(keys.length + 1));
  return rounds * (keys.length * 4 + Math.ceil(chars / CHARS_PER_STEP));
}
