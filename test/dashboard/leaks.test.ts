/**
 * No secret leaves by the page: not in what the server sends, in an address, in a Referer, in what the
 * browser keeps, or in the log. What is shown once is gone once it is closed.
 */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { whyNoBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";
import { DeskPage } from "./desk.ts";
import { OPERATOR } from "./operator.ts";
import { OPENED, PAGES, goTo } from "./places.ts";
import { totpAt } from "./totp.ts";
import { openUsedDesk } from "./used-desk.ts";
import type { UsedDesk } from "./used-desk.ts";
import { openPage } from "./watched-page.ts";

const skip = whyNoBrowser();
/** Every kind of token that Relay makes, whole. */
const TOKEN = /\b(?:sk|pk|lt|ut|iv|su|rp|op|whsec)_[0-9A-Za-z+/=]{16,}/g;
/** Those that are shown once; a publishable key may be looked up. */
const SECRET = /\b(?:sk|lt|ut|iv|su|rp|op|whsec)_[0-9A-Za-z+/=]{16,}/g;

/** What the server saw of requests. */
const addresses: string[] = [];
const referers: string[] = [];
/** What the server answered to GETs. */
const answers: { readonly url: string; readonly text: string; readonly policy: string }[] = [];
const reading: Promise<void>[] = [];

let used: UsedDesk;
let view: DeskPage;
let session: string;

function note(message: unknown): void {
  // What Node publishes on this channel.
  const { request } = message as { readonly request: IncomingMessage };
  addresses.push(`${request.method} ${request.url}`);
  if (request.headers.referer !== undefined)
    referers.push(`${request.url} ${request.headers.referer}`);
}

/** Keeps every answer that is a page, a script or JSON; a stream does not end. */
function read(page: Page): void {
  page.on("response", (response) => {
    const type = response.headers()["content-type"] ?? "";
    if (response.request().method() !== "GET" || !/html|json|javascript/.test(type)) return;
    const policy = response.headers()["referrer-policy"] ?? "none";
    const noted = response
      .text()
      .then((text) => void answers.push({ url: response.url(), text, policy }))
      // A page that was left before its answer came has none.
      .catch(() => undefined);
    reading.push(noted);
  });
}

before(async () => {
  if (skip !== false) return;
  subscribe("http.server.request.start", note);
  used = await openUsedDesk({ RELAY_LOG_LEVEL: "debug" });
  session = used.desk.cookies.split(";")[0]?.split("=")[1] ?? "";
  assert.ok(session.length > 20);
  addresses.length = 0;
  view = await used.desk.at("/projects");
  read(view.page);
});
after(async () => {
  if (skip !== false) return;
  unsubscribe("http.server.request.start", note);
  used.app.socket.terminate();
  await used.desk.close();
});

/** All that the page shows, types and has in its attributes. */
function shown(page: Page): Promise<string> {
  return page.evaluate<string>(`document.documentElement.outerHTML + " " +
    [...document.querySelectorAll("input, textarea")].map(({ value }) => value).join(" ")`);
}

/** All that the browser keeps for the page, and that scripts can read. */
function kept(page: Page): Promise<string> {
  return page.evaluate<string>(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])",
  );
}

async function assertNothingShown(page: Page, name: string): Promise<void> {
  const text = await shown(page);
  assert.deepEqual(text.match(SECRET), null, `${name} shows a secret`);
  assert.ok(!text.includes(session), `${name} shows the session`);
}

async function assertNothingKept(page: Page, name: string): Promise<void> {
  const text = await kept(page);
  assert.deepEqual(text.match(TOKEN), null, `${name} leaves a token in the browser`);
  assert.equal(await page.evaluate("document.cookie"), "", `${name} leaves a cookie to scripts`);
}

const SHOWS_ONE = new Set(["invitation made", "key made", "password link", "second step"]);

test("no page and nothing opened shows a secret or keeps a token", { skip }, async () => {
  for (const place of [...PAGES, ...OPENED]) {
    await goTo(view, used.desk.relay.url, place, used.facts);
    await assertNothingKept(view.page, place.name);
    if (!SHOWS_ONE.has(place.name)) await assertNothingShown(view.page, place.name);
  }
});

test("what is shown once is gone when it is closed, and stays gone", { skip }, async () => {
  const { url } = used.desk.relay;
  const settings = `${url}/projects/${used.facts.projectId}/settings`;
  const once: readonly (readonly [string, string, string, (() => Promise<unknown>)?])[] = [
    [settings, "Make the key", "I have it", () => view.choose("Kind", SECRET_KIND)],
    [`${url}/team`, "Make the invitation", "Done"],
    [`${url}/operator/accounts`, "Password link", "Done"],
  ];
  for (const [address, action, close, choose] of once) {
    await view.page.goto(address);
    if (action !== "Password link") await view.press(address === settings ? "New key" : "Invite…");
    await choose?.();
    await view.press(action);
    await view.page.getByRole("button", { name: close, exact: true }).waitFor();
    const [secret] = (await shown(view.page)).match(SECRET) ?? [];
    assert.ok(secret, `${action} shows what it made`);
    await view.press(close);
    await view.page.getByRole("dialog").waitFor({ state: "detached" });
    await assertNothingShown(view.page, action);
    await assertNothingKept(view.page, action);
    await view.page.reload();
    await view.page.getByRole("heading").first().waitFor();
    await assertNothingShown(view.page, action);
  }
});
const SECRET_KIND = "Secret: the REST API, for your server";

