import type { Sessions } from "../accounts/port.ts";
import { may } from "../accounts/roles.ts";
import type { Auth } from "./auth.ts";
import { Checklists } from "./checklists.ts";
import { EventStream } from "./event-stream.ts";
import { LiveTail } from "./live-tail.ts";
import { route } from "./routes.ts";
import type { Api, ApiDeps } from "./routes.ts";
import type { SessionAuth } from "./session-auth.ts";
import { StreamBeat } from "./stream-beat.ts";
import { noMoreStreams } from "./stream-counts.ts";
import type { StreamCounts } from "./stream-counts.ts";

type EventDeps = ApiDeps & { readonly sessions: Sessions; readonly streams: StreamCounts };

/**
 * What happens in a project right now, as a stream of events for the dashboard: its calls, how its
 * links stand, and its checklist, which comes first of all and then whenever a step of it changed.
 */
export function addEvents(api: Api, deps: EventDeps, auth: Auth, sessions: SessionAuth): void {
  const { node, clock, log, store, streams } = deps;
  const { live, refusals } = node;
  const checklists = new Checklists({ store, live, refusals, clock, log });
  route(
    api,
    {
      method: "get",
      path: "/api/projects/{projectId}/events",
      summary: "Streams the project's calls, links and checklist as they change",
      by: "visitor",
      media: "text/event-stream",
      answer: null,
      errors: ["UNAVAILABLE"],
    },
    async (context) => {
      const { projectId, accountId } = await auth.developer(context);
      const { userId } = await sessions.visitor(context);
      if (node.isDraining) throw noMoreStreams();
      streams.take(userId);
      const ends: (() => void)[] = [() => streams.giveBack(userId)];
      const stream = new EventStream(context, () => {
        for (const end of ends) end();
      });
      const tail = new LiveTail({ live, checklists }, stream);
      const { headers } = context.var.exchange.request;
      const beat = new StreamBeat(
        { clock, log },
        {
          mayLook: async () => {
            const visitor = await deps.sessions.whoIs(headers);
            if (visitor?.userId !== userId) return false;
            const role = await deps.sessions.roleIn(userId, accountId);
            return role !== null && may(role, "read");
          },
          keepAlive: () => tail.keepAlive(),
          ended: () => tail.ended(),
        },
      );
      ends.push(
        () => tail.stop(),
        () => beat.stop(),
      );
      if (!tail.start(projectId)) stream.end();
      return stream.answer;
    },
  );
}
