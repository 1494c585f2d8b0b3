/** The pages of links and calls, and trying a tool, in Chromium against a Relay that is in use. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ECHO, SEARCH_TOOL, callTool, connectApp } from "../e2e/harness.ts";
import type { AppBehaviour } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import { Desk } from "./desk.ts";
import { LABELS, fillSample } from "./sample.ts";
import type { Sample } from "./sample.ts";
import { assertAccessible } from "./watched-page.ts";

const LINKS = 10_000;
const skip = whyNoBrowser();
let desk: Desk;
let sample: Sample;

before(async () => {
  if (skip !== false) return;
  const dataDir = mkdtempSync(join(tmpdir(), "relay-pages-"));
  sample = await fillSample(dataDir, { links: LINKS, calls: 400 });
  desk = await Desk.open({}, dataDir);
});
after(async () => {
  if (skip === false) await desk.close();
});

test("10,000 links are searched, filtered, ordered and paged by the server", { skip }, async () => {
  await using view = await desk.at(`/projects/${sample.projectId}/links`);
  await view
    .row(/Device|laptop|iPad/)
    .first()
    .waitFor();
  await view.fill("Search labels", "device 9998");
  await view.row("Device 9998").waitFor();
  assert.equal(await view.page.locator("tbody tr").count(), 1);
  assert.match(view.page.url(), /label=device\+9998/);
  await view.fill("Search labels", "");
  await view.choose("State", "Never connected");
  await view.row("Never connected").first().waitFor();
  await view.choose("Order", "By label");
  await view.press("Show more");
  await view.page.locator("tbody tr").nth(99).waitFor();
  await view.page.reload();
  await view.row("Never connected").first().waitFor();
  await view.choose("State", "Online");
  await view.sees("No link fits");
});

test("labels of any script stand in their own direction, long ones are cut", { skip }, async () => {
  await using view = await desk.at(`/projects/${sample.projectId}/links?sort=createdAt`);
  await view.row(LABELS[1] ?? "").waitFor();
  const direction = await view.page.evaluate<string>(
    `getComputedStyle([...document.querySelectorAll("tbody span")].find((span) => span.textContent === ${JSON.stringify(LABELS[1])})).direction`,
  );
  assert.equal(direction, "rtl");
  await assertAccessible(view.page, "links");
  await view.page.setViewportSize({ width: 360, height: 740 });
  const width = await view.page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(width <= 360, `the page is ${width} px wide on a screen of 360`);
});

test("a revoked link goes offline while it is looked at", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Watched", "links");
  await using view = opened;
  const link = await project.link("Ann’s phone");
  const app = await connectApp(link, ECHO);
  await view.row("Ann’s phone").filter({ hasText: "Online" }).waitFor();
  const path = `/v1/links/${link.linkId}/revoke`;
  await desk.relay.rest("POST", path, project.secretKey, {});
  await view.row("Ann’s phone").filter({ hasText: "Revoked" }).waitFor();
  assert.equal((await app.closed).code, 4410);
});

test("the drawer shows tools, sockets and calls, and acts on the link", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Drawer", "links");
  await using view = opened;
  const link = await project.link("Bo");
  const app = await connectApp(link, ECHO);
  await callTool(link.mcpUrl);
  await view.row("Bo").getByRole("button").click();
  await view.sees("Notes 1.4.2");
  await assertAccessible(view.page, "link drawer");
  await view.page.getByRole("tab", { name: /Tools/ }).click();
  await view.page.getByText("search_notes").last().click();
  await view.sees('"required": [');
  await view.page.getByRole("tab", { name: "Sockets" }).click();
  await view.page.getByText("open", { exact: true }).waitFor();
  await view.page.getByRole("tab", { name: "Calls" }).click();
  await view.page.getByRole("dialog").getByText("ok", { exact: true }).first().waitFor();
  await view.page.getByRole("tab", { name: "Connect a host" }).click();
  await view.sees("Only the app has this link’s URL");
  await view.page.getByRole("tab", { name: "Overview" }).click();
  await view.press("Pause");
  await view.page.getByRole("dialog").getByText("Paused, app online").waitFor();
  await view.press("Resume");
  await view.page.getByRole("dialog").getByText("Online").waitFor();
  await view.fill("Label", "Bo’s laptop");
  await view.press("Change the label");
  await view.row("Bo’s laptop").waitFor();
  await view.press("Rotate…");
  await view.confirm("Bo’s laptop", "Rotate the URL");
  await app.next("link.rotated");
  await view.press("Revoke…");
  await assertAccessible(view.page, "revoke");
  await view.confirm("Bo’s laptop", "Revoke the link");
  assert.equal((await app.closed).code, 4410);
  await view.sees("This link was revoked");
});

test("the live tail keeps up with 200 calls a second, and pauses", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Busy", "calls?view=live");
  await using view = opened;
  await desk.relay.rest("PATCH", "/v1/project", project.secretKey, { callsPerMinute: 6_000 });
  const links = await Promise.all([1, 2, 3, 4].map((number) => project.link(`Busy ${number}`)));
  const apps = await Promise.all(links.map((link) => connectApp(link, ECHO)));
  await view.sees("Live.");
  const rounds = 100;
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(links.map((link) => callTool(link.mcpUrl)));
    const early = (round + 1) * 20 - (performance.now() - startedMs);
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
  }
  // What was too fast to be told one by one is told as a number; none is lost without a word.
  await view.sees(/^Live\. 400 calls since you came|[\d,]+ came too fast/);
  assert.equal(await view.page.locator("tbody tr").count(), 100);
  await view.press("Pause");
  await callTool(links[0]?.mcpUrl ?? "");
  await view.sees("Paused by you.");
  await assertAccessible(view.page, "live tail");
  for (const app of apps) app.socket.terminate();
});

test("calls are charted, filtered by the address, and explained", { skip }, async () => {
  await using view = await desk.at(`/projects/${sample.projectId}/calls?span=7d`);
  await view.sees("400 calls in all");
  await view.page.locator("canvas").waitFor();
  await view.page.getByText("The same as a table").click();
  await view.page.locator("details tbody tr").first().waitFor();
  await view.choose("Outcome", "timeout");
  assert.match(view.page.url(), /outcome=timeout/);
  await view.row("timeout").last().getByRole("button").click();
  await view.sees("Look for work that hangs");
  await view.page.getByText(/^req_/).waitFor();
  await assertAccessible(view.page, "call");
  await view.page.keyboard.press("Escape");
  await view.press("Clear the filters");
  await view.page.getByRole("tab", { name: "Latency" }).click();
  await view.row("search_notes").first().waitFor();
  await assertAccessible(view.page, "calls");
});

const SLOW: AppBehaviour = {
  tools: [SEARCH_TOOL, { name: "wait", inputSchema: { type: "object", anyOf: [{}] } }],
  onCall: (call) =>
    call["tool"] === "wait"
      ? null
      : { type: "result", content: [{ type: "text", text: `<b>${call["arguments"].query}</b>` }] },
};

test("a tool is tried on a trial link: form, frames, answer, cancel", { skip }, async () => {
  const { desk: opened } = await desk.project("Trial", "try");
  await using view = opened;
  await view.press("New trial link");
  await view.sees("Let your app connect with this link");
  const token = await view.page.getByText(/^lt_/).textContent();
  const socketUrl = `${desk.relay.url.replace("http", "ws")}/v1/socket`;
  const link = { linkId: "", linkToken: token ?? "", socketUrl, mcpUrl: "", label: null };
  const app = await connectApp(link, SLOW);
  await view.page.getByLabel(/^query/).fill("tulips");
  await view.press("Call it");
  // Markup of an app is text here.
  await view.page.getByText("<b>tulips</b>", { exact: true }).waitFor();
  await view.page.locator("pre").filter({ hasText: '"type":"call"' }).waitFor();
  await view.choose("Tool", "wait");
  await view.sees("too rich for a form");
  await view.press("Call it");
  await app.next("call");
  await app.next("call");
  await view.press("Cancel the call");
  await view.page.getByRole("heading", { name: "Cancelled" }).waitFor();
  await app.next("cancel");
  await assertAccessible(view.page, "try");
  await view.page.getByText("Connect a host to this link").click();
  await view.page.getByRole("img", { name: /QR code/ }).waitFor();
  assert.match(
    String(await view.page.getByRole("link", { name: "Open in Cursor" }).getAttribute("href")),
    /^cursor:/,
  );
  app.socket.terminate();
});
