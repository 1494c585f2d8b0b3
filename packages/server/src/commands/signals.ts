/** A second signal within this time is the first one again: `npm` and the terminal both send it. */
const SAME_SIGNAL_MS = 1_000;

/** Resolves at the first SIGINT or SIGTERM; a later second one ends the process at once. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (): void => {
      const now = performance.now();
      if (firstAt === null) {
        firstAt = now;
        resolve();
      } else if (now - firstAt >= SAME_SIGNAL_MS) {
        process.exit(1);
      }
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}
