/** Where a page ended: the value its list is sorted by, and the id that breaks ties. */
export type Place = readonly [value: number | string, id: string];

/** Longer texts are no cursors of ours: a label has 64 code points, an id 36 characters. */
const CURSOR_CHARS_MAX = 1_024;

/** Writes a place in `list` as the opaque text a client hands back. */
export function writeCursor(list: string, place: Place): string {
  return Buffer.from(JSON.stringify([list, ...place])).toString("base64url");
}

/**
 * Reads a cursor of `list`, whose places begin with a value of type `sortedBy`. Returns null for
 * anything else: another list's cursor, another sort's, or a text we never wrote.
 */
export function readCursor(
  list: string,
  sortedBy: "number" | "string",
  text: string,
): Place | null {
  if (text.length > CURSOR_CHARS_MAX) return null;
  const parts = parse(Buffer.from(text, "base64url").toString());
  if (!Array.isArray(parts) || parts.length !== 3) return null;
  const [ofList, value, id]: unknown[] = parts;
  if (ofList !== list || typeof id !== "string") return null;
  if (typeof value === "number") {
    return sortedBy === "number" && Number.isSafeInteger(value) ? [value, id] : null;
  }
  return sortedBy === "string" && typeof value === "string" ? [value, id] : null;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
