import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRefreshOnLive } from "../../api/live.tsx";
import { callsQuery } from "../../api/project-queries.ts";
import type { Call } from "../../api/shapes.ts";
import { buttonClasses } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Empty, FailureNote, Loading } from "../../ui/notice.tsx";
import { CallDrawer } from "../calls/call-drawer.tsx";
import { CallTable } from "../calls/call-table.tsx";

/** The newest calls of one link, renewed as more come. */
export function LinkCalls({
  projectId,
  linkId,
}: {
  readonly projectId: string;
  readonly linkId: string;
}) {
  const client = useQueryClient();
  const options = callsQuery(projectId, { linkId });
  const query = useInfiniteQuery(options);
  const [opened, setOpened] = useState<Call | null>(null);
  useRefreshOnLive(() => void client.invalidateQueries({ queryKey: options.queryKey }));
  if (query.error !== null) {
    return <FailureNote failure={query.error} onRetry={() => void query.refetch()} />;
  }
  if (query.data === undefined) return <Loading />;
  const calls = query.data.pages.flatMap((page) => page.items);
  if (calls.length === 0) return <Empty title="No calls of this link in the last 30 days" />;
  return (
    <div className="flex flex-col gap-4">
      <Card flush>
        <CallTable projectId={projectId} calls={calls} onOpen={setOpened} withoutLink />
      </Card>
      <Link
        to="/projects/$projectId/calls"
        params={{ projectId }}
        search={{ linkId, span: "30d" }}
        className={buttonClasses("secondary")}
      >
        All calls of this link, with chart
      </Link>
      {opened === null ? null : (
        <CallDrawer projectId={projectId} call={opened} onClose={() => setOpened(null)} />
      )}
    </div>
  );
}
