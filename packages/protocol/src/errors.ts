/** The REST error codes with their status, as `{ "error": { "code", "message", "requestId" } }`. */
export const REST_ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: "The body, a query value or a field is wrong." },
  UNAUTHORIZED: { status: 401, meaning: "The key or token is missing or invalid." },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning:
      "The `Origin` is not on the project's list of allowed origins; under `/api`: not Relay's own.",
  },
  FORBIDDEN: { status: 403, meaning: "The role in the account does not allow this." },
  REAUTHENTICATION_NEEDED: {
    status: 403,
    meaning: "The password was last typed over 15 minutes ago; type it again.",
  },
  PROJECT_SUSPENDED: { status: 403, meaning: "The project is suspended or stopped." },
  LIMIT_REACHED: { status: 403, meaning: "A limit of the project or the account is reached." },
  NOT_FOUND: { status: 404, meaning: "There is nothing at this address." },
  METHOD_NOT_ALLOWED: { status: 405, meaning: "The address exists, but not with this method." },
  CONFLICT: { status: 409, meaning: "What is there does not allow it; the message says why." },
  NOT_A_TRIAL_LINK: {
    status: 409,
    meaning: "The link is a person's; only links made for trying can be tried.",
  },
  LINK_REVOKED: { status: 409, meaning: "The link was revoked; nothing can be done with it." },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: "The body is over its limit." },
  MISDIRECTED: { status: 421, meaning: "The `Host` is not one this Relay answers for." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: "The body is not `application/json`." },
  UPGRADE_REQUIRED: { status: 426, meaning: "The address is a WebSocket; open it as one." },
  RATE_LIMITED: {
    status: 429,
    meaning: "Too many requests; `Retry-After` says when to try again.",
  },
  INTERNAL: { status: 500, meaning: "A fault of Relay's. The request id finds it in the log." },
  UNAVAILABLE: { status: 503, meaning: "Relay is draining or its store is away. Try again." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type RestErrorCode = keyof typeof REST_ERRORS;

/** The codes of `error` frames that Relay sends to an app. */
export const FRAME_ERRORS = {
  invalid_message: "Relay cannot use the frame. More than 10 of these close the socket.",
  invalid_result: "The answer to a call broke the result rules; the host was told so.",
  rate_limited: "Too many `ping` frames and `link.*` commands; the frame was not executed.",
  internal: "A fault of Relay's, such as a store that is away. Reconnect with backoff.",
} as const satisfies Record<string, string>;

export type FrameErrorCode = keyof typeof FRAME_ERRORS;

/** The JSON-RPC error codes of the MCP endpoint. */
export const RPC_ERRORS = {
  parseError: { code: -32700, meaning: "The body is not JSON." },
  invalidRequest: { code: -32600, meaning: "The request is wrong before any method runs." },
  methodNotFound: { code: -32601, meaning: "A method Relay does not offer." },
  invalidParams: { code: -32602, meaning: "An unknown tool, or arguments that do not fit it." },
  disabled: { code: -32000, meaning: "The project is suspended." },
  headerMismatch: { code: -32020, meaning: "2026-07-28: a header differs from the body." },
  unsupportedVersion: { code: -32022, meaning: "2026-07-28: a protocol version nobody offers." },
} as const satisfies Record<string, { code: number; meaning: string }>;

export type RpcErrorName = keyof typeof RPC_ERRORS;
