/**
 * Strangers' JSON, read once: a value to decide by, and the places of the raw texts that travel on
 * as they were written (SPEC 8). Pure.
 */

/** How deep arrays and objects may nest, counted from the root of a frame or body. */
export const JSON_DEPTH_MAX = 128;

/** Where a value stands in its text: from `start` up to but not including `end`. */
export type Span = { readonly start: number; readonly end: number };

export type JsonFault = {
  readonly kind: "syntax" | "too_deep" | "repeated_key";
  readonly message: string;
};

export type JsonReading =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  /** `value` is what the text says all the same, undefined where it is no JSON at all. */
  | { readonly ok: false; readonly fault: JsonFault; readonly value: unknown };

/**
 * Parses `text` and refuses what is not JSON, nests deeper than `JSON_DEPTH_MAX`, or repeats a key
 * in one object. Never throws.
 */
export function readJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("syntax", "not valid JSON", undefined);
  }
  const shape = measure(text);
  if (shape.depth > JSON_DEPTH_MAX) {
    return refuse("too_deep", `JSON is nested deeper than ${JSON_DEPTH_MAX} levels`, value);
  }
  if (shape.hasEscapedKey) value = readAnew(text);
  // A key that stands in the text and not in the value was overwritten by a later one like it.
  if (shape.keys !== countKeys(value)) {
    return refuse("repeated_key", "JSON must not repeat a key in one object", value);
  }
  return { ok: true, value, text };
}

/**
 * Finds the members of the object that starts at `from` in text that `readJson` accepted. The last
 * member of a name wins, as it does in the value. Returns an empty map where no object starts.
 */
export function memberSpans(text: string, from = 0): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>();
  let at = skipSpace(text, from);
  if (text.charCodeAt(at) !== OPEN_BRACE) return spans;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at);
    const rawKey = text.slice(at, keyEnd);
    const key = rawKey.includes("\\") ? String(JSON.parse(rawKey)) : rawKey.slice(1, -1);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    spans.set(key, { start, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return spans;
}

/** Cuts a span out of its text, on one line: CR and LF can only stand between tokens. */
export function rawSlice(text: string, span: Span): string {
  const slice = text.slice(span.start, span.end);
  return slice.includes("\n") || slice.includes("\r") ? slice.replaceAll(/[\r\n]/g, " ") : slice;
}

/** Counts the bytes of `text` as UTF-8 (a lone surrogate counts as the three of U+FFFD). */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 2;
      at += 1;
    } else {
      bytes += 2;
    }
  }
  return bytes;
}

/** Tells whether raw JSON text escapes half a surrogate pair on its own (`"\ud800"`). */
export function hasLoneSurrogate(raw: string): boolean {
  return raw.includes("\\u") && replaceLoneSurrogates(raw) !== raw;
}

/**
 * Writes `\ufffd` for every escape of half a surrogate pair on its own: one of them in a result
 * makes a host's model API refuse the whole conversation (SPEC 8).
 */
export function replaceLoneSurrogates(raw: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(raw)) return raw;
  let out = "";
  let copied = 0;
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", at)) {
    const unit = escapedUnit(raw, at);
    if (unit === null) {
      at += 2;
      continue;
    }
    const next = isHighSurrogate(unit) ? escapedUnit(raw, at + 6) : null;
    if (next !== null && isLowSurrogate(next)) {
      at += 12;
      continue;
    }
    if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
      out += `${raw.slice(copied, at)}\\ufffd`;
      copied = at + 6;
    }
    at += 6;
  }
  return out + raw.slice(copied);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function refuse(kind: JsonFault["kind"], message: string, value: unknown): JsonReading {
  return { ok: false, fault: { kind, message }, value };
}

/** One pass over the text, right for valid JSON; what it says of other text is never used. */
function measure(text: string): { depth: number; keys: number; hasEscapedKey: boolean } {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  let escape = text.indexOf("\\");
  let hasEscapedKey = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (escape !== -1 && escape < end) {
          hasEscapedKey ||= text.charCodeAt(skipSpace(text, end)) === COLON;
          escape = text.indexOf("\\", end);
        }
        at = end - 1;
        break;
      }
      case COLON:
        keys += 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      default:
    }
  }
  return { depth: deepest, keys, hasEscapedKey };
}

/**
 * Reads valid JSON without `JSON.parse` for objects. V8 12.8 to at least 14.6 can take a key that is
 * written with an escape for another key that ends in a backslash, if any object in the process had
 * that one in the same place (nodejs/node#63785): a stranger could so change what another one's
 * keys are read as. Keys without escapes are not concerned, so this slow way is rarely taken.
 */
function readAnew(text: string): unknown {
  let at = 0;
  const next = (): unknown => {
    at = skipSpace(text, at);
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE) return object();
    if (unit === OPEN_BRACKET) return array();
    const start = at;
    at = endOfValue(text, at);
    return JSON.parse(text.slice(start, at));
  };
  const array = (): unknown[] => {
    const items: unknown[] = [];
    while (!ends(CLOSE_BRACKET)) items.push(next());
    return items;
  };
  const object = (): Record<string, unknown> => {
    const members: Record<string, unknown> = {};
    while (!ends(CLOSE_BRACE)) {
      const key = String(next());
      at = skipSpace(text, at) + 1;
      // Defined, not assigned: `__proto__` is just a key.
      const member = { value: next(), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(members, key, member);
    }
    return members;
  };
  /** Steps over an opening bracket or a comma; says whether the closing one comes instead. */
  const ends = (closing: number): boolean => {
    at = skipSpace(text, at);
    if (text.charCodeAt(at) !== closing) at = skipSpace(text, at + 1);
    if (text.charCodeAt(at) !== closing) return false;
    at += 1;
    return true;
  };
  return next();
}

/** Counts the keys of all objects in `value`; its depth is bounded by then. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  for (const item of Object.values(value)) keys += 1 + countKeys(item);
  return keys;
}

/** Returns the index after the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  for (let close = text.indexOf('"', at + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return close + 1;
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfScalar(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      default:
    }
  }
  return text.length;
}

/** A number, `true`, `false` or `null` ends at the first character that can't be part of it. */
function endOfScalar(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === COMMA || unit === CLOSE_BRACE || unit === CLOSE_BRACKET || isSpace(unit)) break;
    at += 1;
  }
  return at;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

/** The UTF-16 unit that `\uXXXX` at `at` stands for, or null where no such escape stands. */
function escapedUnit(raw: string, at: number): number | null {
  if (raw.charCodeAt(at) !== BACKSLASH || raw.charAt(at + 1) !== "u") return null;
  return Number.parseInt(raw.slice(at + 2, at + 6), 16);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
