/** Chromium for the dashboard's tests, and the part of playwright-core that they use. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { SKIPPED, loadPackage } from "../client/test-packages.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const dashboard = join(import.meta.dirname, "..", "..", "packages", "dashboard");

export type Locator = {
  click(options?: object): Promise<void>;
  fill(text: string): Promise<void>;
  press(key: string): Promise<void>;
  check(): Promise<void>;
  selectOption(value: string | { readonly label: string }): Promise<unknown>;
  waitFor(options?: object): Promise<void>;
  textContent(): Promise<string | null>;
  inputValue(): Promise<string>;
  count(): Promise<number>;
  isVisible(): Promise<boolean>;
  getAttribute(name: string): Promise<string | null>;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  filter(options: { readonly hasText: string | RegExp }): Locator;
  getByRole(role: string, options?: object): Locator;
  getByText(text: string | RegExp, options?: object): Locator;
  getByLabel(text: string | RegExp, options?: object): Locator;
  locator(selector: string): Locator;
};
export type Page = Pick<Locator, "getByRole" | "getByText" | "getByLabel" | "locator"> & {
  readonly keyboard: { press(key: string): Promise<void> };
  goto(url: string, options?: object): Promise<{ headers(): Record<string, string> } | null>;
  url(): string;
  reload(): Promise<unknown>;
  close(): Promise<void>;
  evaluate<Result>(script: string): Promise<Result>;
  addScriptTag(options: { readonly content: string }): Promise<unknown>;
  screenshot(options: object): Promise<unknown>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  emulateMedia(options: object): Promise<void>;
  waitForURL(url: RegExp | string, options?: object): Promise<void>;
  waitForFunction(script: string, argument?: unknown, options?: object): Promise<unknown>;
  setDefaultTimeout(ms: number): void;
  on(event: "console", listener: (message: ConsoleMessage) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "response", listener: (response: Answer) => void): void;
};
type ConsoleMessage = { type(): string; text(): string };
type Answer = { url(): string; status(): number };
export type Context = {
  newPage(): Promise<Page>;
  close(): Promise<void>;
  addCookies(cookies: readonly object[]): Promise<void>;
  newCDPSession(page: Page): Promise<{ send(method: string, params?: object): Promise<unknown> }>;
};
export type Browser = { newContext(options?: object): Promise<Context>; close(): Promise<void> };
type Playwright = { readonly chromium: { launch(options: object): Promise<Browser> } };

/** Why the dashboard can't be looked at here; false when it can. Builds it if it has changed. */
export function whyNoBrowser(): string | false {
  if (SKIPPED !== false) return SKIPPED;
  if (!existsSync(CHROMIUM)) return "there is no Chromium here";
  const build = ["-C", "relay-source", join(dashboard, "build.ts")];
  const { status, stderr } = spawnSync(process.execPath, build, {
    encoding: "utf8",
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` },
  });
  return status === 0 ? false : `the dashboard can't be built here: ${stderr}`;
}

export function launch(): Promise<Browser> {
  const { chromium } = loadPackage("playwright-core") as Playwright;
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** The file of the checker of accessibility, which is one of the dashboard's own packages. */
export const AXE_FILE = join(dashboard, "node_modules", "axe-core", "axe.min.js");
