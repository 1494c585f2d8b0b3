import { type AST, RegExpParser, RegExpSyntaxError } from "@eslint-community/regexpp";

export type Parsed =
  | { readonly ok: true; readonly pattern: AST.Pattern; readonly unicode: boolean }
  | { readonly ok: false; readonly reason: string };

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * Parses as JavaScript does with the `u` flag; what only parses without it (`\@`, `\-`, `{`) is
 * taken without it, unless it uses what only means something with it (`\p{…}`, `\u{…}`): such a
 * pattern would quietly mean something else, so its author is told what is wrong instead.
 */
export function parsePattern(source: string): Parsed {
  const parsed = tryParse(source, true);
  if (parsed.ok || hasUnicodeEscape(source)) return parsed;
  return tryParse(source, false);
}

function tryParse(source: string, unicode: boolean): Parsed {
  try {
    const pattern = parser.parsePattern(source, 0, source.length, { unicode });
    return { ok: true, pattern, unicode };
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    const preamble = `Invalid regular expression: /${source}/${unicode ? "u" : ""}: `;
    const fault = error.message.slice(preamble.length);
    return { ok: false, reason: `is not a valid regular expression: ${fault}` };
  }
}

function hasUnicodeEscape(source: string): boolean {
  for (let at = source.indexOf("\\"); at !== -1; at = source.indexOf("\\", at + 2)) {
    if ("pPu".includes(source.charAt(at + 1)) && source.charAt(at + 2) === "{") return true;
  }
  return false;
}
