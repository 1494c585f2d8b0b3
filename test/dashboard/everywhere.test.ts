/** Every page of the router, wide and narrow, light and dark: axe, the policy, the console, the width. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { whyNoBrowser } from "./browser.ts";
import type { DeskPage } from "./desk.ts";
import { ENTRY_ROUTES } from "./entry-routes.ts";
import { lookOver } from "./look-over.ts";
import { PAGES, goTo } from "./places.ts";
import { openUsedDesk } from "./used-desk.ts";
import type { UsedDesk } from "./used-desk.ts";
import { refusalsOf } from "./watched-page.ts";

const skip = whyNoBrowser();
let used: UsedDesk;
let view: DeskPage;

before(async () => {
  if (skip !== false) return;
  used = await openUsedDesk();
  view = await used.desk.at("/projects");
});
after(async () => {
  if (skip !== false) return;
  used.app.socket.terminate();
  await used.desk.close();
});

test("each address of the router is one that these tests go to", { skip }, async () => {
  const routes = await view.page.evaluate<string[]>(
    "Object.keys(window.__TSR_ROUTER__.routesByPath)",
  );
  const visited = new Set([...PAGES.map(({ route }) => route), ...ENTRY_ROUTES]);
  assert.ok(routes.length > 20, `${routes.length}`);
  assert.deepEqual(
    routes.filter((route) => !visited.has(route)),
    [],
  );
});

for (const place of PAGES) {
  test(`the page ${place.name} is sound, wide and narrow`, { skip }, async () => {
    await goTo(view, used.desk.relay.url, place, used.facts);
    await lookOver(view.page, place.name);
  });
}

test("on all of them the page asked for nothing that is refused", { skip }, async () => {
  const unasked = refusalsOf(view.page).filter((line) => !line.endsWith("/api/projects/none"));
  assert.deepEqual(unasked, []);
  await view[Symbol.asyncDispose]();
});
