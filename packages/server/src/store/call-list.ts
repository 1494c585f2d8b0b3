import type { ProjectId } from "@relay/protocol";
import { dayOf, listDays, tableOf } from "./call-days.ts";
import type { Connection, Row } from "./connection.ts";
import { readCursor } from "./cursor.ts";
import type { Place } from "./cursor.ts";
import { integer, readCall, textOrNull } from "./rows.ts";
import type { CallFilter, CallRow, ClientCalls, Page, Paged } from "./store.ts";
import { LOOK_MAX, pageOf, walk } from "./walk.ts";
import type { Condition } from "./walk.ts";

const LIST = "calls";
const COLUMNS = `call_id, project_id, link_id, tool, tool_known, client_name, client_version, outcome,
  counted, started_at, duration_ms, request_bytes, result_bytes, request_id`;

/** Lists a project's calls, the newest first, from one day's table after the other. */
export function listCalls(
  db: Connection,
  projectId: ProjectId,
  filter: CallFilter,
  page: Page,
): Paged<CallRow> | "bad_cursor" {
  const after = page.cursor === null ? null : readCursor(LIST, "number", page.cursor);
  if (after === null && page.cursor !== null) return "bad_cursor";
  const rows: Row[] = [];
  let lookLeft = LOOK_MAX;
  let stoppedAt: Place | null = null;
  for (const day of daysWithin(db, filter, after)) {
    const end = walk(
      db,
      {
        columns: COLUMNS,
        table: tableOf(day),
        joins: "",
        within: timesOf(projectId, filter),
        order: ["started_at", "call_id"],
        descending: true,
        after,
        filter: conditionsOf(filter),
      },
      page.limit + 1 - rows.length,
      lookLeft,
    );
    rows.push(...end.rows);
    lookLeft -= end.looked;
    stoppedAt = end.stoppedAt;
    if (rows.length > page.limit || stoppedAt !== null) break;
  }
  return pageOf(LIST, page.limit, { rows, stoppedAt }, readCall);
}

/** Names that one answer offers: a stranger's hosts may call themselves anything. */
const CLIENTS_MAX = 50;

/** Names the clients of a project's newest calls, the busiest first; each row is looked at once. */
export function listClients(
  db: Connection,
  projectId: ProjectId,
  span: Pick<CallFilter, "from" | "to">,
): readonly ClientCalls[] {
  const calls = new Map<string, number>();
  let lookLeft = LOOK_MAX;
  for (const day of daysWithin(db, span, null)) {
    const within = timesOf(projectId, span);
    const found = db.all(
      `SELECT client_name, count(*) AS calls FROM (SELECT client_name FROM ${tableOf(day)}
         WHERE ${within.map(({ sql }) => sql).join(" AND ")}
         ORDER BY started_at DESC, call_id DESC LIMIT ?)
       GROUP BY client_name`,
      ...within.flatMap(({ values }) => values),
      lookLeft,
    );
    for (const row of found) {
      const [name, count] = [textOrNull(row, "client_name"), integer(row, "calls")];
      lookLeft -= count;
      if (name !== null) calls.set(name, (calls.get(name) ?? 0) + count);
    }
    if (lookLeft <= 0) break;
  }
  return [...calls]
    .map(([name, count]) => ({ name, calls: count }))
    .toSorted((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1))
    .slice(0, CLIENTS_MAX);
}

/** The days that can hold what is asked for, the newest first. */
function daysWithin(
  db: Connection,
  filter: Pick<CallFilter, "from" | "to">,
  after: Place | null,
): readonly string[] {
  const newest = Math.min(filter.to ?? END_OF_TIME, Number(after?.[0] ?? END_OF_TIME));
  const last = dayOf(Math.max(0, Math.min(newest, END_OF_TIME)));
  const first = dayOf(Math.max(0, Math.min(filter.from ?? 0, END_OF_TIME)));
  return listDays(db).filter((day) => day >= first && day <= last);
}

/** The end of the year 9999, the last that has a day of eight digits. */
const END_OF_TIME = Date.UTC(10_000, 0) - 1;

function timesOf(projectId: ProjectId, { from, to }: CallFilter): Condition[] {
  const within: Condition[] = [{ sql: "project_id = ?", values: [projectId] }];
  if (from !== undefined) within.push({ sql: "started_at >= ?", values: [from] });
  if (to !== undefined) within.push({ sql: "started_at < ?", values: [to] });
  return within;
}

function conditionsOf({ outcome, counted, linkId, tool, client }: CallFilter): Condition[] {
  const filter: Condition[] = [];
  if (outcome !== undefined) filter.push({ sql: "outcome = ?", values: [outcome] });
  if (counted !== undefined) filter.push({ sql: "counted = ?", values: [Number(counted)] });
  if (linkId !== undefined) filter.push({ sql: "link_id = ?", values: [linkId] });
  if (tool !== undefined) filter.push({ sql: "tool = ?", values: [tool] });
  if (client !== undefined) filter.push({ sql: "client_name = ?", values: [client] });
  return filter;
}
