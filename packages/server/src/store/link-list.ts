import type { ProjectId } from "@relay/protocol";
import type { Connection } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import { labelOrder } from "./link-writes.ts";
import { LINK_COLUMNS, readListedLink } from "./rows.ts";
import type { LinkFilter, LinkSort, LinkState, ListedLink, Page, Paged } from "./store.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";
import type { Condition } from "./walk.ts";

/** Each order has an index: of the project, of live or revoked links, of the column and the id. */
const ORDERS = {
  "-lastSeenAt": { column: "l.seen_order", type: "number", descending: true },
  lastSeenAt: { column: "l.seen_order", type: "number", descending: false },
  "-createdAt": { column: "l.created_at", type: "number", descending: true },
  createdAt: { column: "l.created_at", type: "number", descending: false },
  label: { column: "l.label_order", type: "string", descending: false },
} as const satisfies Record<LinkSort, { column: string; type: string; descending: boolean }>;

const STATES: Readonly<Record<LinkState, string | null>> = {
  online: "l.owner_node IS NOT NULL",
  offline: "l.owner_node IS NULL",
  paused: "l.paused = 1",
  never: "l.last_seen_at IS NULL",
  // Every link of the part of the index that is walked through.
  revoked: null,
};

/** Lists a project's links in one of the orders that have an index. */
export function listLinks(
  db: Connection,
  projectId: ProjectId,
  filter: LinkFilter,
  page: Page,
): Paged<ListedLink> | "bad_cursor" {
  const list = `links ${filter.sort}`;
  const order = ORDERS[filter.sort];
  const after = page.cursor === null ? null : readCursor(list, order.type, page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const found = walk(
    db,
    {
      columns: `${LINK_COLUMNS}, m.warnings`,
      table: "links l",
      joins: "LEFT JOIN manifests m ON m.hash = l.manifest_hash",
      within: [
        { sql: "l.project_id = ?", values: [projectId] },
        { sql: "l.is_live = ?", values: [filter.state === "revoked" ? 0 : 1] },
      ],
      order: [order.column, "l.link_id"],
      descending: order.descending,
      after,
      filter: conditionsOf(filter),
    },
    page.limit + 1,
    LOOK_MAX,
  );
  return pageOf(list, page.limit, found, readListedLink);
}

function conditionsOf({ state, label, trial }: LinkFilter): Condition[] {
  const filter: Condition[] = [];
  const stateSql = state === undefined ? null : STATES[state];
  if (stateSql !== null) filter.push({ sql: stateSql, values: [] });
  if (label !== undefined) {
    const sql = "l.label IS NOT NULL AND instr(l.label_order, ?) > 0";
    filter.push({ sql, values: [labelOrder(label)] });
  }
  if (trial !== undefined) filter.push({ sql: "l.trial = ?", values: [Number(trial)] });
  return filter;
}
