import { z } from "@hono/zod-openapi";
import type { Sessions } from "../accounts/port.ts";
import type { Auth } from "./auth.ts";
import { EventStream } from "./event-stream.ts";
import { HealthFeed } from "./health-feed.ts";
import { readHealth, within } from "./operator-health.ts";
import { route } from "./routes.ts";
import type { Api, ApiContext, ApiDeps } from "./routes.ts";
import { StreamBeat } from "./stream-beat.ts";
import { noMoreStreams } from "./stream-counts.ts";
import type { StreamCounts } from "./stream-counts.ts";

type EventDeps = ApiDeps & { readonly sessions: Sessions; readonly streams: StreamCounts };

/** Whose streams those by the operator's token are; no user's id looks like it. */
const BY_TOKEN = "the operator's token";

const Events = z.string().openapi({
  description:
    "Server-sent events. `health` comes at once and then every two seconds; its data is a JSON object of `health`, as `/v1/operator/health` answers, and `stats`, as `/v1/operator/stats` answers, or null while they can't be read. Comments keep the stream open.",
});

/** How this Relay is, pushed to its operator for as long as somebody looks. */
export function addOperatorEvents(api: Api, deps: EventDeps, auth: Auth): void {
  const { node, clock, log, streams } = deps;
  const feed = new HealthFeed({ read: () => readAll(deps), clock, log });
  node.live.atClose(() => feed.close());
  route(
    api,
    {
      method: "get",
      path: "/v1/operator/events",
      summary: "Streams how this Relay is, every two seconds",
      by: "operator",
      media: "text/event-stream",
      answer: Events,
    },
    async (context) => {
      await auth.operator(context);
      if (node.isDraining) throw noMoreStreams();
      const owner = context.get("visitor")?.userId ?? BY_TOKEN;
      streams.take(owner);
      const ends: (() => void)[] = [() => streams.giveBack(owner)];
      const stream = new EventStream(context, () => {
        for (const end of ends) end();
      });
      const stop = feed.watch({
        told: (readingText) => stream.offer("health", readingText),
        ended: () => stream.end(),
      });
      const beat = new StreamBeat(
        { clock, log },
        {
          mayLook: mayLook(context, deps),
          keepAlive: () => {
            if (!stream.isBehind) stream.comment("keep-alive");
          },
          ended: () => stream.end(),
        },
      );
      ends.push(
        () => stop?.(),
        () => beat.stop(),
      );
      if (stop === null) stream.end();
      return stream.answer;
    },
  );
}

/** Whether who asked is the operator still; the token is one for as long as this Relay runs. */
function mayLook(context: ApiContext, { sessions }: EventDeps): () => Promise<boolean> {
  const userId = context.get("visitor")?.userId;
  if (userId === undefined) return () => Promise.resolve(true);
  const { headers } = context.var.exchange.request;
  return async () => {
    const visitor = await sessions.whoIs(headers);
    return visitor?.userId === userId && visitor.isOperator;
  };
}

async function readAll(deps: ApiDeps): Promise<string> {
  const [health, stats] = await Promise.all([readHealth(deps), readStats(deps)]);
  return JSON.stringify({ health, stats });
}

/** What there is in all; null where the lists can't be read, for that is when health matters. */
async function readStats({ store, node, clock, log }: ApiDeps): Promise<object | null> {
  const month = new Date(clock.wall()).toISOString().slice(0, 7);
  try {
    const stats = await within(clock, store.stats(month), null);
    const now = { callsInFlight: node.inFlight, unwrittenRows: node.settler.unwritten };
    return stats === null ? null : { ...stats, ...now };
  } catch (error) {
    log.warn({ err: error }, "what there is in all could not be read");
    return null;
  }
}
