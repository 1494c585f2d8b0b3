/** What pages are told without asking: they tick while looked at, and nothing passes while not. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { EventReader } from "../e2e/event-reader.ts";
import { ECHO, callTool, connectApp, post } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";
import { Desk } from "./desk.ts";
import { assertAccessible } from "./watched-page.ts";

const skip = whyNoBrowser();
const PATIENCE_MS = 20_000;
const STARTED = "http.server.request.start";
let desk: Desk;
/** What pages have asked under `/api`, in order, and the streams of it that are open. */
const asked: string[] = [];
const streams = new Set<ServerResponse>();

/** The server is in this process: what it is asked is seen where Node tells it. */
function note(message: unknown): void {
  // The shape that Node documents for this channel.
  const { request, response } = message as {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  };
  const path = request.url ?? "";
  if (!path.startsWith("/api/")) return;
  asked.push(path);
  if (!path.endsWith("/events")) return;
  streams.add(response);
  response.once("close", () => streams.delete(response));
}

before(async () => {
  if (skip !== false) return;
  desk = await Desk.open();
  subscribe(STARTED, note);
});
after(async () => {
  if (skip !== false) return;
  unsubscribe(STARTED, note);
  await desk.close();
});

/** Has the page take itself for hidden, or seen again, as a browser tells it. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} });
    Object.defineProperty(document, "visibilityState", {
      configurable: true,
      get: () => ${isHidden ? '"hidden"' : '"visible"'},
    });
    document.dispatchEvent(new Event("visibilitychange"));`);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!holds()) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets six seconds of the operator's readings pass: longer than any page ever waited to ask again. */
async function threeReadings(): Promise<void> {
  const reader = await EventReader.open(`${desk.relay.url}/v1/operator/events`, {
    headers: { Authorization: `Bearer ${desk.relay.operatorToken}` },
  });
  for (let count = 0; count < 4; count += 1) await reader.nextOf("health");
  reader.leave();
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "claude-ai", version: "3" },
  },
};

test(
  "the checklist ticks while it is looked at, and the page asks for it once",
  { skip },
  async () => {
    asked.length = 0;
    const { project, desk: opened } = await desk.project("Ticking", "start");
    await using view = opened;
    const done = (title: string): Promise<void> =>
      view.page
        .locator("li")
        .filter({ hasText: `${title}: done` })
        .waitFor();
    await view.sees("Listening; you need not reload.");
    const link = await project.link("Phone");
    await done("A link is created");
    await connectApp(link, ECHO);
    await done("The app is connected");
    await done("Its tools are known");
    await post(link.mcpUrl, INITIALIZE);
    await done("A host has called in");
    await view.sees("claude-ai 3");
    await assertAccessible(view.page, "start");
    await threeReadings();
    await callTool(link.mcpUrl);
    await done("A call came back");
    await view.sees("It works");
    const checklists = asked.filter((path) => path.endsWith("/checklist"));
    assert.ok(checklists.length <= 1, checklists.join(" "));
  },
);

test(
  "the checklist's stream ends with the look, and what was missed shows at the next",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Hidden", "start");
    await using view = opened;
    await view.sees("Listening; you need not reload.");
    await setHidden(view.page, true);
    await until("the stream ends", () => streams.size === 0);
    await view.sees("Waits while this page is not looked at.");
    asked.length = 0;
    await project.link("Phone");
    await threeReadings();
    assert.deepEqual(asked, []);
    await setHidden(view.page, false);
    await view.page.locator("li").filter({ hasText: "A link is created: done" }).waitFor();
    await view.sees("Listening; you need not reload.");
  },
);

test(
  "health changes without a reload, and nothing is asked while it is not looked at",
  { skip },
  async () => {
    asked.length = 0;
    const first = desk.relay.relay.node.registry.connectedCount;
    await using view = await desk.at("/operator");
    const project = await desk.relay.project({ name: "Healthy" });
    const { page } = view;
    await view.sees("Live: a new reading every two seconds.");
    const links = (count: number): Promise<void> =>
      page
        .locator("dt:text-is('Links connected') + dd")
        .filter({ hasText: new RegExp(`^${count}$`) })
        .waitFor();
    await links(first);
    await connectApp(await project.link("One"), ECHO);
    await links(first + 1);
    await assertAccessible(page, "health");
    assert.deepEqual(
      asked.filter((path) => /operator\/(health|stats)/.test(path)),
      [],
    );
    await setHidden(page, true);
    await until("the stream ends", () => streams.size === 0);
    await view.sees("Waits while this page is not looked at.");
    asked.length = 0;
    await connectApp(await project.link("Two"), ECHO);
    await threeReadings();
    assert.deepEqual(asked, []);
    await links(first + 1);
    await setHidden(page, false);
    await links(first + 2);
  },
);
