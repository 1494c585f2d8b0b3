/** Runs `work` in a later microtask, so that what it throws is a rejection like any other. */
export function attempt<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return Promise.resolve().then(work);
}

/** For what another event tells better. */
export function ignore(): undefined {
  return undefined;
}
