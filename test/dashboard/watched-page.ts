/** Pages whose console is read along: what breaks the policy or the script fails the test. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { AXE_FILE } from "./browser.ts";
import type { Context, Page } from "./browser.ts";

const PATIENCE_MS = 20_000;
const faults = new WeakMap<Page, string[]>();

/** Opens a page that remembers every violation of its policy and every error of its script. */
export async function openPage(context: Context): Promise<Page> {
  const page = await context.newPage();
  const seen: string[] = [];
  faults.set(page, seen);
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => {
    if (/content security policy|Warning:/i.test(message.text())) seen.push(message.text());
  });
  page.on("pageerror", (error) => seen.push(String(error)));
  return page;
}

/** Fails if the page broke its policy or its script since it was opened. */
export function assertSound(page: Page): void {
  assert.deepEqual(faults.get(page), []);
}

/** The checker, read at its first use. */
let script: string | undefined;

type Violation = { readonly id: string; readonly help: string; readonly nodes: readonly string[] };

/** The other colours are there once they were drawn. */
const TWO_FRAMES = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`;

/**
 * Looks a page over with axe, in light and in dark; fails on anything it finds. Of a page with an
 * open dialog the dialog: what is behind it is dimmed and out of reach on purpose.
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // As the test's own script, which the page's policy does not hold for; once a page.
  script ??= readFileSync(AXE_FILE, "utf8");
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(script);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(TWO_FRAMES);
    const found = await page.evaluate<Violation[]>(`
      axe.run([...document.querySelectorAll("[role=dialog]")].at(-1) ?? document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => html + " " + failureSummary) })))`);
    assert.deepEqual(found, [], `${name} in ${colorScheme}`);
  }
}
