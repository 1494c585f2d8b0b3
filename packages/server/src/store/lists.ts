import type { AccountId } from "@relay/protocol";
import { listAccounts } from "./account-list.ts";
import { OWNER_ID, readOwnerId } from "./account-reads.ts";
import { listAudit } from "./audit-log.ts";
import { listCalls, listClients } from "./call-list.ts";
import type { Connection } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import { hours, latencies } from "./charts.ts";
import { linkHistory } from "./link-history.ts";
import { listLinks } from "./link-list.ts";
import { listEvents, listLedger } from "./money-reads.ts";
import { PROJECT_COLUMNS, readProject, text } from "./rows.ts";
import { projectStart } from "./project-start.ts";
import type { ListedProject, Page, Paged, Project } from "./store.ts";
import { stats, usage } from "./usage.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";

const LIST = "projects";

/** Lists every project with whose it is, the newest first. */
function listProjects(db: Connection, page: Page): Paged<ListedProject> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(LIST, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const found = walk(
    db,
    {
      columns: `${PROJECT_COLUMNS}, a.name AS account_name, ${OWNER_ID} AS owner_id`,
      table: "projects p",
      joins: "JOIN accounts a ON a.account_id = p.account_id",
      // Few: each is gone an hour after it was deleted.
      within: [{ sql: "p.deleted_at IS NULL", values: [] }],
      order: ["p.created_at", "p.project_id"],
      descending: true,
      after,
      filter: [],
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(LIST, page.limit, found, (row) => ({
    ...readProject(row),
    accountName: text(row, "account_name"),
    ownerId: readOwnerId(row),
  }));
}

/** Projects that one answer lists of all those of a person's accounts. */
const OWN_PROJECTS_MAX = 1_000;

/** Lists the projects of a few accounts, the newest first. */
function listProjectsOf(db: Connection, accountIds: readonly AccountId[]): readonly Project[] {
  return accountIds
    .flatMap((accountId) =>
      db.all(
        `SELECT ${PROJECT_COLUMNS} FROM projects p WHERE p.account_id = ? AND p.deleted_at IS NULL
         ORDER BY p.project_id DESC LIMIT ${OWN_PROJECTS_MAX}`,
        accountId,
      ),
    )
    .map(readProject)
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .slice(0, OWN_PROJECTS_MAX);
}

const LISTS = {
  listAccounts,
  listAudit,
  listProjects,
  listProjectsOf,
  projectStart,
  listLinks,
  linkHistory,
  listCalls,
  listClients,
  listLedger,
  listEvents,
  usage,
  stats,
  hours,
  latencies,
} as const;

/** The name of a list, as it crosses to the reader thread. */
export type ListVerb = keyof typeof LISTS;

export type ListArgs = {
  [Verb in ListVerb]: (typeof LISTS)[Verb] extends (db: Connection, ...args: infer Args) => unknown
    ? Args
    : never;
};

export type ListResult = { [Verb in ListVerb]: ReturnType<(typeof LISTS)[Verb]> };

/** One list: a verb with its own arguments. */
export type ListCall<Verb extends ListVerb = ListVerb> = {
  readonly verb: Verb;
  readonly args: ListArgs[Verb];
};

type ListTable = {
  readonly [Verb in ListVerb]: (db: Connection, ...args: ListArgs[Verb]) => ListResult[Verb];
};

const TABLE: ListTable = LISTS;

/** Reads one list in one snapshot of the database. */
export function readList<Verb extends ListVerb>(
  db: Connection,
  call: ListCall<Verb>,
): ListResult[Verb] {
  db.run("BEGIN");
  try {
    return TABLE[call.verb](db, ...call.args);
  } finally {
    if (db.isInTransaction) db.run("COMMIT");
  }
}
