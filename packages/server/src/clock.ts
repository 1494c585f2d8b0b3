/** Where time comes from; injected, so that a simulation can own it. */
export interface Clock {
  /** Ms of a clock that never jumps: every deadline, window and keep-alive runs on it (SPEC 5). */
  monotonic(): number;
  /** Ms since 1970 UTC: only for what is shown or stored. */
  wall(): number;
  /** Calls `run` once after `ms`; returns what cancels it. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's own clocks and timers. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
