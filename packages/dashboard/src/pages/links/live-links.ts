import { useQueryClient } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useLive, useRefreshOnLive } from "../../api/live.tsx";
import type { LinkChange, LiveState } from "../../api/live.tsx";
import type { Link, Page } from "../../api/shapes.ts";

/** Keeps every list and drawer of a project's links as the links are now. */
export function useLiveLinks(projectId: string): LiveState {
  const client = useQueryClient();
  useRefreshOnLive(
    () => void client.invalidateQueries({ queryKey: ["project", projectId, "link"] }),
    "link",
  );
  return useLive({
    link: (change) =>
      client.setQueriesData<InfiniteData<Page<Link>>>(
        { queryKey: ["project", projectId, "links"] },
        (data) => (data === undefined ? data : patched(data, change)),
      ),
    // What happened while nobody looked was not told.
    opened: () => void client.invalidateQueries({ queryKey: ["project", projectId, "links"] }),
  });
}

function patched(
  data: InfiniteData<Page<Link>>,
  { linkId, connected, paused, revoked }: LinkChange,
): InfiniteData<Page<Link>> {
  const seen = new Date().toISOString();
  const apply = (link: Link): Link =>
    link.linkId === linkId
      ? {
          ...link,
          connected: connected ?? link.connected,
          paused: paused ?? link.paused,
          revoked: revoked ?? link.revoked,
          lastSeenAt: connected === true ? seen : link.lastSeenAt,
        }
      : link;
  const holds = ({ items }: Page<Link>): boolean => items.some((link) => link.linkId === linkId);
  if (!data.pages.some(holds)) return data;
  return {
    ...data,
    pages: data.pages.map((page) =>
      holds(page) ? { ...page, items: page.items.map(apply) } : page,
    ),
  };
}
