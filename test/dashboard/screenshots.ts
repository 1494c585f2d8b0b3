/**
 * `node -C relay-source test/dashboard/screenshots.ts [PAGE…]`: pictures of each page, light and
 * dark, of a Relay that has been in use; into docs/screenshots.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { connectApp, openRelay } from "../e2e/harness.ts";
import type { TestApp, TestRelay } from "../e2e/harness.ts";
import { launch, whyNoBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";
import { OPERATOR, setUp } from "./operator.ts";
import { SAMPLE_TOOLS, fillSample } from "./sample.ts";
import type { Sample } from "./sample.ts";

const OUT = process.env["SCREENSHOTS"] ?? join(import.meta.dirname, "../../docs/screenshots");
const wanted = process.argv.slice(2);

type Shot = {
  readonly name: string;
  readonly path: (sample: Sample) => string;
  readonly before?: (page: Page) => Promise<unknown>;
};

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole("button", { name }).first().click();

const SHOTS: readonly Shot[] = [
  { name: "projects", path: () => "/projects" },
  { name: "start", path: ({ projectId }) => `/projects/${projectId}/start` },
  { name: "links", path: ({ projectId }) => `/projects/${projectId}/links` },
  { name: "link", path: (sample) => linkPath(sample, "overview") },
  { name: "link-tools", path: (sample) => linkPath(sample, "tools") },
  { name: "link-sockets", path: (sample) => linkPath(sample, "sockets") },
  { name: "link-calls", path: (sample) => linkPath(sample, "calls") },
  { name: "link-host", path: (sample) => linkPath(sample, "host") },
  {
    name: "link-revoke",
    path: (sample) => linkPath(sample, "overview"),
    before: press("Revoke…"),
  },
  { name: "calls", path: ({ projectId }) => `/projects/${projectId}/calls?span=7d` },
  {
    name: "call",
    path: ({ projectId }) => `/projects/${projectId}/calls?span=7d&outcome=timeout`,
    before: (page) => page.locator("tbody button").first().click(),
  },
  { name: "calls-live", path: ({ projectId }) => `/projects/${projectId}/calls?view=live` },
  { name: "latency", path: ({ projectId }) => `/projects/${projectId}/calls?span=7d&view=latency` },
  {
    name: "try",
    path: ({ projectId }) => `/projects/${projectId}/try`,
    before: async (page) => {
      await press("New trial link")(page);
      await page.getByText("Let your app connect with this link").waitFor();
    },
  },
  { name: "usage", path: ({ projectId }) => `/projects/${projectId}/usage` },
  { name: "settings", path: ({ projectId }) => `/projects/${projectId}/settings` },
  { name: "team", path: () => "/team" },
  { name: "audit", path: () => "/audit" },
  { name: "account", path: () => "/account" },
  { name: "operator", path: () => "/operator" },
  { name: "operator-accounts", path: () => "/operator/accounts" },
  { name: "operator-projects", path: () => "/operator/projects" },
  { name: "operator-limits", path: () => "/operator/limits" },
];

function linkPath({ projectId, links }: Sample, tab: string): string {
  return `/projects/${projectId}/links?link=${links[1]?.linkId}&tab=${tab}`;
}

const SIZE = { viewport: { width: 1280, height: 860 } };

const why = whyNoBrowser();
if (why !== false) throw new Error(why);
mkdirSync(OUT, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), "relay-screenshots-"));
const sample = await fillSample(dataDir, { links: 64, calls: 4_000 });
const browser = await launch();
await using relay = await openRelay({ RELAY_LOG_LEVEL: "error" }, dataDir);
const apps = await connectSome(relay, sample);
try {
  await entryPages(relay);
  await signedInPages(relay);
} finally {
  await browser.close();
  for (const app of apps) app.socket.terminate();
}

async function connectSome(open: TestRelay, { links }: Sample): Promise<TestApp[]> {
  const tools = { tools: SAMPLE_TOOLS, instructions: "Notes is the person's local notebook." };
  const connected = links.slice(0, 7).map(({ linkId, linkToken }) => {
    const socketUrl = `${open.url.replace("http", "ws")}/v1/socket`;
    return connectApp({ linkId, linkToken, socketUrl, mcpUrl: "", label: null }, tools);
  });
  return Promise.all(connected);
}

/** The pages before the sign-in; the set-up link last, since it works once. */
async function entryPages(open: TestRelay): Promise<void> {
  const context = await browser.newContext(SIZE);
  const page = await context.newPage();
  const link = await open.relay.people.setUp.mintLink();
  await page.goto(String(link));
  await shoot(page, "setup");
  await setUp(open, page);
  await context.close();
  const fresh = await browser.newContext(SIZE);
  const entry = await fresh.newPage();
  await entry.goto(`${open.url}/sign-in`);
  await entry.getByLabel("E-mail").fill(OPERATOR.email);
  await entry.getByLabel("Password").fill("not this one, I fear");
  await press("Sign in")(entry);
  await entry.getByRole("alert").waitFor();
  await shoot(entry, "sign-in");
  await entry.goto(`${open.url}/forgot-password`);
  await shoot(entry, "forgot-password");
  await fresh.close();
}

async function signedInPages(open: TestRelay): Promise<void> {
  const context = await browser.newContext(SIZE);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${open.url}/sign-in`);
  await page.getByLabel("E-mail").fill(OPERATOR.email);
  await page.getByLabel("Password").fill(OPERATOR.password);
  await press("Sign in")(page);
  await page.waitForURL(/\/projects/);
  for (const { name, path, before } of SHOTS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await page.goto(`${open.url}${path(sample)}`);
    await page.getByRole("heading").first().waitFor();
    await before?.(page);
    await shoot(page, name);
  }
  await page.setViewportSize({ width: 360, height: 780 });
  for (const name of ["start", "links", "calls", "settings"]) {
    const shot = SHOTS.find((each) => each.name === name);
    if (shot === undefined || (wanted.length > 0 && !wanted.includes(`${name}-narrow`))) continue;
    await page.goto(`${open.url}${shot.path(sample)}`);
    await page.getByRole("heading").first().waitFor();
    await shoot(page, `${name}-narrow`);
  }
  await context.close();
}

async function shoot(page: Page, name: string): Promise<void> {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
    // Charts are drawn anew for the other colours.
    await setTimeout(350);
    await page.screenshot({ path: join(OUT, `dashboard-${name}-${colorScheme}.png`) });
  }
  process.stdout.write(`${name}\n`);
}
