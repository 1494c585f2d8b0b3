/**
 * What strangers write is text on every page, and runs nowhere. The pages are opened without their
 * policy, so that what it would stop is seen to be stopped by the page itself.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openRelay } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import { Desk } from "./desk.ts";
import type { DeskPage } from "./desk.ts";
import { HUGE, PAYLOADS, fillHostile } from "./hostile.ts";
import type { Hostile } from "./hostile.ts";
import { assertFits } from "./look-over.ts";
import { OPENED, PAGES, goTo } from "./places.ts";
import type { Place } from "./places.ts";

const skip = whyNoBrowser();
const { image, script, override, long } = PAYLOADS;
let desk: Desk;
let hostile: Hostile;
let view: DeskPage;

before(async () => {
  if (skip !== false) return;
  desk = await Desk.open({ RELAY_BILLING: "prepaid", RELAY_WEBHOOK_PRIVATE_ADDRESSES: "on" });
  hostile = await fillHostile(desk);
  view = await desk.at("/projects", await desk.contextWith({ bypassCSP: true }));
});
after(async () => {
  if (skip !== false) return;
  for (const app of hostile.apps) app.socket.terminate();
  await desk.close();
});

/** What must stand on a page, as it was written; by the name of the place. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  projects: Object.values(PAYLOADS),
  team: Object.values(PAYLOADS),
  links: Object.values(PAYLOADS),
  link: [image],
  "link's tools": Object.values(PAYLOADS),
  "link's calls": [image],
  calls: Object.values(PAYLOADS).filter((text) => text !== long),
  usage: Object.values(PAYLOADS),
  start: [image],
  try: [image],
  accounts: [image, script],
  "all projects": Object.values(PAYLOADS),
  "project menu": Object.values(PAYLOADS),
};

/** Elements and addresses that only a payload could have made. */
const MADE = `[...document.querySelectorAll("*")].flatMap((element) => {
  const bad = [...element.attributes].filter(({ name, value }) =>
    /^on/i.test(name) || (/^(?:href|src|action|formaction|srcdoc|data)$/i.test(name) && /^\\s*javascript:/i.test(value)));
  const isMade = element.matches("img[src=x], script:not([src]), iframe, object, embed, [autofocus][x]");
  return bad.length > 0 || isMade ? [element.outerHTML.slice(0, 200)] : [];
})`;

/** Texts that turn letters around and are not kept apart from the words of the page beside them. */
const TURNING = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!node.data.includes("\\u202E") || node.parentElement.closest("option, script")) continue;
    let box = node.parentElement;
    for (; box !== document.body; box = box.parentElement) {
      const { display, unicodeBidi } = getComputedStyle(box);
      if (display !== "inline" || /isolate|plaintext/.test(unicodeBidi)) break;
    }
    const others = box.textContent.replaceAll(${JSON.stringify(override)}, "").replaceAll(/W+/g, "");
    if (/[a-z]{2}/i.test(others)) found.push(box.outerHTML.slice(0, 300));
  }
  return found;
})()`;

async function assertHarmless(name: string): Promise<void> {
  const { page } = view;
  assert.deepEqual(await page.evaluate<string[]>(MADE), [], `${name} has an element of a payload`);
  assert.equal(await page.evaluate<unknown>("window.__ran ?? null"), null, `${name} ran a script`);
  assert.deepEqual(await page.evaluate<string[]>(TURNING), [], `${name} lets a text turn others`);
  const text = await page.evaluate<string>("document.body.textContent");
  for (const shown of SHOWN[name] ?? []) assert.ok(text.includes(shown), `${name} hides ${shown}`);
  assert.ok(!text.includes("W".repeat(300)), `${name} shows a name of 10,000 characters`);
}

/** The dialogs that the texts are in; the others were looked at by themselves. */
const WITH_NAMES = new Set([
  "project menu",
  "rotate",
  "call",
  "delete project",
  "suspend",
  "terms",
]);
const places: readonly Place[] = [
  ...PAGES.filter(({ name }) => name in SHOWN || /^(?:audit|account|health|settings|l)/.test(name)),
  ...OPENED.filter(({ name }) => WITH_NAMES.has(name)),
];

for (const place of places) {
  test(`hostile names are text and keep to their place: ${place.name}`, { skip }, async () => {
    await goTo(view, desk.relay.url, place, hostile.facts);
    await assertHarmless(place.name);
    await view.page.setViewportSize({ width: 390, height: 844 });
    await assertFits(view.page, place.name);
    await view.page.setViewportSize({ width: 1280, height: 900 });
  });
}

test("each place that must show a name was gone to", { skip }, async () => {
  const gone = new Set(places.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(SHOWN).filter((name) => !gone.has(name)),
    [],
  );
  await view[Symbol.asyncDispose]();
});

test("a name of 10,000 characters is refused, by name, wherever one is kept", async () => {
  await using relay = await openRelay({ RELAY_LOG_LEVEL: "error" });
  const { operatorToken } = relay;
  const project = await relay.project();
  const tries = [
    relay.rest("POST", "/v1/operator/projects", operatorToken, { name: HUGE }),
    relay.rest("POST", "/v1/operator/invitations", operatorToken, { note: HUGE }),
    relay.rest("PATCH", "/v1/project", project.secretKey, { name: HUGE }),
    relay.rest("PATCH", "/v1/project", project.secretKey, { allowedOrigins: [HUGE] }),
    relay.rest("POST", "/v1/links", project.publishableKey, { label: HUGE }),
  ];
  for (const { status, body } of await Promise.all(tries)) {
    assert.equal(status, 400);
    assert.match(String(body["error"].message), /^(?:name|note|label|allowedOrigins)/);
    assert.ok(String(body["error"].message).length < 300);
  }
  const javascript = [PAYLOADS.address];
  const refused = await relay.rest("PATCH", "/v1/project", project.secretKey, {
    allowedOrigins: javascript,
  });
  assert.equal(refused.status, 400);
});
