import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { ANN, TestAccounts, cookieOf } from "./test/open-accounts.ts";

const GITHUB = { clientId: "client", clientSecret: "secret" } as const;

/** GitHub as better-auth asks it, for as long as the test runs; nothing else is reached. */
function beGitHub(t: TestContext, email: string): void {
  const real = globalThis.fetch;
  t.after(() => (globalThis.fetch = real));
  const answers: Readonly<Record<string, unknown>> = {
    "https://github.com/login/oauth/access_token": { access_token: "gho_x", token_type: "bearer" },
    "https://api.github.com/user": { id: 7, login: "ann", name: "Ann", email, avatar_url: "" },
    "https://api.github.com/user/emails": [{ email, primary: true, verified: true }],
  };
  globalThis.fetch = async (input) => {
    const url = input instanceof Request ? input.url : input.toString();
    const answer = answers[url];
    if (answer === undefined) throw new Error(`nothing may be asked of ${url}`);
    return Response.json(answer);
  };
}

/** Goes to GitHub and comes back, as a browser does. */
async function signInByGitHub(people: TestAccounts, more: object = {}) {
  const begun = await people.post("/sign-in/social", { callbackURL: "/projects", ...more });
  assert.equal(begun.status, 200);
  const url = new URL(String(Object.entries(begun.body ?? {}).find(([key]) => key === "url")?.[1]));
  const state = url.searchParams.get("state") ?? "";
  return people.get("/callback/github", cookieOf(begun), `?code=c&state=${state}`);
}

test("GitHub signs nobody up who did not ask for it, and who did is in", async (t) => {
  beGitHub(t, ANN.email);
  const people = new TestAccounts(t, { github: GITHUB });
  const refused = await signInByGitHub(people);
  assert.equal(refused.location, "https://relay.example.com/base/sign-in?error=signup_disabled");
  assert.equal(await people.accounts.hasUsers(), false);

  const signedUp = await signInByGitHub(people, { requestSignUp: true });
  assert.equal(signedUp.location, "/projects");
  const visitor = await people.accounts.whoIs({ cookie: cookieOf(signedUp) });
  assert.equal(visitor?.email, ANN.email);
  // And the next time without asking.
  const again = await signInByGitHub(people);
  assert.equal(again.location, "/projects");
  const kept = people.database((db) => JSON.stringify(db.prepare("SELECT * FROM account").all()));
  assert.ok(!kept.includes("gho_x"));
});

test("whoever has the same address at GitHub does not get into a user that is there", async (t) => {
  beGitHub(t, ANN.email);
  const people = new TestAccounts(t, { github: GITHUB });
  await people.post("/sign-up/email", ANN);
  const answer = await signInByGitHub(people, { requestSignUp: true });
  assert.match(answer.location ?? "", /\/sign-in\?error=account_not_linked$/);
  assert.equal(await people.accounts.whoIs({ cookie: cookieOf(answer) }), null);
});

test("a state that this browser did not begin with signs nobody in", async (t) => {
  beGitHub(t, ANN.email);
  const people = new TestAccounts(t, { github: GITHUB });
  await signInByGitHub(people, { requestSignUp: true });
  const begun = await people.post("/sign-in/social", { callbackURL: "/projects" });
  const url = new URL(String(Object.entries(begun.body ?? {}).find(([key]) => key === "url")?.[1]));
  const search = `?code=c&state=${url.searchParams.get("state")}`;
  const stolen = await people.get("/callback/github", "", search);
  assert.match(stolen.location ?? "", /\/sign-in\?.*error=/);
  assert.equal(await people.accounts.whoIs({ cookie: cookieOf(stolen) }), null);
});
