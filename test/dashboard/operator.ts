/** The first person of a test's Relay: made by the set-up link, signed in by hand. */
import type { TestRelay } from "../e2e/harness.ts";
import type { Page } from "./browser.ts";

export const OPERATOR = {
  name: "Noa Lindqvist",
  email: "noa@example.com",
  password: "correct horse battery",
} as const;

/** The link that Relay prints at its first start. */
export async function setUpLink(relay: TestRelay): Promise<string> {
  const link = await relay.relay.people.setUp.mintLink();
  if (link === null) throw new Error("this Relay is set up already");
  return link;
}

/** Sets a Relay up as its first person does, in the page. */
export async function setUp(relay: TestRelay, page: Page): Promise<void> {
  await page.goto(await setUpLink(relay));
  await page.getByLabel("Your name").fill(OPERATOR.name);
  await page.getByLabel("E-mail").fill(OPERATOR.email);
  await page.getByLabel("Password").fill(OPERATOR.password);
  await page.getByRole("button", { name: "Set up and go on" }).click();
  await page.waitForURL(/\/projects/);
}

/** Makes the first person without a page; returns the cookie of their session. */
export async function setUpByRequest(relay: TestRelay): Promise<string> {
  const token = new URLSearchParams(new URL(await setUpLink(relay)).hash.slice(1)).get("token");
  const made = await relay.rest(
    "POST",
    "/api/setup",
    null,
    { token, ...OPERATOR },
    {
      Origin: new URL(relay.url).origin,
    },
  );
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}
