import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { queryOf, request } from "./client.ts";
import type {
  Call,
  Checklist,
  ClientCalls,
  Hour,
  Key,
  LedgerEntry,
  Link,
  LinkHistory,
  Manifest,
  Page,
  Project,
  RefusedOrigin,
  ToolLatency,
  Usage,
} from "./shapes.ts";

/** What the pages ask about projects; every key begins with `project` and its id. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => request<Page<Project>>("GET", "projects", undefined, signal),
});

function read<Answer>(projectId: string, path: string, ...key: readonly unknown[]) {
  return queryOptions({
    queryKey: ["project", projectId, ...key],
    queryFn: ({ signal }) =>
      request<Answer>("GET", `projects/${projectId}${path}`, undefined, signal),
  });
}

function list<Item>(
  projectId: string,
  path: string,
  filter: Readonly<Record<string, string | undefined>>,
) {
  return infiniteQueryOptions({
    queryKey: ["project", projectId, path, filter],
    queryFn: ({ pageParam, signal }) =>
      request<Page<Item>>(
        "GET",
        `projects/${projectId}/${path}${queryOf({ ...filter, limit: 50, cursor: pageParam })}`,
        undefined,
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page: Page<Item>) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export const projectQuery = (id: string) => read<Project>(id, "", "project");
export const keysQuery = (id: string) => read<Page<Key>>(id, "/keys", "keys");
export const checklistQuery = (id: string) => read<Checklist>(id, "/checklist", "checklist");
export const refusedOriginsQuery = (id: string) =>
  read<{ readonly items: readonly RefusedOrigin[] }>(id, "/refused-origins", "refused-origins");
export const usageQuery = (id: string, month: string) =>
  read<Usage>(id, `/usage${queryOf({ month })}`, "usage", month);

export const linkQuery = (id: string, linkId: string) =>
  read<Link>(id, `/links/${linkId}`, "link", linkId);
export const historyQuery = (id: string, linkId: string) =>
  read<LinkHistory>(id, `/links/${linkId}/history`, "link", linkId, "history");
export const manifestQuery = (id: string, linkId: string) =>
  read<Manifest>(id, `/links/${linkId}/manifest`, "link", linkId, "manifest");

export type Span = { readonly from: string; readonly to: string };
export const hoursQuery = (id: string, span: Span, tool: string | undefined) =>
  read<{ readonly items: readonly Hour[] }>(
    id,
    `/hours${queryOf({ ...span, tool })}`,
    "hours",
    span,
    tool,
  );
export const latencyQuery = (id: string, span: Span) =>
  read<{ readonly items: readonly ToolLatency[] }>(id, `/latency${queryOf(span)}`, "latency", span);

/** Who called since `from`: what a list of calls can be narrowed down to. */
export const clientsQuery = (id: string, from: string) =>
  read<{ readonly items: readonly ClientCalls[] }>(
    id,
    `/clients${queryOf({ from })}`,
    "clients",
    from,
  );

export type LinkFilter = {
  readonly label?: string | undefined;
  readonly state?: string | undefined;
  readonly trial?: string | undefined;
  readonly sort?: string | undefined;
};
export const linksQuery = (id: string, filter: LinkFilter) => list<Link>(id, "links", filter);

export type CallFilter = {
  readonly outcome?: string | undefined;
  readonly counted?: string | undefined;
  readonly linkId?: string | undefined;
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};
export const callsQuery = (id: string, filter: CallFilter) => list<Call>(id, "calls", filter);
export const ledgerQuery = (id: string) => list<LedgerEntry>(id, "ledger", {});
