import type { LinkRecord } from "./link-store.ts";
import { RelayError, messageOf } from "./relay-error.ts";

/** The part of `fetch` that is used. */
export type LinkFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  json(): Promise<unknown>;
}>;

type LinkAnswer = Partial<LinkRecord> & {
  readonly error?: { readonly code: string; readonly message: string };
};

/** Creates a link with `POST /v1/links`; throws a `RelayError` that says when to try again. */
export async function createLink(
  fetch: LinkFetch,
  baseUrl: string,
  publishableKey: string,
  label: string | undefined,
  signal: AbortSignal,
): Promise<LinkRecord> {
  const request = {
    method: "POST",
    headers: { Authorization: `Bearer ${publishableKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ label }),
    signal,
  };
  const response = await fetch(`${baseUrl}/v1/links`, request).catch((cause: unknown) => {
    throw new RelayError("NETWORK", messageOf(cause), 0);
  });
  // Relay's own answer, or what a proxy says in its place.
  const answer = (await response.json().catch(() => ({}))) as LinkAnswer;
  const { linkId, linkToken, mcpUrl, error } = answer;
  if (linkId && linkToken && mcpUrl) return { linkId, linkToken, mcpUrl };
  const { status, headers } = response;
  const { code = "NETWORK", message = `Relay answered ${status}.` } = error ?? {};
  // Without a code it was not Relay that refused; a suspended project comes back by itself.
  const isFinal = error && status < 500 && status !== 429 && code !== "PROJECT_SUSPENDED";
  const retryAfterMs = isFinal ? null : 1000 * Number(headers.get("retry-after")) || 0;
  throw new RelayError(code, message, retryAfterMs);
}
