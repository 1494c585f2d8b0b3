import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { queryOf, request } from "../../api/client.ts";
import type { OutcomeCounts, Page, Project } from "../../api/shapes.ts";

export type Health = {
  readonly ready: boolean;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly versions: { readonly relay: string; readonly node: string };
  readonly memoryBytes: number;
  readonly openSockets: number;
  readonly connectedLinks: number;
  readonly callsInFlight: number;
  readonly unwrittenRows: number;
  readonly store: { readonly bytes: number; readonly writeDelayMs: number };
  readonly eventLoop: {
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
    readonly busy: number;
  } | null;
  readonly limits: Readonly<Record<string, number>>;
};
export type Stats = {
  readonly accounts: number;
  readonly projects: number;
  readonly links: number;
  readonly connected: number;
  readonly month: string;
  readonly counted: number;
  readonly total: number;
  readonly byOutcome: OutcomeCounts;
};
/** Whose an account is; no owner where it was made without a person. */
export type Owned = {
  readonly name: string;
  readonly owner: { readonly name: string; readonly email: string } | null;
};
export type Account = Owned & {
  readonly accountId: string;
  readonly isOperator: boolean;
  readonly projects: number;
  readonly balanceMicros: number;
  readonly createdAt: string;
};
export type User = {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly disabled: boolean;
  readonly createdAt: string;
};
/** What a project's calls cost; null free calls are without end. */
export type Terms = {
  readonly freeCallsPerMonth: number | null;
  readonly priceMicrosPerCall: number;
};
export type OperatorProject = Project & Terms;
export type ListedProject = OperatorProject & { readonly account: Owned };

function read<Answer>(path: string) {
  return queryOptions({
    queryKey: ["operator", path],
    queryFn: ({ signal }) => request<Answer>("GET", `operator/${path}`, undefined, signal),
  });
}

function list<Item>(path: string) {
  return infiniteQueryOptions({
    queryKey: ["operator", path],
    queryFn: ({ pageParam, signal }) =>
      request<Page<Item>>(
        "GET",
        `operator/${path}${queryOf({ limit: 50, cursor: pageParam })}`,
        undefined,
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page: Page<Item>) => page.nextCursor ?? undefined,
  });
}

export const healthQuery = read<Health>("health");
export const statsQuery = read<Stats>("stats");
export const accountsQuery = list<Account>("accounts");
export const usersQuery = list<User>("users");
/** A project as it is at this moment: what is to be changed must not be an old copy. */
export const operatorProjectQuery = (projectId: string) =>
  queryOptions({
    ...read<OperatorProject>(`projects/${projectId}`),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
export const operatorProjectsQuery = list<ListedProject>("projects");
