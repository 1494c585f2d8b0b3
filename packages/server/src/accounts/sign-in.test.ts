import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../clock.ts";
import { ANN, TestAccounts, clockAhead, cookieOf } from "./test/open-accounts.ts";

const MINUTES_MS = 60_000;

test("a wrong password, an unknown address and a user without a password are one answer, one hash each", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const ben = { ...ANN, email: "ben@example.com" };
  await people.post("/sign-up/email", ben);
  people.database((db) =>
    db.exec(
      `UPDATE account SET password = NULL WHERE userId = (SELECT id FROM "user" WHERE email = 'ben@example.com')`,
    ),
  );
  people.passwords.spent();
  const answers = [];
  for (const tried of [
    { ...ANN, password: "wrong horse" },
    { ...ANN, email: "nobody@example.com" },
    ben,
  ]) {
    const { status, body, cookies } = await people.post("/sign-in/email", tried);
    answers.push({ status, body, cookies, hashes: people.passwords.spent() });
  }
  assert.deepEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
  assert.equal(answers[0]?.status, 401);
  assert.equal(answers[0]?.hashes, 1);
});

test("a second sign-up with an address answers as the first did, at the price of the first", async (t) => {
  const people = new TestAccounts(t);
  const first = await people.post("/sign-up/email", ANN);
  assert.equal(people.passwords.spent(), 1);
  const second = await people.post("/sign-up/email", { ...ANN, password: "another horse" });
  assert.equal(people.passwords.spent(), 1);
  const shown = ({ status, body, cookies }: typeof first) => ({ status, body, cookies });
  assert.deepEqual(shown(second), shown(first));
  assert.deepEqual(shown(first), { status: 200, body: {}, cookies: [] });
  // And it has changed nothing.
  assert.equal((await people.post("/sign-in/email", ANN)).status, 200);
});

test("a sign-in makes a new session whatever cookie came with it, bound to this host", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const planted = cookieOf(await people.post("/sign-in/email", ANN));
  const answer = await people.post("/sign-in/email", ANN, { cookie: planted });
  const fresh = cookieOf(answer);
  assert.notEqual(fresh, planted);
  assert.match(
    answer.cookies[0] ?? "",
    /^__Host-relay\.session_token=[^;]+; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  // A token that was never given out is no session.
  const forged = fresh.replace(/=.{8}/, "=AAAAAAAA");
  assert.equal(await people.accounts.whoIs({ cookie: forged }), null);
});

test("no answer holds the secret of a session", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const answer = await people.post("/sign-in/email", ANN);
  const cookie = cookieOf(answer);
  const secret = /=([^.]+)\./.exec(cookie.replace("__Host-relay.", ""))?.[1] ?? "";
  assert.ok(secret.length > 20);
  const visitor = await people.accounts.whoIs({ cookie });
  assert.ok(visitor !== null);
  const shown = JSON.stringify([
    answer.body,
    visitor,
    await people.accounts.sessionsOf(visitor),
    (await people.post("/change-password", passwordChange, { cookie })).body,
  ]);
  assert.ok(!shown.includes(secret));
});

const passwordChange = { currentPassword: ANN.password, newPassword: "another horse" } as const;

test("signing out, ending a session, a new password and disabling each end a session at once", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const signIn = async (): Promise<string> => cookieOf(await people.post("/sign-in/email", ANN));
  const one = await signIn();
  await people.post("/sign-out", {}, { cookie: one });
  assert.equal(await people.accounts.whoIs({ cookie: one }), null);

  const [two, three] = [await signIn(), await signIn()];
  const visitor = await people.accounts.whoIs({ cookie: two });
  assert.ok(visitor !== null);
  const lines = await people.accounts.sessionsOf(visitor);
  assert.equal(lines.length, 2);
  const other = lines.find(({ isCurrent }) => !isCurrent)?.sessionId ?? "";
  assert.equal(await people.accounts.endSession(visitor, other), true);
  assert.equal(await people.accounts.endSession(visitor, other), false);
  assert.equal(await people.accounts.whoIs({ cookie: three }), null);

  const four = await signIn();
  const changed = await people.post("/change-password", passwordChange, { cookie: two });
  assert.equal(changed.status, 200);
  assert.equal(await people.accounts.whoIs({ cookie: four }), null);
  assert.equal(await people.accounts.whoIs({ cookie: two }), null);
  const kept = cookieOf(changed);
  assert.notEqual(await people.accounts.whoIs({ cookie: kept }), null);

  assert.equal(await people.accounts.setDisabled(visitor.userId, true), true);
  assert.equal(await people.accounts.whoIs({ cookie: kept }), null);
  const again = { ...ANN, password: passwordChange.newPassword };
  const refused = await people.post("/sign-in/email", again);
  assert.deepEqual([refused.status, refused.cookies], [403, []]);
  await people.accounts.setDisabled(visitor.userId, false);
  assert.equal((await people.post("/sign-in/email", again)).status, 200);
});

