import { OUTCOME_NAMES } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, lazy, useMemo, useState } from "react";
import { hoursQuery } from "../../api/project-queries.ts";
import type { Span } from "../../api/project-queries.ts";
import type { Hour, OutcomeCounts } from "../../api/shapes.ts";
import { OutcomeChip } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { classes } from "../../ui/classes.ts";
import { count, fullTime, plural } from "../../ui/format.ts";
import { FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { HOUR_MS } from "./span.ts";

const StackedChart = lazy(async () => ({
  default: (await import("./stacked-chart.tsx")).StackedChart,
}));

type HoursCardProps = {
  readonly projectId: string;
  readonly span: Span;
  readonly tool: string | undefined;
  readonly outcome: string | undefined;
  /** Whether the list is narrowed by what the hourly sums do not know. */
  readonly isPart: boolean;
  readonly onOutcome: (outcome: Outcome | undefined) => void;
};

/** Calls by the hour and by how they ended: a chart, its key, and the same as a table. */
export function HoursCard(props: HoursCardProps) {
  const { projectId, span, tool, outcome, isPart, onOutcome } = props;
  const hours = useQuery({
    ...hoursQuery(projectId, span, tool),
    placeholderData: keepPreviousData,
  });
  const items = hours.data?.items;
  const chart = useMemo(
    () => (items === undefined ? null : chartOf(items, span, outcome)),
    [items, span, outcome],
  );
  const [hovered, setHovered] = useState<number | null>(null);
  if (hours.error !== null) {
    return <FailureNote failure={hours.error} onRetry={() => void hours.refetch()} />;
  }
  if (chart === null) {
    return (
      <Card title="Calls an hour">
        <Loading />
      </Card>
    );
  }
  const at = hovered === null ? null : (chart.rows[hovered] ?? null);
  return (
    <Card
      title="Calls an hour"
      note={
        at === null
          ? `${plural(chart.total, "call")} in all${tool === undefined ? "" : " of this tool"}${isPart ? ", not narrowed by host, link or count" : ""}; times are your own`
          : `${fullTime(at.hour)}: ${plural(sumOf(at.byOutcome), "call")}`
      }
    >
      {chart.total === 0 ? (
        <p className="text-sm text-quiet">No call in this time.</p>
      ) : (
        <Hours
          chart={chart}
          counts={at?.byOutcome ?? chart.totals}
          outcome={outcome}
          onOutcome={onOutcome}
          onHover={setHovered}
        />
      )}
    </Card>
  );
}

function Hours({
  chart,
  counts,
  outcome,
  onOutcome,
  onHover,
}: Pick<HoursCardProps, "outcome" | "onOutcome"> & {
  readonly chart: ReturnType<typeof chartOf>;
  readonly counts: OutcomeCounts;
  readonly onHover: (index: number | null) => void;
}) {
  return (
    <>
      <Suspense fallback={<div className="h-45" />}>
        <StackedChart
          label={`Calls an hour by outcome, ${count(chart.total)} in all. A table with the same numbers follows.`}
          times={chart.times}
          layers={chart.layers}
          onHover={onHover}
        />
      </Suspense>
      <ChartKey counts={counts} outcomes={chart.outcomes} chosen={outcome} onOutcome={onOutcome} />
      <details className="mt-3 text-sm">
        <summary className="w-fit text-xs text-quiet hover:text-ink">The same as a table</summary>
        <HoursTable rows={chart.rows} outcomes={chart.outcomes} />
      </details>
    </>
  );
}

function sumOf(counts: OutcomeCounts): number {
  return Object.values(counts).reduce((sum, calls) => sum + calls, 0);
}

/** One row for every hour of the span, also for those that had no call. */
function chartOf(items: readonly Hour[], span: Span, only: string | undefined) {
  const known = new Map(items.map(({ hour, byOutcome }) => [Date.parse(hour), byOutcome]));
  const times: number[] = [];
  for (let at = Date.parse(span.from); at < Date.parse(span.to); at += HOUR_MS) times.push(at);
  const totals: Partial<Record<Outcome, number>> = {};
  for (const { byOutcome } of items) {
    for (const outcome of OUTCOME_NAMES) {
      const calls = byOutcome[outcome];
      if (calls !== undefined) totals[outcome] = (totals[outcome] ?? 0) + calls;
    }
  }
  const outcomes = OUTCOME_NAMES.filter((outcome) => totals[outcome] !== undefined);
  const drawn = outcomes.filter((outcome) => only === undefined || outcome === only);
  return {
    times,
    outcomes,
    totals,
    total: sumOf(totals),
    layers: drawn.map((outcome) => ({
      outcome,
      values: times.map((time) => known.get(time)?.[outcome] ?? 0),
    })),
    rows: times.map((time) => ({
      hour: new Date(time).toISOString(),
      byOutcome: known.get(time) ?? {},
    })),
  };
}

/** The colours with their names and numbers; each is a filter. */
function ChartKey({
  counts,
  outcomes,
  chosen,
  onOutcome,
}: {
  readonly counts: OutcomeCounts;
  readonly outcomes: readonly Outcome[];
  readonly chosen: string | undefined;
  readonly onOutcome: (outcome: Outcome | undefined) => void;
}) {
  if (outcomes.length === 0) return null;
  return (
    <div role="group" aria-label="Show one outcome" className="mt-3 flex flex-wrap gap-1">
      {outcomes.map((outcome) => (
        <button
          key={outcome}
          type="button"
          aria-pressed={chosen === outcome}
          onClick={() => onOutcome(chosen === outcome ? undefined : outcome)}
          className={classes(
            "flex h-7 items-center gap-2 rounded-md border px-2 text-xs",
            chosen === outcome ? "border-accent bg-accent-soft" : "border-line hover:bg-hover",
          )}
        >
          <OutcomeChip outcome={outcome} />
          <span className="tabular-nums">{count(counts[outcome] ?? 0)}</span>
        </button>
      ))}
    </div>
  );
}

function HoursTable({
  rows,
  outcomes,
}: {
  readonly rows: readonly Hour[];
  readonly outcomes: readonly Outcome[];
}) {
  const busy = rows.filter(({ byOutcome }) => sumOf(byOutcome) > 0).toReversed();
  if (busy.length === 0) return <p className="mt-2 text-quiet">No calls in this time.</p>;
  return (
    <div className="mt-2 max-h-72 overflow-y-auto rounded-md border border-line">
      <Table
        caption="Calls an hour by outcome"
        columns={[{ name: "Hour" }, ...outcomes.map((outcome) => ({ name: outcome, end: true }))]}
      >
        {busy.map(({ hour, byOutcome }) => (
          <Row key={hour}>
            <Cell className="whitespace-nowrap">{fullTime(hour)}</Cell>
            {outcomes.map((outcome) => (
              <Cell key={outcome} end>
                {count(byOutcome[outcome] ?? 0)}
              </Cell>
            ))}
          </Row>
        ))}
      </Table>
    </div>
  );
}
