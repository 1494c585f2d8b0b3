/** The pages before the sign-in in each of their states, wide and narrow, light and dark. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openRelay } from "../e2e/harness.ts";
import { whyNoBrowser } from "./browser.ts";
import type { Browser } from "./browser.ts";
import { Desk, DeskPage, WIDE } from "./desk.ts";
import { ENTRY_ROUTES } from "./entry-routes.ts";
import { lookOver } from "./look-over.ts";
import { OPERATOR, setUpByRequest, setUpLink } from "./operator.ts";
import { settle } from "./places.ts";
import { totpAt } from "./totp.ts";
import { openPage, refusalsOf } from "./watched-page.ts";

const skip = whyNoBrowser();
let desk: Desk;
const visited = new Set<string>();

before(async () => {
  if (skip === false) desk = await Desk.open();
});
after(async () => {
  if (skip === false) await desk.close();
});

/** A page of somebody who is not signed in. */
async function stranger(browser: Browser): Promise<DeskPage> {
  return new DeskPage(await openPage(await browser.newContext({ viewport: WIDE })));
}

/** Goes to an address, waits for its words, and looks the page over. */
async function look(view: DeskPage, url: string, words: string | RegExp): Promise<void> {
  await view.page.goto(url);
  await view.sees(words);
  await settle(view);
  visited.add(new URL(url).pathname);
  await lookOver(view.page, `${url} with ${words}`);
}

/** What is refused to whoever is not signed in, and nothing else. */
function assertAsked(view: DeskPage, ...expected: readonly string[]): void {
  const refused = new Set(refusalsOf(view.page));
  assert.deepEqual([...refused].toSorted(), expected);
}

test("set-up is sound: without its link, with it, and when it is over", { skip }, async () => {
  await using relay = await openRelay({ RELAY_LOG_LEVEL: "error" });
  await using view = await stranger(desk.browser);
  await look(view, `${relay.url}/projects`, "This Relay is not set up yet");
  await look(view, `${relay.url}/setup`, "This Relay is not set up yet");
  const link = await setUpLink(relay);
  await look(view, link, "You are its first person");
  await setUpByRequest(relay);
  await look(view, `${relay.url}/setup#token=su_over`, "You are its first person");
  await view.page.reload();
  await look(view, link, "This Relay is set up");
  assertAsked(view, "401 /api/me");
});

test(
  "sign-up and a forgotten password are sound, with invitations and open",
  { skip },
  async () => {
    const { relay, browser } = desk;
    await using view = await stranger(browser);
    await look(view, `${relay.url}/sign-up`, "takes people by invitation");
    await look(view, `${relay.url}/forgot-password`, "This Relay sends no mail");
    await look(view, `${relay.url}/reset-password`, "does not work any more");
    await look(view, `${relay.url}/reset-password#token=rp_unknown`, "Choose a new password");
    await view.fill("New password", "a password of no use");
    await view.press("Change the password");
    await view.page.getByRole("alert").waitFor();
    await lookOver(view.page, "reset refused");
    await using open = await openRelay({
      RELAY_LOG_LEVEL: "error",
      RELAY_SIGN_UP: "open",
      RELAY_SMTP_URL: "smtp://127.0.0.1:1",
      RELAY_MAIL_FROM: "relay@example.com",
      RELAY_GITHUB_CLIENT_ID: "client",
      RELAY_GITHUB_CLIENT_SECRET: "secret",
    });
    await setUpByRequest(open);
    await look(view, `${open.url}/sign-up`, "Make the account");
    await look(view, `${open.url}/sign-in`, "Sign in with GitHub");
    await look(view, `${open.url}/forgot-password`, "Send the link");
    await view.fill("E-mail", "nobody@example.com");
    await view.press("Send the link");
    await view.sees("Look into your mail");
    await lookOver(view.page, "letter sent");
    assertAsked(view, "400 /api/auth/reset-password");
  },
);

test("an invitation is sound: over, for somebody new, and for who is in", { skip }, async () => {
  const { relay, browser } = desk;
  const made = await relay.rest("POST", "/v1/operator/invitations", relay.operatorToken, {});
  const link = String(made.body["url"]);
  await using view = await stranger(browser);
  await look(view, `${relay.url}/invitation`, "This invitation does not work");
  await look(view, `${relay.url}/invitation#token=iv_unknown`, "This invitation does not work");
  await look(view, link, "You are invited to this Relay");
  const context = await desk.contextWith({});
  await using person = await desk.at("/team", context);
  await look(person, link, "Use another account");
});

// The last: with the second step the person's other sessions are over.
test("sign-in is sound: empty, refused, and at the second step", { skip }, async () => {
  const { relay, browser } = desk;
  await using view = await stranger(browser);
  await look(view, `${relay.url}/team`, "Forgot the password?");
  await view.fill("E-mail", OPERATOR.email);
  await view.fill("Password", "not this password");
  await view.press("Sign in");
  await view.sees("password is wrong");
  await lookOver(view.page, "refused");
  const { password } = OPERATOR;
  const begun = await desk.ask("POST", "/api/auth/two-factor/enable", { password });
  const secret = new URL(String(begun.body["totpURI"])).searchParams.get("secret") ?? "";
  const code = totpAt(secret, Date.now());
  assert.equal((await desk.ask("POST", "/api/auth/two-factor/verify-totp", { code })).status, 200);
  await look(view, `${relay.url}/sign-in`, "Forgot the password?");
  await view.fill("E-mail", OPERATOR.email);
  await view.fill("Password", password);
  await view.press("Sign in");
  await view.sees("Type the six digits");
  await lookOver(view.page, "second step");
  await view.press("Use a backup code");
  await view.sees("Type one of the backup codes");
  await view.fill("Backup code", "none-of-them");
  await view.press("Sign in");
  await view.sees("none of your backup codes");
  await lookOver(view.page, "backup code");
  assertAsked(
    view,
    "401 /api/auth/sign-in/email",
    "401 /api/auth/two-factor/verify-backup-code",
    "401 /api/me",
  );
});

test("each address before the sign-in is one that these tests went to", { skip }, () => {
  assert.deepEqual(
    ENTRY_ROUTES.filter((route) => !visited.has(route)),
    [],
  );
});
