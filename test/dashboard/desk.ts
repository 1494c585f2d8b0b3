/** A Relay with its first person signed in, in a browser: what most tests of pages begin with. */
import { openRelay } from "../e2e/harness.ts";
import type { TestProject, TestRelay } from "../e2e/harness.ts";
import { launch } from "./browser.ts";
import type { Browser, Context, Page } from "./browser.ts";
import { setUpByRequest } from "./operator.ts";
import { assertSound, openPage } from "./watched-page.ts";

export const WIDE = { width: 1280, height: 900 } as const;

export class Desk {
  readonly relay: TestRelay;
  readonly browser: Browser;
  readonly context: Context;
  /** The session's cookies, as a request carries them. */
  readonly cookies: string;

  private constructor(relay: TestRelay, browser: Browser, context: Context, cookies: string) {
    this.relay = relay;
    this.browser = browser;
    this.context = context;
    this.cookies = cookies;
  }

  static async open(env: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<Desk> {
    const relay = await openRelay({ RELAY_LOG_LEVEL: "error", ...env }, dataDir);
    const cookies = await setUpByRequest(relay);
    const browser = await launch();
    const context = await signedIn(browser, relay, cookies);
    return new Desk(relay, browser, context, cookies);
  }

  /** Another context of the same person, with options of Playwright's. */
  contextWith(options: object): Promise<Context> {
    return signedIn(this.browser, this.relay, this.cookies, options);
  }

  /** A request of the person's that no page makes. */
  ask(method: string, path: string, body?: unknown) {
    const headers = { Cookie: this.cookies, Origin: new URL(this.relay.url).origin };
    return this.relay.rest(method, path, null, body, headers);
  }

  /** A page at an address, which must be sound when it is closed. */
  async at(path: string, context: Context = this.context): Promise<DeskPage> {
    const page = await openPage(context);
    await page.goto(`${this.relay.url}${path}`);
    return new DeskPage(page);
  }

  /** A project of the person's account with its own page. */
  async project(name: string, path: string): Promise<{ project: TestProject; desk: DeskPage }> {
    const project = await this.relay.project({ name });
    return { project, desk: await this.at(`/projects/${project.projectId}/${path}`) };
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.relay[Symbol.asyncDispose]();
  }
}

async function signedIn(
  browser: Browser,
  relay: TestRelay,
  cookies: string,
  options: object = {},
): Promise<Context> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  await context.addCookies(
    cookies.split("; ").map((cookie) => {
      const at = cookie.indexOf("=");
      const [name, value] = [cookie.slice(0, at), cookie.slice(at + 1)];
      return { name, value, url: relay.url, httpOnly: true };
    }),
  );
  return context;
}

/** A page with the few moves that tests make most. */
export class DeskPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  press(name: string | RegExp, within: Pick<Page, "getByRole"> = this.page): Promise<void> {
    return within.getByRole("button", { name, exact: true }).first().click();
  }

  fill(label: string, text: string): Promise<void> {
    return this.page.getByLabel(label, { exact: true }).fill(text);
  }

  choose(label: string, option: string): Promise<unknown> {
    return this.page.getByLabel(label, { exact: true }).selectOption({ label: option });
  }

  /** Waits until a text stands on the page. */
  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor();
  }

  /** Waits until the first of something that has a text is gone. */
  gone(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor({ state: "detached" });
  }

  row(text: string | RegExp) {
    return this.page.locator("tbody tr").filter({ hasText: text });
  }

  /** Types what a dialog wants typed, and goes on. */
  async confirm(typed: string | null, action: string): Promise<void> {
    const dialog = this.page.getByRole("dialog").last();
    if (typed !== null) await dialog.getByLabel(/^Type/).fill(typed);
    await dialog.getByRole("button", { name: action, exact: true }).click();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    assertSound(this.page);
    await this.page.close();
  }
}