test("one user's session can't be ended by another", async (t) => {
  const people = new TestAccounts(t);
  const visitors = [];
  for (const user of [ANN, { ...ANN, email: "ben@example.com" }]) {
    await people.post("/sign-up/email", user);
    const cookie = cookieOf(await people.post("/sign-in/email", user));
    visitors.push(await people.accounts.whoIs({ cookie }));
  }
  const [ann, ben] = visitors;
  assert.ok(ann !== null && ann !== undefined && ben !== null && ben !== undefined);
  assert.equal(await people.accounts.endSession(ben, ann.sessionId), false);
  assert.equal((await people.accounts.sessionsOf(ann)).length, 1);
});

test("a session is fresh for fifteen minutes, and again once the password was typed", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  const isFresh = async () => (await people.accounts.whoIs({ cookie }))?.isFresh;
  assert.equal(await isFresh(), true);
  const past = new Date(Date.now() - 15 * MINUTES_MS).toISOString();
  people.database((db) => db.prepare("UPDATE session SET createdAt = ?").run(past));
  assert.equal(await isFresh(), false);
  assert.equal(await people.accounts.reauthenticate({ cookie }, "wrong horse"), "wrong_password");
  assert.equal(await isFresh(), false);
  assert.equal(await people.accounts.reauthenticate({ cookie }, ANN.password), "fresh");
  assert.equal(await isFresh(), true);
});

test("guesses at one address are refused after ten a minute, from wherever; others sign in", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const guess = (n: number) =>
    people.post(
      "/sign-in/email",
      { ...ANN, password: `guess number ${n}` },
      { address: `203.0.113.${n}` },
    );
  const statuses = [];
  for (let n = 1; n <= 11; n += 1) statuses.push((await guess(n)).status);
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429]);
  const refused = await guess(12);
  assert.ok((refused.retryAfterSeconds ?? 0) > 0 && (refused.retryAfterSeconds ?? 0) <= 60);
  // No password was looked at for it.
  people.passwords.spent();
  await guess(13);
  assert.equal(people.passwords.spent(), 0);
  const ben = { ...ANN, email: "ben@example.com" };
  await people.post("/sign-up/email", ben);
  assert.equal((await people.post("/sign-in/email", ben)).status, 200);
});

test("one machine may try twenty passwords a minute, whoever's, and no header of its own helps", async (t) => {
  const people = new TestAccounts(t);
  const statuses = [];
  for (let n = 0; n < 21; n += 1) {
    const headers = {
      "x-forwarded-for": `198.51.100.${n}`,
      "x-relay-client-address": `10.0.0.${n}`,
    };
    const tried = { ...ANN, email: `user${n}@example.com` };
    statuses.push((await people.post("/sign-in/email", tried, { headers })).status);
  }
  assert.deepEqual(statuses, [...Array<number>(20).fill(401), 429]);
  const last = await people.post("/sign-in/email", ANN);
  assert.ok((last.retryAfterSeconds ?? 0) >= 1);
  assert.equal((await people.post("/sign-in/email", ANN, { address: "203.0.113.9" })).status, 401);
});

test("while too many passwords wait to be hashed, a sign-in is told to come back", async (t) => {
  const people = new TestAccounts(t);
  people.passwords.isBusy = true;
  const { status, retryAfterSeconds } = await people.post("/sign-in/email", ANN);
  assert.deepEqual([status, retryAfterSeconds], [503, 2]);
  assert.equal(people.passwords.spent(), 0);
});

test("a link sets a new password once, within the hour, and ends what was open", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const open = cookieOf(await people.post("/sign-in/email", ANN));
  assert.equal(await people.accounts.resetPasswordLink("nobody@example.com"), null);
  const link = (await people.accounts.resetPasswordLink("ANN@example.com")) ?? "";
  assert.match(link, /^https:\/\/relay\.example\.com\/base\/reset-password#token=rp_[0-9a-f]{48}$/);
  const token = link.slice(link.indexOf("=") + 1);
  const reset = (newPassword: string) => people.post("/reset-password", { token, newPassword });
  assert.equal((await reset("short")).status, 400);
  assert.equal((await reset("another horse")).status, 200);
  assert.equal((await reset("a third horse")).status, 400);
  assert.equal(await people.accounts.whoIs({ cookie: open }), null);
  assert.equal((await people.post("/sign-in/email", ANN)).status, 401);
  const again = { ...ANN, password: "another horse" };
  assert.equal((await people.post("/sign-in/email", again)).status, 200);
  // Only its hash was kept.
  const second = (await people.accounts.resetPasswordLink(ANN.email)) ?? "";
  const kept = people.database((db) =>
    JSON.stringify(db.prepare("SELECT * FROM verification").all()),
  );
  assert.ok(!kept.includes(second.slice(second.indexOf("=") + 1)));
  assert.ok(kept.length > 50);
});

