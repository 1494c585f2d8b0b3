/** What a close of the app's socket means, and whether the app may connect again. */
export type CloseRule = {
  readonly reason: string;
  readonly reconnect: boolean;
  readonly meaning: string;
};

/** Every code Relay closes an app's socket with. 1006 is what an app sees of a dropped connection. */
export const CLOSE_CODES = {
  1002: {
    reason: "protocol error",
    reconnect: true,
    meaning: "What came is not a WebSocket frame. Reconnect with backoff.",
  },
  1007: {
    reason: "invalid UTF-8",
    reconnect: true,
    meaning: "A text frame was not valid UTF-8.",
  },
  1008: {
    reason: "too many fragments",
    reconnect: true,
    meaning: "A message came in over 64 fragments. Reconnect with backoff.",
  },
  1011: {
    reason: "internal error",
    reconnect: true,
    meaning: "Relay could not store the hello. Reconnect with backoff.",
  },
  1012: {
    reason: "relay is restarting",
    reconnect: true,
    meaning: "Relay is restarting or moving. Reconnect with backoff.",
  },
  4001: {
    reason: "a newer socket took over the link",
    reconnect: true,
    meaning: "A newer socket took over the link.",
  },
  4400: {
    reason: "invalid hello or too many invalid frames",
    reconnect: true,
    meaning:
      "Invalid or late `hello`, an unsupported `protocol`, or more than 10 invalid frames on one socket.",
  },
  4401: {
    reason: "unknown or revoked link token",
    reconnect: false,
    meaning: "Unknown or revoked link token. Do not reconnect.",
  },
  4403: {
    reason: "origin not allowed",
    reconnect: false,
    meaning: "Origin not allowed. Do not reconnect.",
  },
  4410: {
    reason: "the link was revoked",
    reconnect: false,
    meaning: "The link was revoked. Do not reconnect.",
  },
  4423: {
    reason: "the project is suspended",
    reconnect: true,
    meaning: "The project is suspended. Reconnect with backoff.",
  },
  4429: {
    reason: "too many open sockets or hellos",
    reconnect: true,
    meaning: "Too many open sockets for the project, or too many hellos of the link in a minute.",
  },
} as const satisfies Record<number, CloseRule>;

export type CloseCode = keyof typeof CLOSE_CODES;

/** The codes after which an app must not reconnect by itself: those of the table that say so. */
export const FINAL_CLOSE_CODES: readonly number[] = [4401, 4403, 4410];
