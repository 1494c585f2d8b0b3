/** Lists narrowed down, and the operator's lists by people's names, in Chromium. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { META_KEYS } from "../../packages/protocol/src/index.ts";
import { ECHO, callTool, connectApp } from "../e2e/harness.ts";
import type { JsonObject, TestProject } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import { Desk } from "./desk.ts";
import type { DeskPage } from "./desk.ts";
import { OPERATOR } from "./operator.ts";
import { assertAccessible } from "./watched-page.ts";

const skip = whyNoBrowser();
let desk: Desk;

before(async () => {
  if (skip === false) desk = await Desk.open({ RELAY_BILLING: "prepaid", RELAY_SIGN_UP: "open" });
});
after(async () => {
  if (skip === false) await desk.close();
});

/** One request as the page's own session makes it; throws unless it was answered well. */
function asked(view: DeskPage, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return view.page.evaluate<JsonObject>(`
    fetch(${JSON.stringify(path)}, { ...${JSON.stringify(init)}, headers: { "Content-Type": "application/json" } })
      .then(async (answer) => { if (!answer.ok) throw new Error(await answer.text()); return answer.json(); })`);
}

/** How many rows the table of this name has. */
function rows(view: DeskPage, name: string): Promise<number> {
  return view.page.getByRole("group", { name, exact: true }).locator("tbody tr").count();
}

/** The host names itself as modern hosts do in every call. */
async function callAs(project: TestProject, name: string, times: number): Promise<void> {
  const link = await project.link(`Called by ${name}`);
  const app = await connectApp(link, ECHO);
  for (let call = 0; call < times; call += 1) {
    const meta = { [META_KEYS.clientInfo]: { name, version: "1" } };
    await callTool(link.mcpUrl, "search_notes", { query: "tulips" }, { _meta: meta });
  }
  await app.close();
}

test(
  "trial links are offered for a try whatever their label, a person's never",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Trials", "try");
    await using view = opened;
    await view.page.getByRole("button", { name: "New trial link" }).waitFor();
    const path = `/api/projects/${project.projectId}/trial-links`;
    const made = await asked(view, "POST", path, { label: "My phone" });
    await project.link("Trial of a person");
    await view.page.reload();
    const options = view.page.getByLabel("Trial link").locator("option");
    await options.filter({ hasText: "My phone" }).waitFor({ state: "attached" });
    assert.equal(await options.filter({ hasText: "of a person" }).count(), 0);
    await view.choose("Trial link", "My phone (offline)");
    await view.page.waitForURL(new RegExp(`link=${made["linkId"]}`));
    await view.sees("The app is not connected with this link");
  },
);

test("links are narrowed to people's or to trial links, in the address", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Whose", "links");
  await using view = opened;
  await view.sees("No links yet");
  const path = `/api/projects/${project.projectId}/trial-links`;
  await asked(view, "POST", path, { label: "To try" });
  await project.link("Ann’s phone");
  await view.page.reload();
  await view.row("Ann’s phone").waitFor();
  assert.equal(await rows(view, "Links"), 2);
  await view.choose("Whose", "Trial links");
  await view.row("Ann’s phone").waitFor({ state: "detached" });
  await view.row("To try").waitFor();
  await view.page.waitForURL(/trial=true/);
  await view.choose("Whose", "People’s links");
  await view.row("To try").waitFor({ state: "detached" });
  await view.row("Ann’s phone").waitFor();
  await view.page.reload();
  await view.row("Ann’s phone").waitFor();
  assert.equal(await rows(view, "Links"), 1);
  await assertAccessible(view.page, "people's links");
});

test(
  "calls are narrowed to one of the hosts seen, in the list and in the live tail",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Hosts", "usage");
    await using view = opened;
    const [busy, rare] = ["Claude & <i>co</i>", "مضيف ليلى"];
    await callAs(project, busy, 3);
    await callAs(project, rare, 1);
    await view.page.goto(`${desk.relay.url}/projects/${project.projectId}/calls`);
    await view.row(rare).waitFor();
    const hosts = view.page.getByLabel("Host", { exact: true }).locator("option");
    await hosts.filter({ hasText: rare }).waitFor({ state: "attached" });
    const offered = [];
    for (let at = 0; at < 3; at += 1) offered.push(await hosts.nth(at).textContent());
    assert.deepEqual(offered, ["Any host", busy, rare], "the busiest first");
    await view.choose("Host", rare);
    await view.row(busy).first().waitFor({ state: "detached" });
    assert.equal(await rows(view, "Calls"), 1);
    await view.sees("not narrowed by host");
    await view.page.reload();
    await view.row(rare).waitFor();
    assert.equal(await rows(view, "Calls"), 1);
    await assertAccessible(view.page, "calls of one host");
    await view.page.getByRole("tab", { name: "Live tail" }).click();
    await view.sees("Live. 0 calls");
    await callAs(project, busy, 1);
    await callAs(project, rare, 1);
    await view.row(rare).waitFor();
    assert.equal(await rows(view, "Calls as they happen"), 1);
    await view.press("Clear the filters");
    await view.page.getByRole("tab", { name: "List" }).click();
    await view.row(busy).nth(3).waitFor();
    assert.doesNotMatch(view.page.url(), /client=/);
  },
);

