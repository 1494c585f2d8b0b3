/** Chromium for the dashboard's tests, and the part of playwright-core that they use. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { SKIPPED, loadPackage } from "../client/test-packages.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const dashboard = join(import.meta.dirname, "..", "..", "packages", "dashboard");
/** Holds the id of the process that builds. */
const BUILDING = join(tmpdir(), `relay-building-${hashOfPath(dashboard)}`);
const BUILD_PATIENCE_MS = 120_000;

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
  /** Answers what the page asks of these addresses in place of the network. */
  route(url: RegExp, answer: (route: Route) => Promise<void>): Promise<void>;
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
type Answer = {
  url(): string;
  status(): number;
  text(): Promise<string>;
  headers(): Record<string, string>;
  request(): { method(): string };
};
type Route = {
  request(): { url(): string };
  fulfill(answer: { readonly status: number; readonly headers: object }): Promise<void>;
};
export type Context = {
  newPage(): Promise<Page>;
  close(): Promise<void>;
  addCookies(cookies: readonly object[]): Promise<void>;
  newCDPSession(page: Page): Promise<{ send(method: string, params?: object): Promise<unknown> }>;
};
export type Browser = { newContext(options?: object): Promise<Context>; close(): Promise<void> };
type Playwright = { readonly chromium: { launch(options: object): Promise<Browser> } };

function hashOfPath(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/** Why the dashboard can't be looked at here; false when it can. Builds it if it has changed. */
export function whyNoBrowser(): string | false {
  if (SKIPPED !== false) return SKIPPED;
  if (!existsSync(CHROMIUM)) return "there is no Chromium here";
  const build = ["-C", "relay-source", join(dashboard, "build.ts")];
  const { status, stderr } = oneAtATime(() =>
    spawnSync(process.execPath, build, {
      encoding: "utf8",
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` },
    }),
  );
  return status === 0 ? false : `the dashboard can't be built here: ${stderr}`;
}

/**
 * Several test files begin at once, and two builds in one folder spoil each other: the second waits
 * for the first, and then has nothing to do.
 */
function oneAtATime<Result>(work: () => Result): Result {
  const deadline = Date.now() + BUILD_PATIENCE_MS;
  while (!hasTaken()) {
    if (Date.now() > deadline) throw new Error(`a build does not end: ${BUILDING}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    return work();
  } finally {
    rmSync(BUILDING, { force: true });
  }
}

/** Takes the turn if nobody has it, or whoever had it is dead. */
function hasTaken(): boolean {
  try {
    writeFileSync(BUILDING, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const holder = existsSync(BUILDING) ? Number(readFileSync(BUILDING, "utf8")) : 0;
    if (holder > 0 && !isAlive(holder)) rmSync(BUILDING, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export function launch(): Promise<Browser> {
  const { chromium } = loadPackage("playwright-core") as Playwright;
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** The file of the checker of accessibility, which is one of the dashboard's own packages. */
export const AXE_FILE = join(dashboard, "node_modules", "axe-core", "axe.min.js");
