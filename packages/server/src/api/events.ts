import type { UserId } from "@relay/protocol";
import type { Sessions } from "../accounts/port.ts";
import { may } from "../accounts/roles.ts";
import type { Auth } from "./auth.ts";
import { ApiError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import { BEAT_MS, LiveTail } from "./live-tail.ts";
import { route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";

const STREAMS_PER_USER = 8;

type EventDeps = ApiDeps & { readonly sessions: Sessions };

/** What happens in a project right now, as a stream of events for the dashboard. */
export function addEvents(api: Api, deps: EventDeps, auth: Auth, sessions: SessionAuth): void {
  const streams = new StreamCounts();
  route(
    api,
    {
      method: "get",
      path: "/api/projects/{projectId}/events",
      summary: "Streams the project's calls and changes of links as they happen",
      by: "visitor",
      media: "text/event-stream",
      answer: null,
      errors: ["UNAVAILABLE"],
    },
    async (context) => {
      const { projectId, accountId } = await auth.developer(context);
      const { userId } = await sessions.visitor(context);
      const { node, clock, log } = deps;
      if (node.isDraining) throw unavailable();
      if (!streams.take(userId)) throw tooMany();
      const tail: { end: () => void } = { end: () => undefined };
      const stream = new EventStream(context, () => {
        streams.giveBack(userId);
        tail.end();
      });
      const { headers } = context.var.exchange.request;
      const live = new LiveTail({ live: node.live, clock, log }, stream, async () => {
        const visitor = await deps.sessions.whoIs(headers);
        if (visitor?.userId !== userId) return false;
        const role = await deps.sessions.roleIn(userId, accountId);
        return role !== null && may(role, "read");
      });
      tail.end = () => live.stop();
      if (!live.start(projectId)) stream.end();
      return stream.answer;
    },
  );
}

/** How many streams each user has open; holds those alone who have one. */
class StreamCounts {
  readonly #open = new Map<UserId, number>();

  /** Counts one more; false when the user has as many as anyone may. */
  take(userId: UserId): boolean {
    const open = this.#open.get(userId) ?? 0;
    if (open >= STREAMS_PER_USER) return false;
    this.#open.set(userId, open + 1);
    return true;
  }

  giveBack(userId: UserId): void {
    const left = (this.#open.get(userId) ?? 1) - 1;
    if (left === 0) this.#open.delete(userId);
    else this.#open.set(userId, left);
  }
}

function tooMany(): ApiError {
  const why = `${STREAMS_PER_USER} of your pages are watching already; close one`;
  return new ApiError("RATE_LIMITED", why, { "Retry-After": String(BEAT_MS / 1000) });
}

function unavailable(): ApiError {
  return new ApiError("UNAVAILABLE", "The relay is restarting", { "Retry-After": "5" });
}
