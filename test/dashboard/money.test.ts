/** Usage, credit and the operator's pages, in Chromium against a Relay with prepaid billing. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ECHO, callTool, connectApp, textOf } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import { Desk } from "./desk.ts";
import { assertAccessible } from "./watched-page.ts";

const skip = whyNoBrowser();
let desk: Desk;

before(async () => {
  if (skip === false) desk = await Desk.open({ RELAY_BILLING: "prepaid" });
});
after(async () => {
  if (skip === false) await desk.close();
});

test("pages of others, of nobody and of nothing say so", { skip }, async () => {
  await using view = await desk.at("/projects/0199c4e2-5b7a-7d31-8f2e-6a1c9b3d4e57/links");
  await view.sees("There is no such project here");
  await assertAccessible(view.page, "no such project");
  const context = await desk.browser.newContext();
  await using stranger = await desk.at("/forgot-password", context);
  await stranger.sees("This Relay sends no mail");
  await assertAccessible(stranger.page, "forgot password");
  await stranger.page.goto(`${desk.relay.url}/sign-up`);
  await stranger.sees("takes people by invitation");
});

test(
  "a reached cap is shown where calls are, and raising it lets them pass",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Capped", "usage");
    await using view = opened;
    await project.change({ freeCallsPerMonth: 1, priceMicrosPerCall: 10_000 });
    await desk.relay.rest("PATCH", "/v1/project", project.secretKey, { spendCapMicros: 0 });
    const link = await project.link();
    const app = await connectApp(link, ECHO);

    // Credit first, so that the cap alone is in the way.
    await using operator = await desk.at("/operator/accounts");
    await operator.row("operator").getByRole("button", { name: "Credit…" }).click();
    await operator.fill("Amount", "5");
    await operator.fill("Note", "A gift <i>of the house</i>");
    await assertAccessible(operator.page, "credit");
    await operator.press("Book it");
    await operator.row("operator").filter({ hasText: "5.00" }).waitFor();

    assert.match(textOf(await callTool(link.mcpUrl)), /invoices/);
    assert.match(textOf(await callTool(link.mcpUrl)), /spend cap reached/);
    await view.page.reload();
    await view.sees("Calls are refused now");
    await view.sees("spend cap is reached");
    await assertAccessible(view.page, "usage at the cap");
    await view.press("Change the cap");
    await view.fill("Cap", "1.00");
    await view.press("Set the cap");
    await view.gone("Calls are refused now");
    // One paid call costs 0.01 of the 1.00 that the cap leaves.
    await view.page.locator("dd").filter({ hasText: /^100$/ }).waitFor();
    assert.match(textOf(await callTool(link.mcpUrl)), /invoices/);
    await view.page.reload();
    await view.page.locator("dd").filter({ hasText: /^99$/ }).waitFor();
    await view.row("A gift <i>of the house</i>").filter({ hasText: "+5.00" }).waitFor();
    await view.row("usage").filter({ hasText: "-0.01" }).waitFor();
    await view.page.goto(
      `${desk.relay.url}/projects/${project.projectId}/calls?outcome=cap_reached`,
    );
    await view.row("cap_reached").last().getByRole("button").first().click();
    await view.sees("Raise it on the Usage page");
    app.socket.terminate();
  },
);

test(
  "the operator suspends a project, sets its terms, and reads the limits",
  { skip },
  async () => {
    const { project, desk: opened } = await desk.project("Suspect", "start");
    await using view = opened;
    await using operator = await desk.at("/operator/projects");
    const row = operator.row("Suspect");
    await row.getByRole("button", { name: "Suspend…" }).click();
    await operator.confirm("Suspect", "Suspend it");
    await row.filter({ hasText: "suspended" }).waitFor();
    await assertAccessible(operator.page, "all projects");
    await view.page.reload();
    await view.sees("This project is suspended by the operator");
    await row.getByRole("button", { name: "Lift…" }).click();
    await operator.confirm(null, "Lift it");
    await row.getByRole("button", { name: "Suspend…" }).waitFor();
    await row.getByRole("button", { name: "Terms…" }).click();
    await operator.fill("Free calls a month", "7");
    await operator.press("Set the terms");
    await operator.sees("The terms are set.");
    const usage = await desk.relay.rest("GET", "/v1/usage", project.secretKey);
    assert.equal(usage.body["allowance"], 7);
    await operator.page.goto(`${desk.relay.url}/operator/limits`);
    await operator.row("RELAY_CALLS_IN_FLIGHT").filter({ hasText: "8" }).waitFor();
    await assertAccessible(operator.page, "limits");
  },
);

// The last: with the new password every session of the person ends.
test(
  "the operator sees health, makes a password link, and downloads a backup",
  { skip },
  async () => {
    await using view = await desk.at("/operator");
    await view.sees("takes calls");
    await view.sees("Live: a new reading every two seconds.");
    await view.row("Sets up the first account").first().waitFor();
    await assertAccessible(view.page, "health");
    const backup = view.page.getByRole("link", { name: "Download a backup" });
    assert.equal(await backup.getAttribute("href"), "/api/operator/backup");
    const bytes = await view.page.evaluate<number>(
      `fetch("/api/operator/backup").then((answer) => answer.arrayBuffer()).then((body) => body.byteLength)`,
    );
    assert.ok(bytes > 10_000);
    await view.page.goto(`${desk.relay.url}/operator/accounts`);
    await view.press("Password link");
    const link = await view.page
      .getByRole("dialog")
      .getByText(/reset-password#token=/)
      .textContent();
    await view.press("Done");
    await view.press("Invite…");
    await view.page.getByLabel(/^Note for yourself/).fill("Cy");
    await view.press("Make the invitation");
    await view.press("Done");
    await view.row("Cy").getByRole("button", { name: "Take back" }).click();
    await view.row("Cy").waitFor({ state: "detached" });
    await assertAccessible(view.page, "accounts");
    const context = await desk.browser.newContext();
    await using reset = await desk.at(
      new URL(link ?? "").pathname + new URL(link ?? "").hash,
      context,
    );
    await reset.fill("New password", "a brand new password");
    await reset.press("Change the password");
    await reset.sees("The password is changed");
  },
);
