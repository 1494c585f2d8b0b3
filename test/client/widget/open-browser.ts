import { existsSync } from "node:fs";
import process from "node:process";
import { SKIPPED, loadPackage } from "../test-packages.ts";
import { serveWidgetPage } from "./serve-page.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Why tests in a browser are skipped here; false when they run. */
export const NO_BROWSER: string | false =
  SKIPPED || (existsSync(CHROMIUM) ? false : "there is no Chromium here");

/** The part of playwright-core that is used. */
export type Locator = {
  click(): Promise<void>;
  focus(): Promise<void>;
  textContent(): Promise<string | null>;
  isVisible(): Promise<boolean>;
  getAttribute(name: string): Promise<string | null>;
  waitFor(options?: object): Promise<void>;
  screenshot(options: object): Promise<Buffer>;
  count(): Promise<number>;
};
export type Tab = {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  getByRole(role: string, options?: object): Locator;
  locator(selector: string): Locator;
  setViewportSize(size: object): Promise<void>;
  screenshot(options: object): Promise<Buffer>;
  on(event: "pageerror", listener: (error: Error) => void): void;
  readonly keyboard: { press(key: string): Promise<void> };
};
type Context = {
  newPage(): Promise<Tab>;
  close(): Promise<void>;
  grantPermissions(names: readonly string[]): Promise<void>;
};
type Browser = { newContext(options: object): Promise<Context>; close(): Promise<void> };
type Playwright = { readonly chromium: { launch(options: object): Promise<Browser> } };

export type WidgetBrowser = {
  /** A tab with the widget's page, and nothing of other tabs in it. */
  readonly open: (
    options?: object,
    permissions?: readonly string[],
  ) => Promise<Tab & AsyncDisposable>;
  /** What went wrong in the tabs since the last time: errors, and what the policy stopped. */
  readonly takeFaults: () => readonly string[];
  readonly close: () => Promise<void>;
};

export async function openWidgetBrowser(): Promise<WidgetBrowser> {
  const page = await serveWidgetPage();
  const { chromium } = loadPackage("playwright-core") as Playwright;
  const faults: string[] = [];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  return {
    open: async (options = {}, permissions = []) => {
      const viewport = { width: 600, height: 800 };
      const context = await browser.newContext({ viewport, locale: "en-GB", ...options });
      await context.grantPermissions(permissions);
      const tab = await context.newPage();
      tab.on("pageerror", ({ message }) => faults.push(message));
      await tab.goto(page.url);
      await until(tab, "window.scenes !== undefined");
      return Object.assign(tab, {
        [Symbol.asyncDispose]: async () => {
          faults.push(...((await tab.evaluate("violations")) as readonly string[]));
          await context.close();
        },
      });
    },
    takeFaults: () => faults.splice(0),
    close: async () => {
      await browser.close();
      await page.close();
    },
  };
}

/** Shows a scene of `page.js`. */
export async function show(tab: Tab, scene: string): Promise<void> {
  await tab.evaluate(`show(${JSON.stringify(scene)})`);
}

/** Resolves when the widget says so. */
export async function says(tab: Tab, text: string): Promise<void> {
  await until(tab, `element.shadowRoot.textContent.includes(${JSON.stringify(text)})`);
}

/** Resolves when the script is true; Playwright's own way to wait needs what the policy forbids. */
export async function until(tab: Tab, script: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await tab.evaluate(script)) === true) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error(`it never came true: ${script}`);
}
