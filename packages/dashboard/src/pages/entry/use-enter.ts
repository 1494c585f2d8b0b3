import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";

/** Returns what leads into the dashboard once somebody is signed in: to `next`, or to the start. */
export function useEnter(next?: string): () => void {
  const client = useQueryClient();
  const router = useRouter();
  return () => {
    client.clear();
    // Only a path of this Relay's own: never `//elsewhere`.
    const path = next !== undefined && /^\/(?![/\\])/.test(next) ? next : null;
    if (path === null) void router.navigate({ to: "/" });
    else router.history.push(path);
  };
}
