const KEY_CODE_POINTS_MAX = 64;

/**
 * Writes where something stands inside a JSON value: `properties.code.pattern`, `anyOf[2]`,
 * `properties["a b"]`; the root is "". A key is cut at 64 code points, since strangers choose it.
 */
export function placeText(keys: readonly (string | number)[]): string {
  let text = "";
  for (const key of keys) {
    if (typeof key === "number") text += `[${key}]`;
    else if (!isIdentifier(key)) text += `[${JSON.stringify(cutText(key, KEY_CODE_POINTS_MAX))}]`;
    else text += text === "" ? key : `.${key}`;
  }
  return text;
}

/** Cuts a text to at most `max` code points; a cut text ends in `…`. Never splits a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  let keep = 0;
  for (let points = 0; points < max; points += 1) {
    if (end >= text.length) return text;
    keep = end;
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end >= text.length ? text : `${text.slice(0, keep)}…`;
}

function isIdentifier(key: string): boolean {
  return key.length <= KEY_CODE_POINTS_MAX && /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key);
}
