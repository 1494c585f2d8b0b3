/**
 * `<relay-connect>` in Chromium: every state, light and dark, wide and narrow, under a strict policy.
 * `SCREENSHOTS=1` writes `docs/screenshots/widget-*.png` anew.
 */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, afterEach, before, test } from "node:test";
import { NO_BROWSER, openWidgetBrowser, says, show } from "./widget/open-browser.ts";
import type { Tab, WidgetBrowser } from "./widget/open-browser.ts";

const skip = NO_BROWSER;
const screenshots = join(import.meta.dirname, "..", "..", "docs", "screenshots");
const isShooting = process.env["SCREENSHOTS"] === "1";

let browser: WidgetBrowser;
before(async () => {
  if (skip === false) browser = await openWidgetBrowser();
  if (isShooting) mkdirSync(screenshots, { recursive: true });
});
afterEach(() => {
  if (skip === false) assert.deepEqual(browser.takeFaults(), []);
});
after(async () => {
  if (skip === false) await browser.close();
});

/** What each scene of the page says, and what a person can do about it. */
const SCENES: Readonly<Record<string, readonly [title: string, detail: RegExp, action?: string]>> =
  {
    none: ["Not set up", /has not started/],
    idle: ["Off", /until you connect it/, "Connect"],
    connecting: ["Connecting", /a moment/],
    online: ["Connected", /^AI hosts that have the URL can use Notes\. Tools: 4\.$/],
    calls: ["Connected", /Tools: 4/],
    paused: ["Paused", /are told that it is paused/],
    local: ["Connected", /Tools/],
    network: ["Connected", /Tools/],
    unencrypted: ["Connected", /Tools/],
    waiting: ["Not connected", /connection to Relay was lost/, "Try now"],
    suspended: ["Not connected", /Notes is suspended/, "Try now"],
    unreachable: ["Not connected", /can’t be reached/, "Try now"],
    standby: ["Connected elsewhere", /takes over when that one closes/, "Connect here"],
    revoked: ["The link has ended", /was revoked/, "Make a new link"],
    unknown: ["The link has ended", /unknown or was revoked/, "Make a new link"],
    origin: ["Not connected", /may not connect from this address/],
    key: ["Not connected", /has a wrong key/],
    store: ["Not connected", /the key store is locked/, "Try again"],
    long: ["Connected", /schlüssel\. Tools: 2/],
  };

/** The scenes that the documentation shows. */
const SHOTS = ["calls", "local", "paused", "waiting", "standby", "revoked", "idle"];

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
};

async function assertAccessible(tab: Tab, where: string): Promise<void> {
  // The policy lets the page load it from its own origin alone.
  const result = (await tab.evaluate(`(async () => {
    if (window.axe === undefined) {
      const script = document.createElement("script");
      const policy = trustedTypes.createPolicy("axe", { createScriptURL: (url) => url });
      script.src = policy.createScriptURL("axe.js");
      await new Promise((resolve) => {
        script.addEventListener("load", resolve);
        document.head.append(script);
      });
    }
    const { violations } = await axe.run(document, { preload: false });
    return { violations: violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })) };
  })()`)) as AxeResult;
  assert.deepEqual(result.violations, [], where);
}

/** What reaches past the sides of the widget, or is cut: a page never scrolls to the side for it. */
const OVERFLOWS = `(() => {
  const all = [...element.shadowRoot.querySelectorAll("*")];
  const { left, right } = element.getBoundingClientRect();
  const out = all.filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width > 0 && (box.left < left - 0.5 || box.right > right + 0.5);
  });
  const cut = all.filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline");
  return [...out, ...cut].map((node) => node.outerHTML.slice(0, 120));
})()`;

test("the tests show every scene there is", { skip }, async () => {
  await using tab = await browser.open();
  assert.deepEqual(await tab.evaluate("scenes"), Object.keys(SCENES));
});

for (const colorScheme of ["light", "dark"]) {
  test(
    `every state is said in words, and axe finds nothing wrong, in ${colorScheme}`,
    { skip },
    async () => {
      await using tab = await browser.open({ colorScheme });
      for (const [scene, [title, detail, action]] of Object.entries(SCENES)) {
        await show(tab, scene);
        await says(tab, title);
        assert.equal(await tab.locator("[part=state]").textContent(), title, scene);
        assert.match(String(await tab.locator("[part=detail]").textContent()), detail, scene);
        const button = tab.locator("[part=status] button");
        assert.equal(await button.isVisible(), action !== undefined, scene);
        if (action !== undefined) assert.equal(await button.textContent(), action, scene);
        await assertAccessible(tab, `${scene} in ${colorScheme}`);
        if (isShooting && SHOTS.includes(scene)) await shoot(tab, `${scene}-${colorScheme}`);
      }
    },
  );

  test(
    `axe finds nothing wrong with the questions, the QR code and what is said, in ${colorScheme}`,
    { skip },
    async () => {
      await using tab = await browser.open({ colorScheme }, ["clipboard-write"]);
      await show(tab, "online");
      await tab.getByRole("button", { name: "Copy URL", exact: true }).click();
      await tab.getByRole("button", { name: "Show" }).click();
      await tab.getByRole("button", { name: "QR code" }).click();
      await says(tab, "Copied.");
      await assertAccessible(tab, "the QR code");
      if (isShooting) await shoot(tab, `qr-${colorScheme}`);
      for (const [control, question] of [
        ["Get a new URL…", "Get a new URL?"],
        ["End the link…", "End the link for good?"],
      ] as const) {
        await tab.getByRole("button", { name: control }).click();
        await tab.getByRole("alertdialog", { name: question }).waitFor();
        await assertAccessible(tab, question);
        if (isShooting && control.startsWith("End")) {
          await tab.screenshot({ path: join(screenshots, `widget-revoke-${colorScheme}.png`) });
        }
        await tab.keyboard.press("Escape");
      }
    },
  );
}

