import { useSyncExternalStore } from "react";
import { fullTime, relativeTime } from "./format.ts";

const STEP_MS = 15_000;
const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all the times on a page; none while there is none. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const call of listeners) call();
  }, STEP_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now in ms, renewed every 15 s. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

/** How long ago something was; the full time is in its tip. */
export function Ago({
  at,
  never = "never",
}: {
  readonly at: string | null;
  readonly never?: string;
}) {
  const now = useNow();
  if (at === null) return <span className="text-quiet">{never}</span>;
  return (
    <time dateTime={at} title={fullTime(at)} className="whitespace-nowrap">
      {relativeTime(at, now)}
    </time>
  );
}
