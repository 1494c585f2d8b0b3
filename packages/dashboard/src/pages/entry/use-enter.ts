import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";

/**
 * A place to go on to, if it is a path of this Relay's own: never `//elsewhere`, nor what browsers
 * take for it. They leave out tabs and ends of lines, and an address has no other odd characters.
 */
export function ownPath(next: string | undefined): string | null {
  return next !== undefined && /^\/(?![/\\])[!-~]*$/.test(next) ? next : null;
}

/** Returns what leads into the dashboard once somebody is signed in: to `next`, or to the start. */
export function useEnter(next?: string): () => void {
  const client = useQueryClient();
  const router = useRouter();
  return () => {
    client.clear();
    const path = ownPath(next);
    if (path === null) void router.navigate({ to: "/" });
    else router.history.push(path);
  };
}
