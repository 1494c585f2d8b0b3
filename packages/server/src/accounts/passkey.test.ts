import assert from "node:assert/strict";
import { test } from "node:test";
import { Authenticator } from "./test/authenticator.ts";
import type { Ceremony } from "./test/authenticator.ts";
import { ANN, TestAccounts, cookieOf } from "./test/open-accounts.ts";
import type { AuthAnswer, NewUser } from "./port.ts";

const SITE = "relay.example.com";

function field(answer: AuthAnswer, name: string): string {
  return String(Object.entries(answer.body ?? {}).find(([known]) => known === name)?.[1]);
}

async function signedUp(people: TestAccounts, user: NewUser = ANN): Promise<string> {
  await people.post("/sign-up/email", user);
  return cookieOf(await people.post("/sign-in/email", user));
}

/** Adds the key of an authenticator to the user of a session. */
async function register(
  people: TestAccounts,
  key: Authenticator,
  session: string,
  wrong: Partial<Ceremony> = {},
): Promise<AuthAnswer> {
  const options = await people.get("/passkey/generate-register-options", session);
  const cookie = `${session}; ${cookieOf(options)}`;
  const response = key.create({ challenge: field(options, "challenge"), ...wrong });
  return people.post("/passkey/verify-registration", { response, name: "Laptop" }, { cookie });
}

async function signIn(
  people: TestAccounts,
  key: Authenticator,
  wrong: Partial<Ceremony> = {},
): Promise<AuthAnswer> {
  const options = await people.get("/passkey/generate-authenticate-options");
  const response = key.get({ challenge: field(options, "challenge"), ...wrong });
  const cookie = cookieOf(options);
  return people.post("/passkey/verify-authentication", { response }, { cookie });
}

test("a passkey that was added signs its user in", async (t) => {
  const people = new TestAccounts(t);
  const key = new Authenticator(SITE);
  const session = await signedUp(people);
  const added = await register(people, key, session);
  assert.deepEqual([added.status, added.did], [200, "Adds a passkey"]);
  const signedIn = await signIn(people, key);
  assert.deepEqual([signedIn.status, signedIn.did], [200, "Signs in with a passkey"]);
  assert.equal(signedIn.who?.email, ANN.email);
  const visitor = await people.accounts.whoIs({ cookie: cookieOf(signedIn) });
  assert.equal(visitor?.email, ANN.email);
  assert.equal(visitor?.isFresh, true);
});

test("a key that did not check who uses it, another site's, and a stranger's sign nobody in", async (t) => {
  const people = new TestAccounts(t);
  const key = new Authenticator(SITE);
  const session = await signedUp(people);
  await register(people, key, session);
  const other = new Authenticator("evil.example");
  const refused = [
    await signIn(people, key, { verified: false }),
    await signIn(people, key, { origin: "https://evil.example" }),
    await signIn(people, key, { challenge: "AAAA" }),
    await signIn(people, new Authenticator(SITE)),
    await signIn(people, other),
  ];
  for (const { status, cookies } of refused) {
    assert.ok(status === 400 || status === 401, String(status));
    assert.ok(!cookies.some((line) => line.includes("session_token=") && !/Max-Age=0/.test(line)));
  }
  assert.notEqual((await register(people, other, session)).status, 200);
  assert.equal((await signIn(people, key)).status, 200);
});

test("a passkey is added by a session that is fresh, and by no other", async (t) => {
  const people = new TestAccounts(t);
  const key = new Authenticator(SITE);
  const session = await signedUp(people);
  const past = new Date(Date.now() - 16 * 60_000).toISOString();
  people.database((db) => db.prepare("UPDATE session SET createdAt = ?").run(past));
  assert.equal((await people.get("/passkey/generate-register-options", session)).status, 403);
  assert.notEqual((await register(people, key, session)).status, 200);
  assert.equal((await people.get("/passkey/generate-register-options")).status, 401);
  await people.accounts.reauthenticate({ cookie: session }, ANN.password);
  assert.equal((await register(people, key, session)).status, 200);
});

test("a user's passkey is nobody else's to rename or remove", async (t) => {
  const people = new TestAccounts(t);
  const session = await signedUp(people);
  const added = await register(people, new Authenticator(SITE), session);
  const id = field(added, "id");
  const stranger = await signedUp(people, { ...ANN, email: "ben@example.com" });
  for (const path of ["/passkey/delete-passkey", "/passkey/update-passkey"]) {
    const { status } = await people.post(path, { id, name: "Mine" }, { cookie: stranger });
    assert.ok(status === 401 || status === 403 || status === 404, `${path}: ${status}`);
  }
  const listed = await people.get("/passkey/list-user-passkeys", session);
  assert.equal(Array.isArray(listed.body) ? listed.body.length : 0, 1);
  const removed = await people.post("/passkey/delete-passkey", { id }, { cookie: session });
  assert.equal(removed.status, 200);
});
