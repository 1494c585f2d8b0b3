import type { Migration } from "../migrate.ts";

/** The order of the operator's list of accounts, which was sorted anew for every page of it. */
export const accountOrder: Migration = {
  number: 6,
  name: "account order",
  sql: "CREATE INDEX accounts_created ON accounts (created_at, account_id);",
};
