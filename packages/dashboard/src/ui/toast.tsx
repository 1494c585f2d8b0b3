import { useEffect, useSyncExternalStore } from "react";

const SHOWN_MS = 4_000;
let text: string | null = null;
const listeners = new Set<() => void>();

function set(next: string | null): void {
  text = next;
  for (const listener of listeners) listener();
}

/** Says for four seconds that something was done. */
export function say(sentence: string): void {
  set(sentence);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Where such sentences stand; read out as they come. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => text);
  useEffect(() => {
    if (shown === null) return;
    const timer = setTimeout(() => set(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-50 flex justify-center"
    >
      {shown === null ? null : (
        <p className="appear rounded-md bg-ink px-4 py-2 text-sm text-paper">{shown}</p>
      )}
    </div>
  );
}
