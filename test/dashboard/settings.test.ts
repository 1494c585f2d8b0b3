/** Settings, team, the own sign-in and the operator's pages, in Chromium against a real Relay. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { ECHO, connectApp } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import { Desk, DeskPage } from "./desk.ts";
import { OPERATOR } from "./operator.ts";
import { totpAt } from "./totp.ts";
import { assertAccessible, openPage } from "./watched-page.ts";

const skip = whyNoBrowser();
let desk: Desk;

before(async () => {
  if (skip === false) desk = await Desk.open({ RELAY_WEBHOOK_PRIVATE_ADDRESSES: "on" });
});
after(async () => {
  if (skip === false) await desk.close();
});

test(
  "name, calls a minute and origins are kept, and a refused origin is offered",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Set", "settings");
    await using view = opened;
    await view.fill("Name", "Set anew");
    await view.fill("Calls a minute, for each link", "120");
    await view.press("Keep these");
    await view.sees("The settings are kept.");
    await view.fill("Add an origin", "https://app.example.com/");
    await view.press("Add");
    await view.page.getByRole("alert").filter({ hasText: "without a path" }).waitFor();
    await view.fill("Add an origin", "https://app.example.com");
    await view.press("Add");
    await view.page.getByRole("button", { name: "Remove https://app.example.com" }).waitFor();
    const headers = { Origin: "https://other.example.com" };
    const refused = await desk.relay.rest("POST", "/v1/links", project.publishableKey, {}, headers);
    assert.equal(refused.status, 403);
    await view.page.reload();
    await view.press("Allow it");
    await view.page.getByRole("button", { name: "Remove https://other.example.com" }).waitFor();
    const kept = await desk.relay.rest("GET", "/v1/project", project.secretKey);
    assert.equal(kept.body["name"], "Set anew");
    assert.equal(kept.body["callsPerMinute"], 120);
    await assertAccessible(view.page, "settings");
  },
);

test("a refused origin is named on the start page, and allowed from there", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Origin", "start");
  await using view = opened;
  await project.change({ allowedOrigins: ["https://right.example.com"] });
  const headers = { Origin: "https://wrong.example.com" };
  await desk.relay.rest("POST", "/v1/links", project.publishableKey, {}, headers);
  await view.sees("The app could not connect");
  await view.page.getByRole("button", { name: /Allow https:\/\/wrong/ }).click();
  await view.sees("The origin is allowed");
  const made = await desk.relay.rest("POST", "/v1/links", project.publishableKey, {}, headers);
  assert.equal(made.status, 201);
});

test("a key is replaced with an overlap, and revoked", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Keys", "settings");
  await using view = opened;
  await view.press("New key");
  await view.choose("In place of", `pk_…${project.publishableKey.slice(-4)}`);
  await view.choose("The old key", "Let it run for 7 days");
  await assertAccessible(view.page, "new key");
  await view.press("Make the key");
  const key = await view.page
    .getByRole("dialog")
    .getByText(/^pk_\w{32}$/)
    .textContent();
  await view.press("I have it");
  await view.row(project.publishableKey.slice(-4)).filter({ hasText: "ends" }).waitFor();
  assert.equal((await desk.relay.rest("POST", "/v1/links", key, {})).status, 201);
  await view.row(project.secretKey.slice(-4)).getByRole("button", { name: "Revoke…" }).click();
  await view.confirm(project.secretKey.slice(-4), "Revoke the key");
  await view.row(project.secretKey.slice(-4)).filter({ hasText: "revoked" }).waitFor();
  assert.equal((await desk.relay.rest("GET", "/v1/project", project.secretKey)).status, 401);
});

test("a key wants the password again after 15 minutes, and then is made", { skip }, async () => {
  const { desk: opened } = await desk.project("Stale", "settings");
  await using view = opened;
  const database = new DatabaseSync(join(desk.relay.dataDir, "auth.db"), { timeout: 5_000 });
  const earlier = new Date(Date.now() - 16 * 60_000).toISOString();
  database.prepare("UPDATE session SET createdAt = ?").run(earlier);
  database.close();
  await view.press("New key");
  await view.press("Make the key");
  await view.sees("Your password, please");
  await assertAccessible(view.page, "password again");
  await view.fill("Password", "no, not this");
  await view.press("Go on");
  await view.sees("The password is wrong");
  await view.fill("Password", OPERATOR.password);
  await view.press("Go on");
  await view.press("I have it");
});

test("a webhook is set, tested and removed", { skip }, async () => {
  const server = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const { desk: opened } = await desk.project("Hook", "settings");
  await using view = opened;
  await view.fill("Address", `http://127.0.0.1:${port}/hook`);
  await view.press("Keep the address");
  await view.page.getByText(/^whsec_/).waitFor();
  await view.press("Send a test");
  await view.row("test").first().waitFor();
  await view.press("New signing secret");
  await view.sees("The webhook is kept.");
  await view.fill("Address", "");
  await view.press("Remove the webhook");
  await view.sees("No events are sent any more.");
  server.close();
});

test("a project is stopped, started and deleted by its name", { skip }, async () => {
  const { project, desk: opened } = await desk.project("Over <b>soon</b>", "settings");
  await using view = opened;
  const app = await connectApp(await project.link(), ECHO);
  await view.press("Stop it…");
  await view.confirm(null, "Stop it");
  await view.sees("This project is stopped");
  assert.equal((await app.closed).code, 4423);
  await view.press("Start it");
  await view.gone("This project is stopped");
  await view.press("Delete it…");
  await assertAccessible(view.page, "delete");
  await view.confirm("Over <b>soon</b>", "Delete it");
  await view.page.waitForURL(/\/projects$/);
  await view.row("Over").waitFor({ state: "detached" });
});

test("somebody joins by an invitation link, gets a role, and is removed", { skip }, async () => {
  await using view = await desk.at("/team");
  await view.press("Invite…");
  await view.page.getByLabel(/^Note for yourself/).fill("Bo");
  await view.choose("Role", "developer");
  await assertAccessible(view.page, "invite");
  await view.press("Make the invitation");
  const link = await view.page
    .getByRole("dialog")
    .getByText(/#token=/)
    .textContent();
  await view.press("Done");
  await view.row("Bo").waitFor();
  const context = await desk.browser.newContext();
  const guest = new DeskPage(await openPage(context));
  await guest.page.goto(link ?? "");
  await guest.sees("You are invited to");
  await assertAccessible(guest.page, "invitation");
  await guest.fill("Your name", "Bo Ek");
  await guest.fill("E-mail", "bo@example.com");
  await guest.fill("Password", "another long password");
  await guest.press("Make an account and join");
  await guest.page.getByRole("heading", { name: "Projects" }).waitFor();
  assert.equal(await guest.page.getByText("Operator", { exact: true }).count(), 0);
  await guest.page.goto(link ?? "");
  await guest.sees("This invitation does not work");
  await guest[Symbol.asyncDispose]();
  await context.close();
  await view.page.reload();
  await view.page.getByLabel("Role of Bo Ek").selectOption({ label: "billing" });
  await view.sees("The role is changed.");
  await assertAccessible(view.page, "team");
  await view.row("Bo Ek").getByRole("button", { name: "Remove…" }).click();
  await view.confirm("bo@example.com", "Remove");
  await view.row("Bo Ek").waitFor({ state: "detached" });
});

test("the audit log tells it all, and no secret", { skip }, async () => {
  await using view = await desk.at("/audit");
  await view.row("Makes a key").first().waitFor();
  await assertAccessible(view.page, "audit");
  await view.row("Changes a member's role").first().getByRole("button").click();
  await view.sees('"billing"');
  const text = await view.page.evaluate<string>("document.body.innerText");
  assert.doesNotMatch(text, /\b(?:sk|pk|iv|lt|ut)_\w{8}/);
});

test("a passkey is added, signs in with nothing typed, and is removed", { skip }, async () => {
  const view = await desk.at("/account");
  const authenticator = await desk.context.newCDPSession(view.page);
  await authenticator.send("WebAuthn.enable");
  await authenticator.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  await view.fill("Name of this device", "Test key");
  await view.press("Add a passkey");
  await view.page.locator("li").filter({ hasText: "Test key" }).waitFor();
  await view.page.getByRole("button", { name: OPERATOR.name }).click();
  await view.page.getByRole("menuitem", { name: "Sign out" }).click();
  await view.press("Sign in with a passkey");
  await view.page.getByRole("navigation", { name: "Pages" }).waitFor();
  await view.page.goto(`${desk.relay.url}/account`);
  await view.page
    .locator("li")
    .filter({ hasText: "Test key" })
    .getByRole("button", { name: "Remove" })
    .click();
  await view.sees("You have none yet.");
  await view[Symbol.asyncDispose]();
});

test("password, second step and sessions of the own sign-in", { skip }, async () => {
  const context = await desk.browser.newContext();
  const view = new DeskPage(await openPage(context));
  await view.page.goto(`${desk.relay.url}/sign-in?next=/account`);
  await view.fill("E-mail", OPERATOR.email);
  await view.fill("Password", OPERATOR.password);
  await view.press("Sign in");
  await view.sees("this one");
  await view.fill("Your password", OPERATOR.password);
  await view.press("Set it up");
  const secret = await view.page
    .getByText(/^[A-Z2-7]{32,}$/)
    .first()
    .textContent();
  await assertAccessible(view.page, "second step");
  await view.fill("The code it shows now", totpAt(secret ?? "", Date.now()));
  await view.press("Switch it on");
  await view.sees("The second step is on.");
  await view.page.getByRole("button", { name: OPERATOR.name }).click();
  await view.page.getByRole("menuitem", { name: "Sign out" }).click();
  await view.fill("E-mail", OPERATOR.email);
  await view.fill("Password", OPERATOR.password);
  await view.press("Sign in");
  await view.fill("Code", "000000");
  await assertAccessible(view.page, "second step at sign-in");
  await view.press("Sign in");
  await view.sees("The code is wrong");
  await view.fill("Code", totpAt(secret ?? "", Date.now()));
  await view.press("Sign in");
  await view.page.getByRole("navigation", { name: "Pages" }).waitFor();
  await view.page.goto(`${desk.relay.url}/account`);
  await view.fill("Your password", OPERATOR.password);
  await view.press("Switch it off");
  await view.sees("The second step is off.");
  await view.press("Sign out all others");
  await view.sees("Signed out there.");
  await assertAccessible(view.page, "account");
  await view[Symbol.asyncDispose]();
  await context.close();
});
