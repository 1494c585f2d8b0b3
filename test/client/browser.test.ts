/** The example page in Chromium, called through a real Relay: what only a browser can show. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { callTool, openRelay, textOf } from "../e2e/harness.ts";
import type { TestRelay } from "../e2e/harness.ts";
import { officialHost } from "./official-host.ts";
import { SKIPPED, loadPackage } from "./test-packages.ts";

const root = join(import.meta.dirname, "..", "..");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const skip = SKIPPED || (existsSync(CHROMIUM) ? false : "there is no Chromium here");

/** The part of playwright-core that is used. */
type Page = {
  goto(url: string): Promise<unknown>;
  close(): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  waitForFunction(script: string, argument?: unknown, options?: object): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  reload(): Promise<unknown>;
};
type Context = {
  newPage(): Promise<Page>;
  close(): Promise<void>;
  setOffline(isOffline: boolean): Promise<void>;
};
type Browser = { newContext(): Promise<Context>; close(): Promise<void> };
type Playwright = { readonly chromium: { launch(options: object): Promise<Browser> } };

let relay: TestRelay;
let browser: Browser;
let page: { readonly url: string; readonly stop: () => void };

before(async () => {
  if (skip !== false) return;
  relay = await openRelay();
  const { publishableKey } = await relay.project();
  page = await servePage(relay.url, publishableKey);
  const { chromium } = loadPackage("playwright-core") as Playwright;
  const args = ["--no-sandbox", "--enable-features=WebMCP,WebMCPTesting"];
  browser = await chromium.launch({ executablePath: CHROMIUM, args });
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  page.stop();
  await relay[Symbol.asyncDispose]();
});

/** Starts the example's server on a free port. */
function servePage(relayUrl: string, publishableKey: string): Promise<typeof page> {
  const script = join(root, "packages/client/examples/serve.ts");
  const child = spawn(process.execPath, ["-C", "relay-source", script, publishableKey], {
    env: { ...process.env, RELAY_PUBLIC_URL: relayUrl, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      resolve({ url: String(chunk).trim(), stop: () => child.kill() });
    });
    child.on("exit", (code) => reject(new Error(`the page's server ended with ${code}`)));
  });
}

/** Waits until the page says that its relay is in this state. */
async function says(tab: Page, state: string, timeout = 10_000): Promise<void> {
  const script = `document.querySelector("relay-connect").relay?.state.status === "${state}"`;
  await tab.waitForFunction(script, undefined, { timeout });
}

async function urlOf(tab: Page): Promise<string> {
  return String(await tab.evaluate(`document.querySelector("relay-connect").relay.mcpUrl`));
}

async function openTab(context: Context, state: string): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(page.url);
  await says(tab, state);
  return tab;
}

test("a tool of a page is called by a host, and the page shows what it did", { skip }, async () => {
  const context = await browser.newContext();
  const tab = await openTab(context, "online");
  const mcpUrl = await urlOf(tab);
  assert.match(textOf(await callTool(mcpUrl, "search_notes", { query: "tulips" })), /Plant the/);
  assert.equal(textOf(await callTool(mcpUrl, "add_note", { text: "Buy bulbs" })), "Added.");
  assert.match(String(await tab.textContent("#notes")), /Buy bulbs/);
  await context.close();
});

test(
  "one of two tabs leads; closing it promotes the other within 3 s, with the same link",
  { skip },
  async () => {
    const context = await browser.newContext();
    const first = await openTab(context, "online");
    const second = await openTab(context, "standby");
    const mcpUrl = await urlOf(second);
    assert.equal(mcpUrl, await urlOf(first));
    const host = await officialHost("v2", mcpUrl);
    const add = (text: string): Promise<unknown> =>
      host.call({ name: "add_note", arguments: { text } });
    await add("in the first");
    assert.doesNotMatch(String(await second.textContent("#notes")), /in the first/);
    await first.close();
    await says(second, "online", 3_000);
    await add("in the second");
    assert.match(String(await second.textContent("#notes")), /in the second/);
    await host.client.close();
    await context.close();
  },
);

test("a page that is loaded anew has the same URL as before", { skip }, async () => {
  const context = await browser.newContext();
  const tab = await openTab(context, "online");
  const mcpUrl = await urlOf(tab);
  await tab.reload();
  await says(tab, "online");
  assert.equal(await urlOf(tab), mcpUrl);
  await context.close();
});

test("tabs that start at the same moment make one link", { skip }, async () => {
  const context = await browser.newContext();
  const tabs = await Promise.all([context.newPage(), context.newPage(), context.newPage()]);
  await Promise.all(tabs.map((tab) => tab.goto(page.url)));
  await Promise.all(
    tabs.map((tab) =>
      tab.waitForFunction(`!!document.querySelector("relay-connect").relay?.mcpUrl`),
    ),
  );
  const urls = await Promise.all(tabs.map(urlOf));
  assert.equal(new Set(urls).size, 1);
  await context.close();
});

test(
  "tools that a page registers with its browser's own WebMCP are called by a host",
  { skip },
  async (t) => {
    const context = await browser.newContext();
    const tab = await openTab(context, "online");
    if ((await tab.evaluate("document.modelContext === undefined")) === true) {
      return t.skip("this Chromium has no WebMCP");
    }
    const mcpUrl = String(
      await tab.evaluate(`(async () => {
      const { createRelay, memoryStore } = await import("@relay/client/browser");
      const { exposeWebMcp } = await import("/client/webmcp.ts");
      const settings = await (await fetch("settings.json")).json();
      const app = { name: "WebMCP", version: "1" };
      const relay = createRelay({ ...settings, app, tools: [], store: memoryStore() });
      await relay.start();
      exposeWebMcp(relay);
      await document.modelContext.registerTool({
        name: "shout",
        description: "Says it loudly",
        inputSchema: { type: "object", properties: { text: { type: "string" } } },
        execute: ({ text }) => text.toUpperCase(),
      });
      await new Promise((resolve) => relay.on("state", ({ status }) => status === "online" && resolve()));
      return relay.mcpUrl;
    })()`),
    );
    assert.equal(textOf(await callTool(mcpUrl, "shout", { text: "hi" })), "HI");
    await context.close();
  },
);
