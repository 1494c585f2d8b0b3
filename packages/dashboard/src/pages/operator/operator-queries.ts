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
export type Account = {
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
/** `freeCallsPerMonth` null is unlimited; both are absent where this Relay has no billing. */
export type OperatorProject = Project & {
  readonly freeCallsPerMonth?: number | null;
  readonly priceMicrosPerCall?: number;
};

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
export const operatorProjectsQuery = list<OperatorProject>("projects");
