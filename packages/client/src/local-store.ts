import { parseLinkRecord } from "./link-store.ts";
import type { LinkStore } from "./link-store.ts";

/** The part of `localStorage` that is used. */
export type TextStorage = {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
};

type Globals = {
  readonly localStorage: TextStorage;
  addEventListener(
    type: string,
    listener: (event: { readonly key: string | null }) => void,
    options: { readonly signal: AbortSignal },
  ): void;
};

/**
 * Keeps the link in the browser's `localStorage`, for all tabs of the origin together. Any script of
 * the origin can read it there: the link is as safe as the page is from foreign scripts.
 */
export function localStore(key = "relay"): LinkStore {
  // Called in pages only, where these are; asked for anew each time, since a page may refuse them.
  const globals = globalThis as unknown as Globals;
  const load: () => ReturnType<typeof parseLinkRecord> = () =>
    parseLinkRecord(globals.localStorage.getItem(key));
  const save: LinkStore["save"] = (record) =>
    globals.localStorage.setItem(key, JSON.stringify(record));
  return {
    name: key,
    load,
    save,
    add: (record) => {
      const kept = load();
      if (kept !== null) return kept;
      void save(record);
      return record;
    },
    watch: (onChange) => {
      const end = new AbortController();
      globals.addEventListener("storage", (event) => event.key === key && onChange(), end);
      return () => end.abort();
    },
  };
}
