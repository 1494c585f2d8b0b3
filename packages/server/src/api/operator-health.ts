import { z } from "@hono/zod-openapi";
import type { Auth } from "./auth.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { Time, isoTime } from "./shapes.ts";

/** How this process is, as only the composition root can read it. */
export type Vitals = {
  readonly startedAt: number;
  readonly nodeVersion: string;
  readonly memoryBytes: number;
  readonly openSockets: number;
  readonly storeBytes: number;
  /** Since the reading before, or null in the first one for a minute. */
  readonly eventLoop: {
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
    /** The share of time in which it was busy, 0 to 1. */
    readonly busy: number;
  } | null;
};

const HealthShape = z
  .object({
    ready: z.boolean(),
    reason: z.string().nullable().openapi({ description: "Why a call could not pass now." }),
    startedAt: Time,
    versions: z.object({ relay: z.string(), node: z.string() }),
    memoryBytes: z.int(),
    openSockets: z.int(),
    connectedLinks: z.int(),
    callsInFlight: z.int(),
    unwrittenRows: z.int(),
    store: z.object({ bytes: z.int(), writeDelayMs: z.number() }),
    eventLoop: z
      .object({ p50Ms: z.number(), p99Ms: z.number(), maxMs: z.number(), busy: z.number() })
      .nullable()
      .openapi({
        description:
          "How late timers ran since the reading before; null in the first one for a minute.",
      }),
    limits: z.record(z.string(), z.number()),
  })
  .openapi("Health");

/** How this Relay is, for its operator: what `/readyz` says in one word, and why. */
export function addOperatorHealth(api: Api, deps: ApiDeps, auth: Auth): void {
  route(
    api,
    {
      method: "get",
      path: "/v1/operator/health",
      summary: "Shows how this Relay is, and the limits in force",
      by: "operator",
      answer: HealthShape,
    },
    async (context) => {
      await auth.operator(context);
      const { node, store, limits, version } = deps;
      const reason = await node.whyNotReady();
      const { startedAt, nodeVersion, storeBytes, ...vitals } = deps.vitals();
      return json(context, 200, {
        ready: reason === null,
        reason,
        startedAt: isoTime(startedAt),
        versions: { relay: version, node: nodeVersion },
        connectedLinks: node.registry.connectedCount,
        callsInFlight: node.inFlight,
        unwrittenRows: node.settler.unwritten,
        store: { bytes: storeBytes, writeDelayMs: Math.round(store.writeDelayMs()) },
        limits: { ...limits },
        ...vitals,
      } satisfies z.output<typeof HealthShape>);
    },
  );
}
