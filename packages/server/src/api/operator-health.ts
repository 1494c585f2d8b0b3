import { z } from "@hono/zod-openapi";
import type { Clock } from "../clock.ts";
import type { Auth } from "./auth.ts";
import { json, route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import { Time, isoTime } from "./shapes.ts";

/** What is asked of the store gets so long: when it hangs is when its operator looks. */
const PATIENCE_MS = 2_000;

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
      return json(context, 200, await readHealth(deps));
    },
  );
}

/** Reads how this Relay is now. */
export async function readHealth(deps: ApiDeps): Promise<z.output<typeof HealthShape>> {
  const { node, store, limits, version } = deps;
  const reason = await within(deps.clock, node.whyNotReady(), "the store does not answer");
  const { startedAt, nodeVersion, storeBytes, ...vitals } = deps.vitals();
  return {
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
  };
}

/** What `asked` resolves with, or `late` when that takes over two seconds. */
export function within<Answer>(
  clock: Clock,
  asked: Promise<Answer>,
  late: Answer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(PATIENCE_MS, () => resolve(late));
    void asked.then(resolve, reject).finally(cancel);
  });
}
