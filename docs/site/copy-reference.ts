import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SOURCE = join(import.meta.dirname, "..", "reference");
const TARGET = join(import.meta.dirname, "src", "content", "docs", "reference");

/**
 * Copies `docs/reference`, which is written from the tables in code, to where the site is built
 * from. The copies are not kept in git, so that there is one of each page.
 */
export function copyReference(): void {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  for (const name of readdirSync(SOURCE)) {
    writeFileSync(join(TARGET, name), sitePage(readFileSync(join(SOURCE, name), "utf8"), name));
  }
}

/** The site takes a page's title from its front matter and writes the heading itself. */
function sitePage(markdown: string, name: string): string {
  const heading = /^# (.+)\n/.exec(markdown);
  if (heading?.[1] === undefined) throw new Error(`${name} does not begin with a heading`);
  const body = markdown.slice(heading[0].length);
  const front = [
    `title: ${JSON.stringify(heading[1])}`,
    "editUrl: false",
    "tableOfContents: false",
  ];
  return `---\n${front.join("\n")}\n---\n${body}`;
}

if (import.meta.main) copyReference();
