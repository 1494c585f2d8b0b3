import { ACCOUNT_COLUMNS, readAccount } from "./account-reads.ts";
import type { Connection } from "./connection.ts";
import { readCursor } from "./cursor.ts";
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
      columns: ACCOUNT_COLUMNS,
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
