/** Signing in by GitHub, letters that the page's flows go by, and where a sign-in leads to. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { whyNoBrowser } from "./browser.ts";
import { Desk, DeskPage, WIDE } from "./desk.ts";
import { GITHUB_APP, GitHubStandIn } from "./github-stand-in.ts";
import { MailCatcher } from "./mail-catcher.ts";
import { OPERATOR } from "./operator.ts";
import { openPage } from "./watched-page.ts";

const skip = whyNoBrowser();
let github: GitHubStandIn;
let mail: MailCatcher;
/** Open to everybody, with GitHub and with mail. */
let open: Desk;
/** By invitation, with GitHub and with mail. */
let closed: Desk;

before(async () => {
  if (skip !== false) return;
  github = await GitHubStandIn.open();
  mail = await MailCatcher.open();
  const env = {
    RELAY_GITHUB_CLIENT_ID: GITHUB_APP.clientId,
    RELAY_GITHUB_CLIENT_SECRET: GITHUB_APP.clientSecret,
    RELAY_SMTP_URL: mail.url,
    RELAY_MAIL_FROM: "relay@example.com",
  };
  open = await Desk.open({ ...env, RELAY_SIGN_UP: "open" });
  closed = await Desk.open(env);
});
after(async () => {
  if (skip !== false) return;
  await open.close();
  await closed.close();
  mail.close();
  github.close();
});

/** A page of somebody new, at an address. */
async function stranger(desk: Desk, path: string): Promise<DeskPage> {
  const page = await openPage(await desk.browser.newContext({ viewport: WIDE }));
  await github.serve(page);
  await page.goto(new URL(path, `${desk.relay.url}/`).href);
  return new DeskPage(page);
}

async function signIn(view: DeskPage, password: string = OPERATOR.password): Promise<void> {
  await view.fill("E-mail", OPERATOR.email);
  await view.fill("Password", password);
  await view.press("Sign in");
}

const NAVIGATION = ["navigation", { name: "Pages" }] as const;

test("GitHub is offered where it is set up, and nowhere else", { skip }, async () => {
  await using offered = await stranger(closed, "/sign-in");
  await offered.page.getByRole("button", { name: "Sign in with GitHub" }).waitFor();
  const bare = await Desk.open();
  {
    await using view = await stranger(bare, "/sign-in");
    await view.page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    assert.equal(await view.page.getByText(/GitHub/).count(), 0);
    await view.page.goto(`${bare.relay.url}/sign-up`);
    await view.sees("takes people by invitation");
    assert.equal(await view.page.getByText(/GitHub/).count(), 0);
    await using own = await bare.at("/account");
    await own.sees("Where you are signed in");
    assert.equal(await own.page.getByText(/GitHub/).count(), 0);
  }
  await bare.close();
});

test(
  "somebody new signs up by GitHub where that is open, and then signs in",
  { skip },
  async () => {
    github.user = { id: 11, email: "ida@example.com", name: "Ida Holm" };
    const view = await stranger(open, "/sign-up");
    await view.press("Sign up with GitHub");
    await view.page.getByRole(...NAVIGATION).waitFor();
    await view.page.getByRole("button", { name: "Ida Holm" }).waitFor();
    await view[Symbol.asyncDispose]();
    await using again = await stranger(open, "/sign-in?next=/team");
    await again.press("Sign in with GitHub");
    await again.page.getByRole("heading", { name: "Team" }).waitFor();
    assert.ok(github.asked.includes("/login/oauth/access_token"));
  },
);

test("who is unknown by GitHub, or says no there, is told so and is not in", { skip }, async () => {
  github.user = { id: 12, email: "unknown@example.com", name: "Nobody" };
  await using view = await stranger(closed, "/sign-in");
  await view.press("Sign in with GitHub");
  await view.sees("Nobody here has joined this GitHub account");
  github.user = null;
  await view.press("Sign in with GitHub");
  await view.sees("GitHub was told not to go on");
  await view.page.goto(`${closed.relay.url}/projects`);
  await view.sees("Forgot the password?");
});

