import { createContext, use, useEffect, useMemo, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { Call, Checklist } from "./shapes.ts";
import { useStream } from "./stream.ts";
import type { LiveState } from "./stream.ts";

export type { LiveState } from "./stream.ts";

export type LinkChange = {
  readonly linkId: string;
  readonly connected?: boolean;
  readonly paused?: boolean;
  readonly revoked?: boolean;
};

export type LiveListener = {
  readonly call?: (call: Call) => void;
  readonly link?: (change: LinkChange) => void;
  /** Calls that came faster than this page could be told. */
  readonly dropped?: (calls: number) => void;
  /** The stream is there, or is there again: what came before it has to be asked for. */
  readonly opened?: () => void;
};

type Live = {
  readonly state: LiveState;
  readonly listeners: Set<LiveListener>;
  readonly checklist: Checklist | null;
};

const LiveContext = createContext<Live | null>(null);

/** Holds a project's stream of events while the page is looked at. */
export function LiveProvider({
  projectId,
  children,
}: {
  readonly projectId: string;
  readonly children: ReactNode;
}) {
  const [listeners] = useState(() => new Set<LiveListener>());
  const [checklist, setChecklist] = useState<Checklist | null>(null);
  const tell = (pick: (listener: LiveListener) => void): void => {
    for (const listener of listeners) pick(listener);
  };
  // Relay's own events, in the shapes its description promises.
  const state = useStream(`projects/${projectId}/events`, {
    open: () => tell((listener) => listener.opened?.()),
    events: {
      call: (data) => tell((listener) => listener.call?.(JSON.parse(data) as Call)),
      link: (data) => tell((listener) => listener.link?.(JSON.parse(data) as LinkChange)),
      dropped: (data) =>
        tell((listener) =>
          listener.dropped?.((JSON.parse(data) as { readonly calls: number }).calls),
        ),
      checklist: (data) => setChecklist(JSON.parse(data) as Checklist),
    },
  });
  const live = useMemo(() => ({ state, listeners, checklist }), [state, listeners, checklist]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

/** The project's checklist as it was pushed last; null before the stream has brought it. */
export function useChecklist(): {
  readonly checklist: Checklist | null;
  readonly state: LiveState;
} {
  const live = use(LiveContext);
  return { checklist: live?.checklist ?? null, state: live?.state ?? "connecting" };
}

/** Listens to the project's events for as long as the caller is on the page. */
export function useLive(listener: LiveListener): LiveState {
  const live = use(LiveContext);
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  const listeners = live?.listeners;
  useEffect(() => {
    if (listeners === undefined) return;
    const own: LiveListener = {
      call: (call) => newest.current.call?.(call),
      link: (change) => newest.current.link?.(change),
      dropped: (calls) => newest.current.dropped?.(calls),
      opened: () => newest.current.opened?.(),
    };
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  }, [listeners]);
  return live?.state ?? "connecting";
}

const AGAIN_MS = 750;

/** Runs `refresh` soon after a project's event, and once for many that come together. */
export function useRefreshOnLive(refresh: () => void, on: "link" | "any" = "any"): LiveState {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const soon = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      refresh();
    }, AGAIN_MS);
  };
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return useLive({ link: soon, opened: soon, ...(on === "any" ? { call: soon } : {}) });
}
