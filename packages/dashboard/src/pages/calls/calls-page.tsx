import { LIMITS } from "@relay/protocol";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { callsQuery } from "../../api/project-queries.ts";
import type { CallFilter } from "../../api/project-queries.ts";
import type { Call } from "../../api/shapes.ts";
import { Card, PageHead } from "../../ui/card.tsx";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { More } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CallDrawer } from "./call-drawer.tsx";
import { CallFilters } from "./call-filters.tsx";
import type { Search } from "./call-filters.tsx";
import { CallTable } from "./call-table.tsx";
import { HoursCard } from "./hours-card.tsx";
import { LatencyCard } from "./latency-card.tsx";
import { LiveTail } from "./live-tail.tsx";
import { spanOf } from "./span.ts";

/** What happened to every call of the last 30 days. All filters are in the address. */
export function CallsPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/calls" });
  const search = useSearch({ from: "/app/projects/$projectId/calls" });
  const navigate = useNavigate({ from: "/projects/$projectId/calls" });
  const set = (change: Search): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const span = useMemo(() => spanOf(search.span, Date.now()), [search.span]);
  const [opened, setOpened] = useState<Call | null>(null);
  const { outcome, counted, linkId, tool, client, view = "list" } = search;
  const filter: CallFilter = { outcome, counted, linkId, tool, client };
  return (
    <>
      <PageHead
        title="Calls"
        note={`Kept for ${LIMITS.callRetentionDays.value} days. Only who called what, when, and how it ended: never arguments or results.`}
      />
      <div className="flex flex-col gap-6">
        <CallFilters projectId={projectId} from={span.from} search={search} onChange={set} />
        <HoursCard
          projectId={projectId}
          span={span}
          tool={tool}
          outcome={outcome}
          isPart={[counted, linkId, client].some((value) => value !== undefined)}
          onOutcome={(next) => set({ outcome: next })}
        />
        <Tabs
          label="Ways to look"
          value={view}
          onValue={(next) => set({ view: next === "list" ? undefined : next })}
          tabs={[
            {
              value: "list",
              label: "List",
              panel: () => (
                <CallList
                  projectId={projectId}
                  filter={{ ...filter, from: span.from }}
                  onOpen={setOpened}
                />
              ),
            },
            {
              value: "live",
              label: "Live tail",
              panel: () => <LiveTail projectId={projectId} filter={filter} onOpen={setOpened} />,
            },
            {
              value: "latency",
              label: "Latency",
              panel: () => <LatencyCard projectId={projectId} span={span} />,
            },
          ]}
        />
      </div>
      {opened === null ? null : (
        <CallDrawer projectId={projectId} call={opened} onClose={() => setOpened(null)} />
      )}
    </>
  );
}

function CallList({
  projectId,
  filter,
  onOpen,
}: {
  readonly projectId: string;
  readonly filter: CallFilter;
  readonly onOpen: (call: Call) => void;
}) {
  const query = useInfiniteQuery(callsQuery(projectId, filter));
  if (query.error !== null) {
    return <FailureNote failure={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.data === undefined) return <Loading lines={8} />;
  const calls = query.data.pages.flatMap((page) => page.items);
  return (
    <Card flush>
      {calls.length === 0 ? (
        <Empty title={query.hasNextPage ? "None so far; look further back" : "No calls here"}>
          Every call leaves a row, also one that was refused. Widen the time or clear the filters.
        </Empty>
      ) : (
        <CallTable projectId={projectId} calls={calls} onOpen={onOpen} />
      )}
      <More query={query} />
    </Card>
  );
}
