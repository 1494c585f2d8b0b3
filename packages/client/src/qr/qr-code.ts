/**
 * QR codes (ISO/IEC 18004) of text: byte mode, error correction level M, versions 1 to 40. Drawn on the
 * device itself, since what the code holds is a credential. Pure; nothing here knows of a page.
 */
import { codewordsOf } from "./codewords.ts";
import { leastMasked } from "./masks.ts";
import { drawFunctionPatterns, placeCodewords } from "./modules.ts";
import { Grid } from "./grid.ts";

/** A square of modules. */
export type QrCode = {
  /** Modules along a side, without the quiet zone of 4 that must stay light around it. */
  readonly size: number;
  readonly isDark: (x: number, y: number) => boolean;
};

/** The QR code of a text; null when it is over 2,331 bytes, which no version holds. */
export function qrCode(text: string): QrCode | null {
  const coded = codewordsOf(new TextEncoder().encode(text));
  if (coded === null) return null;
  const grid = new Grid(coded.version);
  drawFunctionPatterns(grid);
  placeCodewords(grid, coded.codewords);
  const { size, isDark } = leastMasked(grid);
  return { size, isDark };
}
