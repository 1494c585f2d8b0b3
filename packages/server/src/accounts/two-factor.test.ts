import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { ANN, TestAccounts, cookieOf } from "./test/open-accounts.ts";
import type { AuthAnswer } from "./port.ts";

/** The code of a TOTP address now (RFC 6238: SHA-1, 30 s, six digits). */
function codeOf(totpUri: string, ahead = 0): string {
  const secret = new URL(totpUri).searchParams.get("secret") ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = secret
    .split("")
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes =
    bits
      .join("")
      .match(/.{8}/g)
      ?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead));
  const digest = createHmac("sha1", Buffer.from(bytes)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 1_000_000).padStart(6, "0");
}

function field(answer: AuthAnswer, name: string): unknown {
  return Object.entries(answer.body ?? {}).find(([known]) => known === name)?.[1];
}

/** Ann with a second factor: its address, her backup codes, and her open session. */
async function withFactor(people: TestAccounts) {
  await people.post("/sign-up/email", ANN);
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  const enabled = await people.post("/two-factor/enable", { password: ANN.password }, { cookie });
  const uri = String(field(enabled, "totpURI"));
  const verified = await people.post("/two-factor/verify-totp", { code: codeOf(uri) }, { cookie });
  assert.equal(verified.status, 200);
  const backupCodes = field(enabled, "backupCodes") as readonly string[];
  return { uri, backupCodes, cookie: cookieOf(verified) };
}

test("with a second factor the password alone opens nothing, and the code opens a session", async (t) => {
  const people = new TestAccounts(t);
  const { uri, cookie } = await withFactor(people);
  assert.equal((await people.accounts.whoIs({ cookie }))?.twoFactor, true);
  const half = await people.post("/sign-in/email", ANN);
  assert.equal(field(half, "twoFactorRedirect"), true);
  assert.equal(half.did, null);
  assert.equal(await people.accounts.whoIs({ cookie: cookieOf(half) }), null);
  const whole = await people.post(
    "/two-factor/verify-totp",
    { code: codeOf(uri) },
    { cookie: cookieOf(half) },
  );
  assert.equal(whole.did, "Signs in with a second factor");
  assert.equal((await people.accounts.whoIs({ cookie: cookieOf(whole) }))?.email, ANN.email);
});

test("a backup code opens a session once", async (t) => {
  const people = new TestAccounts(t);
  const { backupCodes } = await withFactor(people);
  const [code = ""] = backupCodes;
  const use = async (): Promise<number> => {
    const half = await people.post("/sign-in/email", ANN);
    const cookie = cookieOf(half);
    return (await people.post("/two-factor/verify-backup-code", { code }, { cookie })).status;
  };
  assert.equal(await use(), 200);
  assert.equal(await use(), 401);
});

test("a code is guessed five times a sign-in and no more", async (t) => {
  const people = new TestAccounts(t);
  const { uri } = await withFactor(people);
  const cookie = cookieOf(await people.post("/sign-in/email", ANN));
  const verify = (code: string) => people.post("/two-factor/verify-totp", { code }, { cookie });
  const wrong = codeOf(uri, 1_000);
  for (let n = 0; n < 5; n += 1) assert.equal((await verify(wrong)).status, 401);
  // Even the right one is too late for this sign-in.
  assert.notEqual((await verify(codeOf(uri))).status, 200);
});

test("the second factor goes only with the password", async (t) => {
  const people = new TestAccounts(t);
  const { cookie } = await withFactor(people);
  const disable = (password: string) =>
    people.post("/two-factor/disable", { password }, { cookie });
  assert.equal((await disable("wrong horse")).status, 400);
  assert.equal((await people.accounts.whoIs({ cookie }))?.twoFactor, true);
  const disabled = await disable(ANN.password);
  assert.equal(disabled.status, 200);
  const left = await people.accounts.whoIs({ cookie: cookieOf(disabled) });
  assert.equal(left?.twoFactor, false);
});

test("secrets of second factors are sealed in the database", async (t) => {
  const people = new TestAccounts(t);
  const { uri, backupCodes } = await withFactor(people);
  const kept = people.database((db) => JSON.stringify(db.prepare("SELECT * FROM twoFactor").all()));
  const base32 = new URL(uri).searchParams.get("secret") ?? "";
  assert.ok(kept.length > 100);
  for (const secret of [base32, ...backupCodes]) assert.ok(!kept.includes(secret));
});