test("a trial link's tokens are gone when the page is loaded anew", { skip }, async () => {
  await view.page.goto(`${used.desk.relay.url}/projects/${used.facts.projectId}/try`);
  await view.press("New trial link");
  await view.page.getByText(/^lt_/).waitFor();
  await assertNothingKept(view.page, "trial link");
  await view.page.reload();
  await view.page.getByRole("heading").first().waitFor();
  await assertNothingShown(view.page, "trial link");
});

test("a webhook's signing secret is gone when it is closed", { skip }, async () => {
  await view.page.goto(`${used.desk.relay.url}/projects/${used.facts.projectId}/settings`);
  await view.fill("Address", "https://example.com/relay-events");
  await view.press("Keep the address");
  await view.page.getByText(/^whsec_/).waitFor();
  await view.press("I have it");
  await assertNothingShown(view.page, "webhook");
});

test(
  "tokens in links that are opened leave the address, and go nowhere but to Relay",
  { skip },
  async () => {
    const { desk } = used;
    const { operatorToken, url } = desk.relay;
    const invited = await desk.relay.rest("POST", "/v1/operator/invitations", operatorToken, {});
    const reset = await desk.ask("POST", "/api/operator/users/password-reset", {
      email: OPERATOR.email,
    });
    const links = [invited, reset].map(({ body }) => String(body["url"]));
    const context = await desk.browser.newContext();
    const guest = new DeskPage(await openPage(context));
    read(guest.page);
    for (const link of [...links, `${url}/setup#token=su_0123456789abcdef0123456789abcdef`]) {
      await guest.page.goto(link);
      await guest.page.reload();
      await guest.page.goto(`${url}/sign-in`);
      await guest.page.goto(link);
      await guest.page.getByRole("heading").first().waitFor();
      assert.ok(!guest.page.url().includes("token"), link);
      await assertNothingKept(guest.page, link);
    }
    await guest.page.goto(links[0] ?? "");
    await guest.fill("Your name", "Bo Ek");
    await guest.fill("E-mail", "bo@example.com");
    await guest.fill("Password", "another long password");
    await guest.press("Make an account and join");
    await guest.page.getByRole("heading", { name: "Projects" }).waitFor();
    await assertNothingKept(guest.page, "joined");
    await guest[Symbol.asyncDispose]();
    await context.close();
  },
);

test("the second step's key and codes are gone once it is on", { skip }, async () => {
  await view.page.goto(`${used.desk.relay.url}/account`);
  await view.fill("Your password", OPERATOR.password);
  await view.press("Set it up");
  const secret =
    (await view.page
      .getByText(/^[A-Z2-7]{32,}$/)
      .first()
      .textContent()) ?? "";
  const code = (await view.page.locator("pre").first().textContent())?.split("\n")[0] ?? "";
  assert.ok(secret.length >= 32 && code.length >= 8);
  await view.fill("The code it shows now", totpAt(secret, Date.now()));
  await view.press("Switch it on");
  await view.sees("The second step is on.");
  const text = (await shown(view.page)) + (await kept(view.page));
  assert.ok(!text.includes(secret) && !text.includes(code));
});

// The last two: over all that the tests above did.
test(
  "no token was in an address, in a Referer, or in a page or script that was sent",
  { skip },
  async () => {
    await Promise.all(reading);
    assert.ok(addresses.length > 200, `${addresses.length} requests`);
    const bad = addresses.filter((line) => line.match(TOKEN) !== null || line.includes(session));
    assert.deepEqual(bad, []);
    assert.deepEqual(referers, []);
    assert.ok(answers.length > 100, `${answers.length} answers`);
    for (const { url, text, policy } of answers) {
      const isApi = new URL(url).pathname.startsWith("/api/");
      assert.deepEqual(text.match(isApi ? SECRET : TOKEN), null, url);
      assert.ok(!text.includes(session), url);
      assert.equal(policy, "no-referrer", url);
    }
  },
);

test("no token and no session is in the server's log", { skip }, async () => {
  const log = used.desk.relay.log.join("");
  assert.match(log, /"path":"\/api\/invitations/);
  assert.deepEqual(log.match(TOKEN), null);
  assert.ok(!log.includes(session));
  await view[Symbol.asyncDispose]();
});