test(
  "an address that is there is not got into by GitHub, until it is joined",
  { skip },
  async () => {
    github.user = { id: 13, email: OPERATOR.email, name: "Somebody" };
    await using view = await stranger(closed, "/sign-in");
    await view.press("Sign in with GitHub");
    await view.sees("Somebody here has the e-mail address of this GitHub account");
    await signIn(view);
    await view.page.getByRole(...NAVIGATION).waitFor();
    await view.page.goto(`${closed.relay.url}/account`);
    github.user = { id: 14, email: "another@example.com", name: "Somebody" };
    await view.press("Join a GitHub account");
    await view.sees("has another e-mail address than you have here");
    github.user = { id: 13, email: OPERATOR.email, name: "Somebody" };
    await view.press("Join a GitHub account");
    await view.sees("A GitHub account is joined to this one.");
    await using later = await stranger(closed, "/sign-in");
    await later.press("Sign in with GitHub");
    await later.page.getByRole("button", { name: OPERATOR.name }).waitFor();
  },
);

test("an invitation comes by mail, and its link lets somebody in", { skip }, async () => {
  await using view = await closed.at("/team");
  await view.press("Invite…");
  await view.page.getByLabel(/^E-mail, or a note/).fill("bo@example.com");
  await view.press("Make the invitation");
  await view.sees("A letter with the link is on its way.");
  await view.press("Done");
  await using guest = await stranger(closed, await mail.linkFor("bo@example.com"));
  await guest.fill("Your name", "Bo Ek");
  await guest.fill("E-mail", "bo@example.com");
  await guest.fill("Password", "another long password");
  await guest.press("Make an account and join");
  await guest.page.getByRole("heading", { name: "Projects" }).waitFor();
});

test(
  "where anybody may sign up, the address is confirmed by a letter first",
  { skip },
  async () => {
    await using view = await stranger(open, "/sign-up");
    await view.fill("Your name", "Cy Berg");
    await view.fill("E-mail", "cy@example.com");
    await view.fill("Password", "another long password");
    await view.press("Make the account");
    await view.sees("Look into your mail");
    await view.page.goto(await mail.linkFor("cy@example.com"));
    await view.page.goto(`${open.relay.url}/sign-in`);
    await view.fill("E-mail", "cy@example.com");
    await view.fill("Password", "another long password");
    await view.press("Sign in");
    await view.page.getByRole("button", { name: "Cy Berg" }).waitFor();
  },
);

const ELSEWHERE = [
  "//evil.example",
  "/\\evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "/\t/evil.example",
  "\\/evil.example",
];

test("a sign-in leads to no other place than this Relay's own pages", { skip }, async () => {
  const { origin } = new URL(closed.relay.url);
  for (const next of ELSEWHERE) {
    const view = await stranger(closed, `/sign-in?next=${encodeURIComponent(next)}`);
    await signIn(view);
    await view.page.getByRole(...NAVIGATION).waitFor();
    assert.equal(new URL(view.page.url()).origin, origin, next);
    await view[Symbol.asyncDispose]();
  }
  github.user = { id: 13, email: OPERATOR.email, name: "Somebody" };
  await using view = await stranger(closed, "/sign-in?next=//evil.example");
  await view.press("Sign in with GitHub");
  await view.page.getByRole(...NAVIGATION).waitFor();
  assert.equal(new URL(view.page.url()).origin, origin);
});

// The last: a new password ends every session of the person.
test("a new password is set by a letter; nobody learns who is here", { skip }, async () => {
  await using view = await stranger(closed, "/forgot-password");
  const ask = async (email: string): Promise<string | null> => {
    await view.page.goto(`${closed.relay.url}/forgot-password`);
    await view.fill("E-mail", email);
    await view.press("Send the link");
    await view.sees("Look into your mail");
    return view.page.locator("main").first().textContent();
  };
  assert.equal(await ask("nobody@example.com"), await ask(OPERATOR.email));
  const link = await mail.linkFor(OPERATOR.email);
  assert.ok(!mail.letters.some(({ to }) => to === "nobody@example.com"));
  await view.page.goto(link);
  await view.sees("Choose a new password");
  assert.ok(!view.page.url().includes("token"), "the token leaves the address at once");
  await view.fill("New password", "a brand new password");
  await view.press("Change the password");
  await view.sees("The password is changed");
  await view.page.getByRole("link", { name: "Sign in" }).click();
  await signIn(view, OPERATOR.password);
  await view.sees("password is wrong");
  await signIn(view, "a brand new password");
  await view.page.getByRole(...NAVIGATION).waitFor();
  await using late = await stranger(closed, link);
  await late.fill("New password", "yet another password");
  await late.press("Change the password");
  await late.page.getByRole("alert").waitFor();
});
