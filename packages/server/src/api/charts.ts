import { z } from "@hono/zod-openapi";
import { OUTCOME_NAMES } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";
import type { ChartSpan, ToolLatency } from "../store/store.ts";
import type { Auth } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { percentileOf } from "./percentile.ts";
import { json, readQuery, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { Moment, Time, isoTime } from "./shapes.ts";

const DAY_MS = 86_400_000;
const SPAN_DAYS_MAX = 31;

/** Without `to` the span ends now, without `from` it is a day long. */
const SpanQuery = z.object({ from: Moment.optional(), to: Moment.optional() });
const HoursQuery = SpanQuery.extend({
  tool: z.string().max(64, "must be at most 64 characters").optional(),
});

const HoursShape = z
  .object({
    items: z.array(
      z.object({
        hour: Time,
        byOutcome: z.partialRecord(z.enum(OUTCOME_NAMES as [Outcome, ...Outcome[]]), z.int()),
      }),
    ),
  })
  .openapi("Hours");

const Percentile = z.number().nullable().openapi({
  description: "Estimated from the buckets, as if each bucket's calls were spread evenly over it.",
});

const LatencyShape = z
  .object({
    items: z.array(
      z.object({
        tool: z.string(),
        calls: z.int(),
        p50Ms: Percentile,
        p95Ms: Percentile,
        p99Ms: Percentile,
        buckets: z.array(z.object({ upToMs: z.number().nullable(), calls: z.int() })),
      }),
    ),
  })
  .openapi("Latency");

/** A project's calls over time, and how long they took: from the hourly roll-ups. */
export function addCharts(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/hours",
      summary:
        "Counts the calls of each hour by outcome, at most 31 days; empty hours are left out",
      by: "developer",
      query: HoursQuery,
      answer: HoursShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const { tool, ...asked } = readQuery(context, HoursQuery);
      const span = spanOf(asked, deps.clock.wall());
      const found = await deps.store.hours(projectId, span, tool ?? null);
      const items = found.map(({ hour, byOutcome }) => ({ hour: isoTime(hour), byOutcome }));
      return json(context, 200, { items } satisfies z.output<typeof HoursShape>);
    },
  );
  route(
    api,
    {
      method: "get",
      path: "/v1/latency",
      summary: "Shows how long calls took that the app answered, by tool, at most 31 days",
      by: "developer",
      query: SpanQuery,
      answer: LatencyShape,
    },
    async (context) => {
      const { projectId } = await auth.developer(context);
      const span = spanOf(readQuery(context, SpanQuery), deps.clock.wall());
      const items = (await deps.store.latencies(projectId, span)).map(latencyView);
      return json(context, 200, { items } satisfies z.output<typeof LatencyShape>);
    },
  );
}

function spanOf(
  asked: { readonly from?: number | undefined; readonly to?: number | undefined },
  now: number,
): ChartSpan {
  const to = asked.to ?? now;
  const from = Math.max(0, asked.from ?? to - DAY_MS);
  if (from >= to) throw new ApiError("VALIDATION_ERROR", "from: must be before to");
  if (to - from > SPAN_DAYS_MAX * DAY_MS) {
    throw new ApiError("VALIDATION_ERROR", `from: must be at most ${SPAN_DAYS_MAX} days before to`);
  }
  return { from, to };
}

function latencyView({ tool, calls, buckets }: ToolLatency) {
  return {
    tool,
    calls,
    p50Ms: percentileOf(buckets, 0.5),
    p95Ms: percentileOf(buckets, 0.95),
    p99Ms: percentileOf(buckets, 0.99),
    buckets: [...buckets],
  };
}
