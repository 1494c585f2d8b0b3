/** What went wrong. */
export class RelayError extends Error {
  /**
   * To branch on: a close code of the socket (4401), one of Relay's error codes (`UNAUTHORIZED`,
   * `rate_limited`), or one of the client's own: `INVALID_MANIFEST`, `NETWORK`, `STORE`,
   * `NOT_ONLINE`, `CONNECTION_LOST`, `CANCELLED`, `LOST`, `DENIED`, `STOPPED`.
   */
  readonly code: number | string;
  /** How long to wait before trying again, at least; null when trying again won't help. */
  readonly retryAfterMs: number | null;

  constructor(code: number | string, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What a thrown value says. */
export function messageOf(error: unknown): string {
  // Anything can be thrown; most of it has a message.
  return (error as Partial<Error> | null | undefined)?.message || String(error);
}
