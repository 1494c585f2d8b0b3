import type { AccountId } from "@relay/protocol";
import type { Connection, Row } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import { integer, text } from "./rows.ts";
import type { Account, Page, Paged } from "./store.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";

const LIST = "accounts";

/** Lists every account, the newest first. */
export function listAccounts(db: Connection, page: Page): Paged<Account> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(LIST, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const found = walk(
    db,
    {
      columns: `a.account_id, a.is_operator, a.created_at,
        (SELECT count(*) FROM projects p WHERE p.account_id = a.account_id
          AND p.deleted_at IS NULL) AS projects,
        ifnull((SELECT balance_micros FROM balances b WHERE b.account_id = a.account_id), 0)
          AS balance_micros`,
      table: "accounts a",
      joins: "",
      within: [{ sql: "true", values: [] }],
      order: ["a.created_at", "a.account_id"],
      descending: true,
      after,
      filter: [],
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(LIST, page.limit, found, readAccount);
}

function readAccount(row: Row): Account {
  return {
    // Written by this store, as an account's id.
    accountId: text(row, "account_id") as AccountId,
    isOperator: integer(row, "is_operator") === 1,
    projects: integer(row, "projects"),
    balanceMicros: integer(row, "balance_micros"),
    createdAt: integer(row, "created_at"),
  };
}
