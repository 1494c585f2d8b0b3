import { createContext, use, useEffect, useMemo, useRef, useState } from "react";
import type { ReactNode } from "react";
import { apiUrl } from "./client.ts";
import type { Call } from "./shapes.ts";

/** `asleep`: the page is not looked at, so nothing is sent to it. */
export type LiveState = "connecting" | "live" | "asleep";

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
  const [state, setState] = useState<LiveState>("connecting");
  const [listeners] = useState(() => new Set<LiveListener>());
  useEffect(() => {
    let source: EventSource | null = null;
    const update = (): void => {
      if (document.hidden) {
        source?.close();
        source = null;
        setState("asleep");
      } else if (source === null) {
        setState("connecting");
        source = openSource(projectId, listeners, setState);
      }
    };
    update();
    document.addEventListener("visibilitychange", update);
    return () => {
      document.removeEventListener("visibilitychange", update);
      source?.close();
    };
  }, [projectId, listeners]);
  const live = useMemo(() => ({ state, listeners }), [state, listeners]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

function openSource(
  projectId: string,
  listeners: ReadonlySet<LiveListener>,
  onState: (state: LiveState) => void,
): EventSource {
  const source = new EventSource(apiUrl(`projects/${projectId}/events`));
  const tell = (name: string, pick: (listener: LiveListener, data: string) => void): void =>
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      for (const listener of listeners) pick(listener, data);
    });
  // Relay's own events, in the shapes its description promises.
  tell("call", (listener, data) => listener.call?.(JSON.parse(data) as Call));
  tell("link", (listener, data) => listener.link?.(JSON.parse(data) as LinkChange));
  tell("dropped", (listener, data) =>
    listener.dropped?.((JSON.parse(data) as { readonly calls: number }).calls),
  );
  source.addEventListener("open", () => {
    onState("live");
    for (const listener of listeners) listener.opened?.();
  });
  source.addEventListener("error", () => onState("connecting"));
  return source;
}

/** Listens to the project's events for as long as the caller is on the page. */
export function useLive(listener: LiveListener): LiveState {
  const live = use(LiveContext);
  const newest = useRef(listener);
  useEffect(() => {
    newest.current = listener;
  });
  useEffect(() => {
    if (live === null) return;
    const own: LiveListener = {
      call: (call) => newest.current.call?.(call),
      link: (change) => newest.current.link?.(change),
      dropped: (calls) => newest.current.dropped?.(calls),
      opened: () => newest.current.opened?.(),
    };
    live.listeners.add(own);
    return () => {
      live.listeners.delete(own);
    };
  }, [live]);
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
