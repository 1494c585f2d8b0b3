/** Looks a page over as it is seen on a desk and on a phone. */
import assert from "node:assert/strict";
import type { Page } from "./browser.ts";
import { WIDE } from "./desk.ts";
import { assertAccessible, assertSound } from "./watched-page.ts";

const NARROW = { width: 390, height: 844 } as const;

/** Fails on what axe finds, on what the browser complains of, and on what is wider than a phone. */
export async function lookOver(page: Page, name: string): Promise<void> {
  await assertAccessible(page, name);
  await page.setViewportSize(NARROW);
  await assertAccessible(page, `${name}, narrow`, ["light"]);
  await assertFits(page, name);
  await page.setViewportSize(WIDE);
  assertSound(page);
}

/** Neither the page nor a dialog on it can be moved sideways. */
export async function assertFits(page: Page, name: string): Promise<void> {
  const wide = await page.evaluate<string[]>(`
    [document.documentElement, ...document.querySelectorAll("[role=dialog], [role=dialog] > div")]
      .filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => box.tagName + " is " + box.scrollWidth + " px wide in " + box.clientWidth)`);
  assert.deepEqual(wide, [], `${name} scrolls sideways`);
}
