/** From a fresh clone's first start to a call seen in the page: what a new user does, and no more. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { callTool, textOf } from "../e2e/harness.ts";
import { launch, whyNoBrowser } from "./browser.ts";
import type { Browser, Page } from "./browser.ts";
import { OPERATOR } from "./operator.ts";
import { assertAccessible, assertSound, openPage } from "./watched-page.ts";

const main = join(import.meta.dirname, "../../packages/server/src/main.ts");
const skip = whyNoBrowser();

let folder: string;
let relay: ChildProcess;
let printed: string;
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), "relay-first-run-"));
  const env = {
    ...process.env,
    RELAY_PORT: "0",
    RELAY_PUBLIC_URL: "http://localhost:0",
    RELAY_DATA_DIR: join(folder, "data"),
    RELAY_LOG_LEVEL: "error",
  };
  relay = spawn(process.execPath, ["-C", "relay-source", main, "serve", "--demo"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  printed = await outputUntil(relay, /Ctrl-C/);
  browser = await launch();
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  const ended = new Promise((resolve) => relay.once("exit", resolve));
  relay.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

/** What a program has printed once it has printed `end`. */
function outputUntil(child: ChildProcess, end: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += String(chunk);
      if (end.test(text)) resolve(text);
    });
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${text}`)));
  });
}

function found(pattern: RegExp, text: string): string {
  const [match] = pattern.exec(text) ?? [];
  assert.ok(match, `${pattern} is not in: ${text}`);
  return match;
}

async function stepDone(page: Page, title: string): Promise<void> {
  await page
    .locator("li")
    .filter({ hasText: `${title}: done` })
    .waitFor();
}

test("a new user gets from the printed link to a call that the page shows", { skip }, async () => {
  const page = await openPage(await browser.newContext());
  const link = found(/http:\S+\/setup#token=\S+/, printed);
  await page.goto(link);
  await page.getByLabel("Your name").waitFor();
  assert.ok(!page.url().includes("token"), "the token leaves the address at once");
  await assertAccessible(page, "set-up");
  await page.getByLabel("Your name").fill(OPERATOR.name);
  await page.getByLabel("E-mail").fill(OPERATOR.email);
  await page.getByLabel("Password").fill(OPERATOR.password);
  await page.getByRole("button", { name: "Set up and go on" }).click();

  // The sample app that came with the start is a project like any other.
  await page.getByRole("link", { name: "Notes" }).click();
  await stepDone(page, "Its tools are known");
  await page.getByText("search_notes, add_note").waitFor();
  assert.equal(await page.getByText("It works").count(), 0);
  const mcpUrl = found(/http:\S+\/v1\/mcp\/ut_\w+/, printed);
  assert.match(textOf(await callTool(mcpUrl)), /notes match/);
  await page.getByRole("heading", { name: "It works" }).waitFor();
  await page.getByRole("link", { name: "See every call" }).click();
  await page
    .locator("tbody tr")
    .filter({ hasText: "search_notes" })
    .filter({ hasText: "ok" })
    .waitFor();
  assertSound(page);
  await page.close();
});

test("the set-up link works once", { skip }, async () => {
  const page = await openPage(await browser.newContext());
  const link = found(/http:\S+\/setup#token=\S+/, printed);
  await page.goto(link);
  await page.getByRole("heading", { name: "This Relay is set up" }).waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").waitFor();
  assertSound(page);
  await page.close();
});

test("a wrong password is refused in words; the right one gets in", { skip }, async () => {
  const page = await openPage(await browser.newContext());
  await page.goto(`${new URL(found(/http:\S+\/setup/, printed)).origin}/account`);
  await page.getByLabel("E-mail").fill(OPERATOR.email);
  await page.getByLabel("Password").fill("correct horse batteries");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "password is wrong" }).waitFor();
  await page.getByText(/req_[0-9a-f]{32}/).waitFor();
  await assertAccessible(page, "sign-in");
  await page.getByLabel("Password").fill(OPERATOR.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  // Back where the sign-in was asked for.
  await page.getByRole("heading", { name: "Your sign-in" }).waitFor();
  assertSound(page);
  await page.close();
});

test(
  "the raw snippet works as pasted, and the list ticks itself to the end",
  { skip },
  async () => {
    const page = await openPage(await browser.newContext());
    await page.goto(`${new URL(found(/http:\S+\/setup/, printed)).origin}/sign-in`);
    await page.getByLabel("E-mail").fill(OPERATOR.email);
    await page.getByLabel("Password").fill(OPERATOR.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByLabel("Name").fill("Garden");
    await page.getByRole("button", { name: "Make the project" }).click();
    await page.getByText("shown this once").waitFor();
    await page.getByRole("button", { name: "Connect the app" }).click();
    await page.getByRole("heading", { name: "First call" }).waitFor();
    await page.getByRole("tab", { name: "Raw WebSocket" }).click();
    const code = await page.locator("pre").first().textContent();
    const file = join(folder, "app.mjs");
    writeFileSync(file, code ?? "");
    const app = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const said = await outputUntil(app, /ut_\w+\n/);
      await stepDone(page, "The app is connected");
      await stepDone(page, "Its tools are known");
      assert.equal(await page.getByText("A call came back: done").count(), 0);
      const answer = await callTool(found(/http:\S+/, said), "search_notes", { query: "tulips" });
      assert.equal(textOf(answer), "You searched for tulips");
      await page.getByRole("heading", { name: "It works" }).waitFor();
      await assertAccessible(page, "getting started");
    } finally {
      app.kill();
    }
    assertSound(page);
    await page.close();
  },
);
