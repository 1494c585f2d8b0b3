/** Calls that took at most `upToMs`, and longer than the bucket before; null has no upper bound. */
export type Bucket = { readonly upToMs: number | null; readonly calls: number };

/**
 * Estimates the time within which a share of the calls was answered, in ms: counted up to the bucket
 * that holds it, and as if that bucket's calls were spread evenly over it. In a bucket without an
 * upper bound it is the lower one. Null without a call.
 */
export function percentileOf(buckets: readonly Bucket[], share: number): number | null {
  const total = buckets.reduce((sum, { calls }) => sum + calls, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let before = 0;
  let lowerMs = 0;
  for (const { upToMs, calls } of buckets) {
    if (before + calls >= wanted && calls > 0) {
      if (upToMs === null) return lowerMs;
      const ms = lowerMs + ((upToMs - lowerMs) * (wanted - before)) / calls;
      return Math.round(ms * 10) / 10;
    }
    before += calls;
    lowerMs = upToMs ?? lowerMs;
  }
  return lowerMs;
}
