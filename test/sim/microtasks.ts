/** Lets `hops` rounds of waiting promises go on: 0 is none at all. */
export async function settle(hops: number): Promise<void> {
  for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
}

/** Lets every waiting promise go on, until none is left that could. */
export function settleAll(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
