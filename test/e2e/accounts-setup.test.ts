import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, PASSWORD, operatorOf, tokenOf } from "./accounts-browser.ts";
import { openRelay } from "./harness.ts";

const OP = { name: "Op", email: "op@example.com", password: PASSWORD } as const;

test("the set-up link makes the operator, signed in, who sees what is there; then it is over for good", async () => {
  await using relay = await openRelay();
  await relay.project({ name: "Made before" });
  const visitor = new Browser(relay);
  const before = await visitor.ask("GET", "/api/features");
  assert.equal(before.body["setUpNeeded"], true);
  assert.equal(before.body["signUp"], "invited");
  const link = (await relay.relay.people.setUp.mintLink()) ?? "";
  assert.equal(link.split("#")[0], `${relay.url}/setup`);
  const token = tokenOf(link);

  const wrong = await visitor.ask("POST", "/api/setup", { ...OP, token: `su_${"0".repeat(48)}` });
  assert.equal(wrong.status, 404);
  const weak = await visitor.ask("POST", "/api/setup", { ...OP, token, password: "short" });
  assert.equal(weak.status, 400);
  assert.match(weak.body["error"].message, /password: must be at least 10 characters/);

  // Two at once: one wins, and the other learns nothing.
  const browsers = [new Browser(relay), new Browser(relay)];
  const claims = await Promise.all(
    browsers.map((browser, n) =>
      browser.ask("POST", "/api/setup", { ...OP, email: `op${n}@example.com`, token }),
    ),
  );
  assert.deepEqual(
    claims.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 404],
  );
  const winner = browsers[claims.findIndex(({ status }) => status === 201)];
  assert.ok(winner !== undefined);
  const me = await winner.ask("GET", "/api/me");
  assert.equal(me.body["isOperator"], true);
  assert.deepEqual(
    me.body["accounts"].map(({ name, role }: { name: string; role: string }) => [name, role]),
    [["Operator", "owner"]],
  );
  const projects = await winner.ask("GET", "/api/projects");
  assert.deepEqual(
    projects.body["items"].map(({ name }: { name: string }) => name),
    ["Made before"],
  );
  const loser = browsers.find((browser) => browser !== winner);
  assert.equal((await loser?.ask("GET", "/api/me"))?.status, 401);

  const again = await visitor.ask("POST", "/api/setup", { ...OP, token });
  assert.equal(again.status, 404);
  assert.equal(await relay.relay.people.setUp.mintLink(), null);
  assert.equal((await visitor.ask("GET", "/api/features")).body["setUpNeeded"], false);
  const operator = await relay.rest("POST", "/v1/operator/setup-link", relay.operatorToken);
  assert.equal(operator.status, 404);
});

test("set-up tokens are guessed ten times a minute and no more", async () => {
  await using relay = await openRelay();
  const browser = new Browser(relay);
  const guess = (n: number) =>
    browser.ask("POST", "/api/setup", { ...OP, token: `su_${String(n).repeat(48)}` });
  for (let n = 0; n < 10; n += 1) assert.equal((await guess(n)).status, 404);
  const refused = await guess(0);
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
});

test("whoever has no invitation can't sign up, and one invitation is for ten tries", async () => {
  await using relay = await openRelay();
  const browser = new Browser(relay);
  const signUp = (more: object) =>
    browser.ask("POST", "/api/auth/sign-up/email", { ...OP, email: "ben@example.com", ...more });
  for (const more of [{}, { invitation: "iv_0" }, { invitation: 7 }]) {
    const refused = await signUp(more);
    assert.equal(refused.status, 403);
    assert.equal(refused.body["error"].code, "FORBIDDEN");
  }
  const path = "/v1/operator/invitations";
  const made = await relay.rest("POST", path, relay.operatorToken, {});
  const invitation = tokenOf(String(made.body["url"]));
  // A password that is refused costs a try and no hash.
  for (let n = 0; n < 10; n += 1) {
    assert.equal((await signUp({ invitation, password: "short" })).status, 400);
  }
  assert.equal((await signUp({ invitation })).status, 403);
  const github = { requestSignUp: true, callbackURL: "/" };
  assert.equal((await browser.ask("POST", "/api/auth/sign-in/social", github)).status, 404);
});

test("where sign-up is open, whoever signs up has an account at the first request", async () => {
  await using relay = await openRelay({ RELAY_SIGN_UP: "open" });
  const browser = new Browser(relay);
  const signedUp = await browser.ask("POST", "/api/auth/sign-up/email", OP);
  assert.deepEqual([signedUp.status, signedUp.body], [200, {}]);
  assert.equal(browser.cookie, "");
  await browser.signIn(OP.email);
  const me = await browser.ask("GET", "/api/me");
  assert.equal(me.body["isOperator"], false);
  assert.equal(me.body["accounts"].length, 1);
  assert.equal(me.body["accounts"][0].role, "owner");
  const made = await browser.ask("POST", "/api/projects", { name: "Notes" });
  assert.equal(made.status, 201);
  assert.equal(made.body["accountId"], me.body["accounts"][0].accountId);
  // And nothing of the operator's.
  assert.equal((await browser.ask("GET", "/api/operator/stats")).status, 404);
});

test("the operator's own pages answer the operator by session, and nobody by a key's header", async () => {
  await using relay = await openRelay();
  const operator = await operatorOf(relay);
  assert.equal((await operator.ask("GET", "/api/operator/stats")).status, 200);
  const keyed = await relay.rest("GET", "/api/operator/stats", relay.operatorToken);
  assert.equal(keyed.status, 401);
  const cookied = await operator.ask("GET", "/v1/operator/stats");
  assert.equal(cookied.status, 401);
});
