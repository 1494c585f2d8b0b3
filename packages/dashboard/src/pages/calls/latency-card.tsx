import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { latencyQuery } from "../../api/project-queries.ts";
import type { Span } from "../../api/project-queries.ts";
import type { ToolLatency } from "../../api/shapes.ts";
import { Card } from "../../ui/card.tsx";
import { count, duration } from "../../ui/format.ts";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";

/** How long each tool takes: what half, 95 and 99 of a hundred calls stay within, and the spread. */
export function LatencyCard({
  projectId,
  span,
}: {
  readonly projectId: string;
  readonly span: Span;
}) {
  const latency = useQuery({
    ...latencyQuery(projectId, span),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      flush
      title="How long tools take"
      note="Calls that the app answered: ok and tool_error. p95: 95 of 100 calls took no longer."
    >
      {latency.error !== null ? (
        <FailureNote failure={latency.error} onRetry={() => void latency.refetch()} />
      ) : latency.data === undefined ? (
        <Loading />
      ) : latency.data.items.length === 0 ? (
        <Empty title="No answered calls in this time" />
      ) : (
        <Table
          caption="How long tools take"
          columns={[
            { name: "Tool" },
            { name: "Calls", end: true },
            { name: "p50", end: true },
            { name: "p95", end: true },
            { name: "p99", end: true },
            { name: "Spread" },
          ]}
        >
          {latency.data.items.map((tool) => (
            <LatencyRow key={tool.tool} tool={tool} />
          ))}
        </Table>
      )}
    </Card>
  );
}

function LatencyRow({ tool }: { readonly tool: ToolLatency }) {
  const written = (ms: number | null): string => (ms === null ? "–" : duration(ms));
  return (
    <Row>
      <Cell className="max-w-64">
        <code className="block truncate" title={tool.tool}>
          {tool.tool}
        </code>
      </Cell>
      <Cell end>{count(tool.calls)}</Cell>
      <Cell end>{written(tool.p50Ms)}</Cell>
      <Cell end>{written(tool.p95Ms)}</Cell>
      <Cell end>{written(tool.p99Ms)}</Cell>
      <Cell>
        <Histogram tool={tool} />
      </Cell>
    </Row>
  );
}

const BAR_PX = 14;
const HEIGHT_PX = 32;

/** A bar for each range of durations, the shortest first. */
function Histogram({ tool }: { readonly tool: ToolLatency }) {
  const { buckets } = tool;
  const most = Math.max(1, ...buckets.map(({ calls }) => calls));
  const words = buckets.map(({ upToMs, calls }, index) => {
    const from = index === 0 ? 0 : (buckets[index - 1]?.upToMs ?? 0);
    const range = upToMs === null ? `over ${duration(from)}` : `up to ${duration(upToMs)}`;
    return { range, calls };
  });
  const label = words
    .filter(({ calls }) => calls > 0)
    .map(({ range, calls }) => `${count(calls)} ${range}`)
    .join(", ");
  return (
    <svg
      role="img"
      aria-label={label}
      width={buckets.length * BAR_PX}
      height={HEIGHT_PX}
      className="block"
    >
      {words.map(({ range, calls }, index) => {
        const height = calls === 0 ? 1 : Math.max(2, (calls / most) * (HEIGHT_PX - 2));
        return (
          <rect
            key={range}
            x={index * BAR_PX}
            y={HEIGHT_PX - height}
            width={BAR_PX - 2}
            height={height}
            rx={1}
            className={calls === 0 ? "fill-(--line-strong)" : "fill-(--accent)"}
          >
            <title>{`${range}: ${count(calls)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
