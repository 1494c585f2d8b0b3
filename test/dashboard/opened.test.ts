/** Every dialog, drawer, menu and tab that a button opens, wide and narrow, light and dark. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { whyNoBrowser } from "./browser.ts";
import type { DeskPage } from "./desk.ts";
import { lookOver } from "./look-over.ts";
import { OPENED, goTo } from "./places.ts";
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

for (const place of OPENED) {
  test(`what opens as ${place.name} is sound, wide and narrow`, { skip }, async () => {
    await goTo(view, used.desk.relay.url, place, used.facts);
    await lookOver(view.page, place.name);
  });
}

test("the way to the pages opens on a narrow screen", { skip }, async () => {
  await view.page.setViewportSize({ width: 390, height: 844 });
  await view.page.goto(`${used.desk.relay.url}/projects/${used.facts.projectId}/links`);
  await view.press("Menu");
  await view.page.getByRole("link", { name: "Settings", exact: true }).waitFor();
  await lookOver(view.page, "narrow menu");
});

test("nothing that was opened asked for something that is refused", { skip }, async () => {
  assert.deepEqual(refusalsOf(view.page), []);
  await view[Symbol.asyncDispose]();
});