for (const [dir, width] of [
  ["ltr", 280],
  ["rtl", 280],
  ["rtl", 600],
] as const) {
  test(`nothing reaches out of the widget at ${width} px, ${dir}`, { skip }, async () => {
    await using tab = await browser.open();
    // The page's own margins are 16 px on both sides.
    await tab.setViewportSize({ width: width + 32, height: 800 });
    await tab.evaluate(`document.documentElement.dir = "${dir}"`);
    for (const scene of Object.keys(SCENES)) {
      await show(tab, scene);
      if (await tab.getByRole("button", { name: "Show" }).isVisible()) {
        await tab.getByRole("button", { name: "Show" }).click();
        await tab.getByRole("button", { name: "QR code" }).click();
      }
      assert.deepEqual(await tab.evaluate(OVERFLOWS), [], scene);
      assert.equal(await tab.evaluate("document.documentElement.scrollWidth"), width + 32, scene);
      if (isShooting && width === 280 && scene === "calls") await shoot(tab, `narrow-${dir}`);
    }
    await show(tab, "long");
    await tab.getByRole("button", { name: "End the link…" }).click();
    assert.equal(await tab.evaluate("document.documentElement.scrollWidth"), width + 32);
  });
}

test(
  "in a right-to-left page the dot and the buttons change sides, and a URL does not",
  { skip },
  async () => {
    await using tab = await browser.open();
    await tab.evaluate(`document.documentElement.dir = "rtl"`);
    await show(tab, "online");
    const found = await tab.evaluate(`(() => {
    const at = (selector) => element.shadowRoot.querySelector(selector).getBoundingClientRect();
    return {
      dot: at(".dot").left > at("[part=state]").left,
      button: at("[data-host=cursor] a").left < at("[data-host=cursor] .name").left,
      url: getComputedStyle(element.shadowRoot.querySelector("[part=url]")).direction,
    };
  })()`);
    assert.deepEqual(found, { dot: true, button: true, url: "ltr" });
  },
);

test("hosts that can't reach the URL are said to, and are offered nothing", { skip }, async () => {
  await using tab = await browser.open();
  for (const [scene, note] of [
    ["local", /runs on this computer/],
    ["network", /in a private network/],
    ["unencrypted", /has no https/],
  ] as const) {
    await show(tab, scene);
    assert.match(String(await tab.locator(".warning").textContent()), note);
    for (const host of ["claude", "chatgpt"]) {
      const row = `[data-host=${host}]`;
      assert.match(String(await tab.locator(`${row} .badge`).textContent()), /can’t reach/);
      assert.equal(await tab.locator(`${row} button`).isVisible(), false);
    }
    assert.equal(await tab.locator("[data-host=cursor] a").isVisible(), true);
  }
  await show(tab, "online");
  assert.equal(await tab.locator(".warning").isVisible(), false);
  assert.equal(await tab.locator("[data-host=claude] button").isVisible(), true);
});

test("a page themes it by custom properties and parts", { skip }, async () => {
  await using tab = await browser.open();
  await show(tab, "idle");
  const found = await tab.evaluate(`(() => {
    element.className = "themed";
    const style = (selector) => getComputedStyle(element.shadowRoot.querySelector(selector));
    return [
      style("button.primary").backgroundColor,
      style(".panel").borderRadius,
      style("[part=heading]").textTransform,
    ];
  })()`);
  assert.deepEqual(found, ["rgb(120, 40, 140)", "2px", "uppercase"]);
});

async function shoot(tab: Tab, name: string): Promise<void> {
  await tab.evaluate("document.activeElement?.blur()");
  // All of it in one view: what sticks to the view's end then is at the widget's.
  const { width, height } = (await tab.evaluate(
    "({ width: innerWidth, height: Math.ceil(document.documentElement.getBoundingClientRect().height) })",
  )) as { readonly width: number; readonly height: number };
  await tab.setViewportSize({ width, height });
  await tab.screenshot({ path: join(screenshots, `widget-${name}.png`) });
  await tab.setViewportSize({ width, height: 800 });
}
