import assert from "node:assert/strict";
import { test } from "node:test";
import { ScryptPasswords } from "./passwords.ts";

test("a password is proven by its hash, in either way of typing its letters, and another is not", async () => {
  const passwords = new ScryptPasswords();
  const [one, other] = await Promise.all([
    passwords.hash("caf\u00e9 au lait"),
    passwords.hash("caf\u00e9 au lait"),
  ]);
  assert.notEqual(one, other);
  assert.ok(!one.includes("lait"));
  assert.equal(await passwords.verify("cafe\u0301 au lait", one), true);
  assert.equal(await passwords.verify("cafe au lait", one), false);
});

test("what is no hash of ours proves nothing and still costs a hash", async () => {
  const passwords = new ScryptPasswords();
  const startedAt = performance.now();
  assert.equal(await passwords.verify("", ""), false);
  const cost = performance.now() - startedAt;
  assert.ok(cost > 5, `${cost} ms`);
});

test("two passwords are hashed at once, the others wait in turn, and many are too many", async () => {
  const passwords = new ScryptPasswords(2);
  const none = new ScryptPasswords(0);
  await assert.rejects(none.hash("correct horse"), /too many passwords wait/);
  const done: number[] = [];
  const hash = async (n: number): Promise<void> => {
    await passwords.hash("correct horse");
    done.push(n);
  };
  const first = [0, 1, 2].map(hash);
  assert.equal(passwords.isBusy, false);
  const last = hash(3);
  assert.equal(passwords.isBusy, true);
  await Promise.all([...first, last]);
  assert.equal(passwords.isBusy, false);
  assert.deepEqual(
    done.toSorted((a, b) => a - b),
    [0, 1, 2, 3],
  );
  assert.ok(done.indexOf(2) > Math.min(done.indexOf(0), done.indexOf(1)));
});
