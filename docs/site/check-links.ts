import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A link that leads nowhere; `page` is the file it is on. */
export type BrokenLink = { readonly page: string; readonly link: string; readonly why: string };

/**
 * Follows every link within a built site, pages, files and `#places` alike; links to other origins
 * are not followed. `links` is how many were followed.
 */
export function brokenLinks(folder: string): {
  readonly links: number;
  readonly broken: readonly BrokenLink[];
} {
  const pages = globSync("**/*.html", { cwd: folder }).toSorted();
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), "utf8")]));
  const places = new Map([...texts].map(([page, text]) => [page, idsIn(text)]));
  const broken: BrokenLink[] = [];
  let links = 0;
  for (const [page, text] of texts) {
    for (const link of linksIn(text)) {
      const url = new URL(link, new URL(page.replace(/index\.html$/, ""), ORIGIN));
      if (url.origin !== ORIGIN) continue;
      links += 1;
      const why = fault(folder, url, places);
      if (why !== null) broken.push({ page, link, why });
    }
  }
  return { links, broken };
}

const ORIGIN = "http://site.invalid";

function fault(
  folder: string,
  url: URL,
  places: ReadonlyMap<string, ReadonlySet<string>>,
): string | null {
  const path = decodeURIComponent(url.pathname).slice(1);
  const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  const full = join(folder, file);
  if (!existsSync(full) || !statSync(full).isFile()) return "there is no such page";
  const place = decodeURIComponent(url.hash).slice(1);
  if (place === "" || places.get(file)?.has(place) === true) return null;
  return "there is no such place on the page";
}

function idsIn(html: string): ReadonlySet<string> {
  return new Set(Array.from(html.matchAll(/\sid="([^"]*)"/g), ([, id = ""]) => unescaped(id)));
}

function linksIn(html: string): readonly string[] {
  const found = html.matchAll(/<(?:a|link|img|script)\s[^>]*?\b(?:href|src)="([^"]*)"/g);
  return Array.from(found, ([, link = ""]) => unescaped(link));
}

function unescaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
