import { useSyncExternalStore } from "react";

/** What is shown once of a link: the URL for the host, and for a link just made the app's side too. */
export type KnownLink = {
  readonly mcpUrl: string;
  readonly linkToken?: string;
  readonly socketUrl?: string;
};

let known: ReadonlyMap<string, KnownLink> = new Map();
const listeners = new Set<() => void>();

/** Keeps a link's URL until the page is closed or loaded anew; it is written nowhere. */
export function noteUrl(linkId: string, link: KnownLink): void {
  known = new Map([...known, [linkId, { ...known.get(linkId), ...link }]]);
  for (const listener of listeners) listener();
}

/** What this page was shown of a link; null for links whose URL only the app has. */
export function useKnownLink(linkId: string): KnownLink | null {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => known,
  );
  return all.get(linkId) ?? null;
}
