/** Pages whose console is read along: what breaks the policy or the script fails the test. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { AXE_FILE } from "./browser.ts";
import type { Context, Page } from "./browser.ts";

const PATIENCE_MS = 20_000;
const faults = new WeakMap<Page, string[]>();
const refusals = new WeakMap<Page, string[]>();

/** Opens a page that remembers every violation of its policy and every error of its script. */
export async function openPage(context: Context): Promise<Page> {
  const page = await context.newPage();
  const seen: string[] = [];
  faults.set(page, seen);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => {
    const text = message.text();
    // A refusal is an answer, which the page shows in words; the browser calls it an error.
    if (text.startsWith("Failed to load resource: the server responded with a status of 4")) return;
    const isFault = message.type() === "error" || /content security policy|Warning:/i.test(text);
    if (isFault) seen.push(text);
  });
  page.on("pageerror", (error) => seen.push(String(error)));
  const refused: string[] = [];
  refusals.set(page, refused);
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`);
  });
  return page;
}

/** Fails if the page broke its policy or its script since it was opened. */
export function assertSound(page: Page): void {
  assert.deepEqual(faults.get(page), []);
}

/** Status and path of each request that was refused since the page was opened. */
export function refusalsOf(page: Page): readonly string[] {
  return refusals.get(page) ?? [];
}

/** The checker, read at its first use. */
let script: string | undefined;

type Violation = { readonly id: string; readonly help: string; readonly nodes: readonly string[] };

/** The other colours are there once they were drawn. */
const TWO_FRAMES = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`;

/**
 * Looks a page over with axe, in light and in dark; fails on anything it finds. Of a page with an
 * open dialog or menu that alone: what is behind it is out of reach on purpose.
 */
export async function assertAccessible(
  page: Page,
  name: string,
  colorSchemes: readonly string[] = ["light", "dark"],
): Promise<void> {
  // As the test's own script, which the page's policy does not hold for; once a page.
  script ??= readFileSync(AXE_FILE, "utf8");
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(script);
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(TWO_FRAMES);
    const found = await page.evaluate<Violation[]>(`
      axe.run([...document.querySelectorAll("[role=dialog], [role=menu]")].at(-1) ?? document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => html + " " + failureSummary) })))`);
    assert.deepEqual(found, [], `${name} in ${colorScheme}`);
  }
}
