/**
 * Regular expressions written by strangers, matched in time linear in text × program.
 *
 * JavaScript's meaning with the `u` flag, but never JavaScript's engine: that one can be made to
 * hang. Nothing here may hand a stranger's pattern, or any part of one, to `RegExp`; property.ts
 * alone asks it about one `\p{…}` and one code point at a time.
 */
import { emitProgram } from "./emit.ts";
import { parsePattern } from "./parse.ts";
import { type RegexProgram, SOURCE_CODE_POINTS_MAX } from "./program.ts";

export type { RegexProgram } from "./program.ts";
export { testPattern } from "./scan.ts";

export type CompiledPattern =
  | { readonly ok: true; readonly program: RegexProgram }
  /** The reason continues a sentence that begins "… pattern ". */
  | { readonly ok: false; readonly reason: string };

/** Makes a program of a pattern's source, or says why Relay does not take it (SPEC 8). */
export function compilePattern(source: string): CompiledPattern {
  if (isLongerThan(source, SOURCE_CODE_POINTS_MAX)) {
    return { ok: false, reason: `is too large: over ${SOURCE_CODE_POINTS_MAX} characters` };
  }
  const parsed = parsePattern(source);
  return parsed.ok ? emitProgram(parsed.pattern, parsed.unicode) : parsed;
}

function isLongerThan(source: string, codePoints: number): boolean {
  if (source.length <= codePoints || source.length > 2 * codePoints) {
    return source.length > codePoints;
  }
  return Array.from(source).length > codePoints;
}
