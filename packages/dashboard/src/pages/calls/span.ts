import type { Span } from "../../api/project-queries.ts";

/** How far back the page looks. */
export const SPANS = [
  { value: "24h", label: "Last 24 hours", hours: 24 },
  { value: "7d", label: "Last 7 days", hours: 7 * 24 },
  { value: "30d", label: "Last 30 days", hours: 30 * 24 },
] as const;

export const HOUR_MS = 3_600_000;

/** Whole hours up to the end of the running one, so that an hour's bar is never half of it. */
export function spanOf(
  value: string | undefined,
  nowMs: number,
): Span & { readonly hours: number } {
  const { hours } = SPANS.find((span) => span.value === value) ?? SPANS[0];
  const to = Math.ceil((nowMs + 1) / HOUR_MS) * HOUR_MS;
  const from = to - hours * HOUR_MS;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), hours };
}