test("a link for a new password is over after an hour", async (t) => {
  const people = new TestAccounts(t, { clock: clockAhead(-61 * MINUTES_MS) });
  await people.post("/sign-up/email", ANN);
  const link = (await people.accounts.resetPasswordLink(ANN.email)) ?? "";
  const token = link.slice(link.indexOf("=") + 1);
  const late = await people.post("/reset-password", { token, newPassword: "another horse" });
  assert.equal(late.status, 400);
});

test("where anybody may sign up and mail is on, an unconfirmed address looks like a wrong password", async (t) => {
  const people = new TestAccounts(t, { mails: true });
  await people.post("/sign-up/email", ANN);
  await people.settled();
  const [letter] = people.letters;
  assert.equal(letter?.to, ANN.email);
  const unconfirmed = await people.post("/sign-in/email", ANN);
  const wrong = await people.post("/sign-in/email", { ...ANN, password: "wrong horse" });
  assert.deepEqual(unconfirmed, wrong);
  assert.equal(wrong.status, 401);
  const link = new URL(/https:\S+/.exec(letter?.text ?? "")?.[0] ?? "");
  assert.equal(link.pathname, "/base/api/auth/verify-email");
  const confirmed = await people.get("/verify-email", "", link.search);
  assert.equal(confirmed.status, 302);
  assert.equal((await people.post("/sign-in/email", ANN)).status, 200);
});

test("asking for a new password answers alike for whoever is there and whoever is not, before any letter", async (t) => {
  let release = (): void => undefined;
  const sent = new Promise<void>((resolve) => (release = resolve));
  const people = new TestAccounts(t, { signUp: "invited", mail: { send: () => sent } });
  await people.accounts.createUser(ANN);
  const known = await people.post("/request-password-reset", { email: ANN.email });
  const unknown = await people.post("/request-password-reset", { email: "nobody@example.com" });
  assert.deepEqual(known, unknown);
  assert.equal(known.status, 200);
  // And it fills nobody's letter box.
  for (const email of [ANN.email, "nobody@example.com"]) {
    const again = await people.post("/request-password-reset", { email }, { address: "10.0.0.1" });
    assert.equal(again.status, 429);
  }
  release();
});

test("the people's database is its owner's alone, and half a sign-up is cleared at the next start", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  assert.equal(statSync(join(people.dataDir, "auth.db")).mode & 0o777, 0o600);
  people.database((db) => db.exec("DELETE FROM account"));
  await people.reopen();
  assert.equal(await people.accounts.hasUsers(), false);
  await people.post("/sign-up/email", ANN);
  assert.equal((await people.post("/sign-in/email", ANN)).status, 200);
});

test("a user keeps a hundred sessions, the last used", async (t) => {
  const people = new TestAccounts(t);
  await people.post("/sign-up/email", ANN);
  const cookies = [];
  for (let n = 0; n < 102; n += 1) {
    const address = `203.0.113.${n}`;
    cookies.push(cookieOf(await people.post("/sign-in/email", ANN, { address })));
  }
  assert.equal(await people.accounts.whoIs({ cookie: cookies[0] ?? "" }), null);
  const visitor = await people.accounts.whoIs({ cookie: cookies.at(-1) ?? "" });
  assert.ok(visitor !== null);
  const count = people.database(
    (db) => db.prepare("SELECT count(*) AS n FROM session").get()?.["n"],
  );
  assert.equal(count, 100);
});

test("nothing of what people type or are given reaches the log", async (t) => {
  const people = new TestAccounts(t, { signUp: "open" });
  await people.post("/sign-up/email", ANN);
  await people.post("/sign-up/email", ANN);
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  await people.post("/sign-in/email", { ...ANN, password: "wrong horse" });
  await people.post("/sign-in/email", { email: "not an address", password: 7 });
  await people.post("/reset-password", { token: "rp_0123", newPassword: "another horse" });
  const log = people.log.join("");
  for (const secret of [ANN.email, ANN.password, "wrong horse", cookie, "rp_0123"]) {
    assert.ok(!log.includes(secret), secret);
  }
});

test("what is over is cleared away by a later request: sessions, links, counts of requests", async (t) => {
  const ahead = { ms: 0 };
  const clock = { ...systemClock, wall: () => systemClock.wall() + ahead.ms };
  const people = new TestAccounts(t, { clock });
  await people.post("/sign-up/email", ANN);
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  await people.accounts.resetPasswordLink(ANN.email);
  const counts = () =>
    people.database((db) =>
      ["session", "verification", "rateLimit"].map((table) =>
        Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]),
      ),
    );
  assert.deepEqual(counts(), [1, 1, 2]);
  // Within the hour nothing is looked for.
  ahead.ms = 59 * MINUTES_MS;
  await people.post("/update-user", { name: "Ann" }, { cookie });
  assert.deepEqual(counts(), [1, 1, 3]);
  ahead.ms = 15 * 24 * 60 * MINUTES_MS;
  await people.post("/sign-out");
  assert.deepEqual(counts(), [0, 0, 1]);
});