test("a host of the address that made no call is still what is chosen", { skip }, async () => {
  const { desk: opened } = await desk.project("Quiet", "calls?client=Nobody%20yet");
  await using view = opened;
  await view.sees("No calls here");
  assert.equal(await view.page.getByLabel("Host", { exact: true }).inputValue(), "Nobody yet");
});

test("accounts and projects of all are known by name and by their owner", { skip }, async () => {
  const { accounts } = desk.relay.relay.people;
  const person = {
    name: "Leila حسن",
    email: "leila@example.com",
    password: "correct horse battery",
  };
  await accounts.createUser(person);
  const origin = { address: "127.0.0.1", userAgent: "test" };
  const { cookies } = await accounts.signIn(person.email, person.password, origin);
  const headers = {
    Cookie: cookies.map((cookie) => cookie.slice(0, cookie.indexOf(";"))).join("; "),
    Origin: new URL(desk.relay.url).origin,
  };
  // The first look makes the account.
  await desk.relay.rest("GET", "/api/me", null, undefined, headers);
  const body = { name: "Owned by Leila" };
  const made = await desk.relay.rest("POST", "/api/projects", null, body, headers);
  assert.equal(made.status, 201);
  await desk.relay.rest("POST", "/v1/operator/accounts", desk.relay.operatorToken);
  await using view = await desk.at("/operator/accounts");
  const table = view.page.getByRole("group", { name: "Accounts" });
  const row = (text: string) => table.locator("tbody tr").filter({ hasText: text });
  await row("leila@example.com").filter({ hasText: person.name }).waitFor();
  await row(OPERATOR.email).filter({ hasText: "operator" }).waitFor();
  await row("Nobody owns it").filter({ hasText: "No name" }).waitFor();
  await assertAccessible(view.page, "accounts with names");
  await row("leila@example.com").getByRole("button", { name: "Credit…" }).click();
  await view.page.getByRole("heading", { name: `Book credit for ${person.name}` }).waitFor();
  await view.page.goto(`${desk.relay.url}/operator/projects`);
  await view.row("Owned by Leila").filter({ hasText: "leila@example.com" }).waitFor();
  await view.page.setViewportSize({ width: 390, height: 800 });
  const button = view.row("Owned by Leila").getByRole("button", { name: "Suspend…" });
  const right = `[...document.querySelectorAll("tbody button")].at(-1).getBoundingClientRect().right`;
  await button.waitFor();
  assert.ok((await view.page.evaluate<number>(right)) <= 390, "what can be done is in reach");
});

test(
  "the terms begin with those in force; what is changed alone is set, and said",
  { skip },
  async () => {
    const project = await desk.relay.project({
      name: "Priced",
      freeCallsPerMonth: 1_500,
      priceMicrosPerCall: 2_500,
    });
    await using view = await desk.at("/operator/projects");
    await view.row("Priced").waitFor();
    // Set by somebody else since the list was read.
    await project.change({ freeCallsPerMonth: 1_600 });
    await view.row("Priced").getByRole("button", { name: "Terms…" }).click();
    const value = (label: string) => view.page.getByLabel(label, { exact: true }).inputValue();
    await view.sees("These terms are in force.");
    assert.deepEqual(
      [await value("Free calls a month"), await value("Price of a call")],
      ["1600", "0.0025"],
    );
    const set = view.page.getByRole("button", { name: "Set the terms" });
    assert.notEqual(await set.getAttribute("disabled"), null);
    await assertAccessible(view.page, "terms");
    await view.fill("Price of a call", "0.003");
    await view.sees("Price of a call: 0.0025 → 0.003.");
    // While this dialog is open, too.
    await project.change({ freeCallsPerMonth: 1_700 });
    await view.press("Set the terms");
    await view.sees("The terms are set. Price of a call: 0.0025 → 0.003.");
    const path = `/v1/operator/projects/${project.projectId}`;
    const { body } = await desk.relay.rest("GET", path, desk.relay.operatorToken);
    assert.deepEqual([body["freeCallsPerMonth"], body["priceMicrosPerCall"]], [1_700, 3_000]);
    await view.row("Priced").getByRole("button", { name: "Terms…" }).click();
    await view.page.getByLabel("Unlimited").check();
    await view.sees("Free calls a month: 1,700 → unlimited.");
    await view.press("Set the terms");
    await view.sees("The terms are set. Free calls a month: 1,700 → unlimited.");
  },
);
