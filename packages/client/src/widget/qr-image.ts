import { qrCode } from "../qr/qr-code.ts";

const SVG = "http://www.w3.org/2000/svg";
const QUIET = 4;

/** A QR code as a picture, drawn here; null for a text that is too long for any. */
export function qrImage(text: string, label: string): SVGSVGElement | null {
  const code = qrCode(text);
  if (code === null) return null;
  const side = code.size + 2 * QUIET;
  const image = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", outline(code.size, code.isDark));
  for (const [name, value] of [
    ["viewBox", `${-QUIET} ${-QUIET} ${side} ${side}`],
    ["shape-rendering", "crispEdges"],
    ["role", "img"],
    ["aria-label", label],
  ] as const) {
    image.setAttribute(name, value);
  }
  image.append(path);
  return image;
}

/** One bar for each run of dark modules in a row. */
function outline(size: number, isDark: (x: number, y: number) => boolean): string {
  let path = "";
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      if (!isDark(x, y)) continue;
      const from = x;
      while (x < size && isDark(x, y)) x += 1;
      path += `M${from} ${y}h${x - from}v1h${from - x}z`;
    }
  }
  return path;
}
