import { LIMITS, OUTCOME_NAMES } from "@relay/protocol";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { callsQuery } from "../../api/project-queries.ts";
import type { CallFilter } from "../../api/project-queries.ts";
import type { Call } from "../../api/shapes.ts";
import { Button } from "../../ui/button.tsx";
import { Card, PageHead } from "../../ui/card.tsx";
import { INPUT_CLASSES, Select } from "../../ui/field.tsx";
import { shortId } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { More } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { CallDrawer } from "./call-drawer.tsx";
import { CallTable } from "./call-table.tsx";
import { HoursCard } from "./hours-card.tsx";
import { LatencyCard } from "./latency-card.tsx";
import { LiveTail } from "./live-tail.tsx";
import { SPANS, spanOf } from "./span.ts";

type Search = CallFilter & {
  readonly span?: string | undefined;
  readonly view?: string | undefined;
};

/** What happened to every call of the last 30 days. All filters are in the address. */
export function CallsPage() {
  const { projectId } = useParams({ from: "/app/projects/$projectId/calls" });
  const search = useSearch({ from: "/app/projects/$projectId/calls" });
  const navigate = useNavigate({ from: "/projects/$projectId/calls" });
  const set = (change: Search): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const span = useMemo(() => spanOf(search.span, Date.now()), [search.span]);
  const [opened, setOpened] = useState<Call | null>(null);
  const { outcome, counted, linkId, tool, view = "list" } = search;
  const filter: CallFilter = { outcome, counted, linkId, tool };
  return (
    <>
      <PageHead
        title="Calls"
        note={`Kept for ${LIMITS.callRetentionDays.value} days. Only who called what, when, and how it ended: never arguments or results.`}
      />
      <div className="flex flex-col gap-6">
        <FilterBar search={search} onChange={set} />
        <HoursCard
          projectId={projectId}
          span={span}
          tool={tool}
          outcome={outcome}
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

const ANY_OUTCOME = { value: "", label: "Any outcome" };
const COUNTED = [
  { value: "", label: "Counted or not" },
  { value: "true", label: "Counted" },
  { value: "false", label: "Not counted" },
];

function FilterBar({
  search,
  onChange,
}: {
  readonly search: Search;
  readonly onChange: (change: Search) => void;
}) {
  const [tool, setTool] = useState(search.tool ?? "");
  const given = (text: string): string | undefined => (text === "" ? undefined : text);
  const isFiltered = [search.outcome, search.counted, search.linkId, search.tool].some(
    (value) => value !== undefined,
  );
  return (
    <form
      role="search"
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ tool: given(tool.trim()) });
      }}
    >
      <Select
        aria-label="Time"
        value={search.span ?? SPANS[0].value}
        onValue={(span) => onChange({ span })}
        options={SPANS}
      />
      <Select
        aria-label="Outcome"
        value={search.outcome ?? ""}
        onValue={(outcome) => onChange({ outcome: given(outcome) })}
        options={[ANY_OUTCOME, ...OUTCOME_NAMES.map((name) => ({ value: name, label: name }))]}
      />
      <Select
        aria-label="Counted"
        value={search.counted ?? ""}
        onValue={(counted) => onChange({ counted: given(counted) })}
        options={COUNTED}
      />
      <input
        aria-label="Tool, by its whole name"
        placeholder="Tool, whole name"
        dir="auto"
        maxLength={64}
        value={tool}
        onChange={(event) => setTool(event.target.value)}
        onBlur={() => onChange({ tool: given(tool.trim()) })}
        className={`${INPUT_CLASSES} max-w-48`}
      />
      {search.linkId === undefined ? null : (
        <Button onClick={() => onChange({ linkId: undefined })}>
          Link <code>{shortId(search.linkId)}</code> <span aria-hidden>✕</span>
          <span className="sr-only">Show all links</span>
        </Button>
      )}
      {isFiltered ? (
        <Button
          kind="quiet"
          onClick={() => {
            setTool("");
            onChange({
              outcome: undefined,
              counted: undefined,
              linkId: undefined,
              tool: undefined,
            });
          }}
        >
          Clear the filters
        </Button>
      ) : null}
    </form>
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
