import type { AccountId, UserId } from "@relay/protocol";
import { addMember } from "./member-writes.ts";
import { text } from "./rows.ts";
import type { WriteContext } from "./write-context.ts";

export function claimSetUp({ db }: WriteContext, at: number): boolean {
  return db.run("INSERT INTO set_up VALUES (1, ?, NULL) ON CONFLICT DO NOTHING", at) > 0;
}

export function releaseSetUp({ db }: WriteContext): void {
  db.run("DELETE FROM set_up WHERE only = 1 AND user_id IS NULL");
}

export function completeSetUp({ db }: WriteContext, userId: UserId, at: number): void {
  const done = db.run("UPDATE set_up SET user_id = ? WHERE only = 1 AND user_id IS NULL", userId);
  if (done === 0) return;
  const operator = db.get("SELECT account_id FROM accounts WHERE is_operator = 1");
  if (operator === undefined) return;
  // Written by this store, as an account's id.
  const accountId = text(operator, "account_id") as AccountId;
  addMember(db, { accountId, userId, role: "owner", at });
  db.run("UPDATE accounts SET name = 'Operator' WHERE account_id = ? AND name = ''", accountId);
}
