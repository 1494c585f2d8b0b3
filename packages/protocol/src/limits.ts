import {
  APP_NAME_CHARS_MAX,
  INSTRUCTIONS_CHARS_MAX,
  MANIFEST_BYTES_MAX,
  PROGRESS_MESSAGE_CHARS_MAX,
  TOOLS_MAX,
  TOOL_DESCRIPTION_CHARS_MAX,
  TOOL_NAME_CHARS_MAX,
} from "./app-limits.ts";

/** One limit: its value unless set otherwise, its unit, and what happens past it. */
export type LimitRule = {
  readonly title: string;
  readonly value: number;
  readonly unit: string;
  readonly past: string;
  /** Settable as `RELAY_` + the key in upper snake case (SPEC 12); otherwise part of the protocol. */
  readonly settable: boolean;
  readonly minimum: number;
  /** Whether a fraction is allowed (seconds only). */
  readonly fraction: boolean;
};

const seconds = (title: string, value: number, past: string): LimitRule => ({
  title,
  value,
  unit: "seconds",
  past,
  settable: true,
  minimum: 0.05,
  fraction: true,
});
const count = (title: string, value: number, unit: string, past: string): LimitRule => ({
  title,
  value,
  unit,
  past,
  settable: true,
  minimum: 1,
  fraction: false,
});
const fixed = (title: string, value: number, unit: string, past: string): LimitRule => ({
  ...count(title, value, unit, past),
  settable: false,
});

const CLOSED = "Socket closed with `4400`.";

/** Every limit Relay enforces, by the name the code uses for it. */
export const LIMITS = {
  projectsPerAccount: count("Projects per account", 10, "projects", "A new project is refused."),
  linksPerProject: count(
    "Links per project",
    10_000,
    "links",
    "`POST /v1/links` answers `LIMIT_REACHED`.",
  ),
  linksPerIpPerMinute: count(
    "Links created per IP address",
    60,
    "per minute",
    "`429 RATE_LIMITED`.",
  ),
  labelChars: fixed("Link label", 64, "characters", "`400 VALIDATION_ERROR`."),
  callsPerMinute: count(
    "Calls per minute, per link",
    60,
    "per minute; up to 6,000 in the project's settings",
    "Refused at once, never counted.",
  ),
  callsPerMinuteMax: fixed(
    "The most calls per minute a project can set",
    6_000,
    "per minute",
    "`400 VALIDATION_ERROR`.",
  ),
  metaRequestsPerMinute: count(
    "`initialize`, `tools/list`, `ping` and unknown methods, per link",
    300,
    "per minute",
    "`429` with `Retry-After`.",
  ),
  unknownTokensPerMinute: count(
    "Requests with an unknown URL token, per IP address",
    120,
    "per minute",
    "`429` with `Retry-After`.",
  ),
  bodyBytes: count("MCP request body", 80 * 1024, "bytes", "`413`."),
  callsInFlight: count(
    "Calls in flight, per link",
    8,
    "calls",
    "A tool error saying the app is busy. Refused at once, never counted.",
  ),
  callTimeoutSeconds: seconds(
    "Time to answer a call",
    180,
    "A tool error for the host and `cancel` for the app. Counted.",
  ),
  helloTimeoutSeconds: seconds("Time to send `hello`", 10, CLOSED),
  tools: count("Tools per `hello`", TOOLS_MAX, "tools", CLOSED),
  manifestBytes: count(
    "Manifest: `app`, `instructions` and `tools` as JSON",
    MANIFEST_BYTES_MAX,
    "bytes",
    CLOSED,
  ),
  appNameChars: fixed("App name and version", APP_NAME_CHARS_MAX, "characters", CLOSED),
  toolNameChars: fixed("Tool name", TOOL_NAME_CHARS_MAX, "characters", CLOSED),
  toolDescriptionChars: fixed("Tool description", TOOL_DESCRIPTION_CHARS_MAX, "characters", CLOSED),
  instructionsChars: fixed("Instructions", INSTRUCTIONS_CHARS_MAX, "characters", CLOSED),
  commandsPerMinute: count(
    "`ping` frames and `link.*` commands, per link",
    30,
    "per minute",
    "A `rate_limited` error frame; the frame is not executed and the socket stays open.",
  ),
  hellosPerMinute: fixed("Hellos of one link", 120, "per minute", "Socket closed with `4429`."),
  invalidFrames: count(
    "Invalid frames on one socket",
    10,
    "frames",
    "Each gets an `error` frame; past the limit, the socket closes with `4400`.",
  ),
  argumentsBytes: count(
    "Call arguments as JSON",
    64 * 1024,
    "bytes",
    "`-32602` before the app sees it, never counted.",
  ),
  resultBytes: count(
    "Result: `content` and `structuredContent` as JSON",
    128 * 1024,
    "bytes",
    "An `invalid_result` error frame for the app, and a tool error for the host.",
  ),
  progressMessageChars: fixed(
    "Message of a `progress` frame",
    PROGRESS_MESSAGE_CHARS_MAX,
    "characters",
    "An `invalid_message` error frame.",
  ),
  frameBytes: count(
    "Any frame",
    256 * 1024,
    "bytes",
    "Connection dropped with no close frame; the app sees `1006`. Reconnect with backoff.",
  ),
  silenceSeconds: seconds("Silence on the socket", 90, "Socket closed. Reconnect with backoff."),
  pingIntervalSeconds: seconds("Time between Relay's pings", 30, "A ping is sent."),
  keepAliveSeconds: seconds(
    "Time between keep-alives on a call's stream",
    15,
    "A `: keep-alive` comment, or a progress notification, is sent.",
  ),
  socketsPerProject: count(
    "Open sockets per project",
    10_000,
    "sockets",
    "Socket closed with `4429`.",
  ),
  pendingSocketsPerIp: count(
    "Sockets before their hello, per IP address",
    1_000,
    "sockets",
    "The upgrade is answered `503` with `Retry-After`.",
  ),
  sendBufferBytes: fixed(
    "What waits to be sent on one socket",
    1024 * 1024,
    "bytes",
    "Connection dropped.",
  ),
  restRequestsPerMinute: fixed(
    "REST requests per project",
    1_200,
    "per minute",
    "`429 RATE_LIMITED`.",
  ),
  refusedRowsPerMinute: fixed(
    "Refused calls of one link that leave a row",
    300,
    "per minute",
    "Only the hourly roll-up counts them.",
  ),
  callRetentionDays: count("Call metadata kept", 30, "days", "Older calls leave the call history."),
  unusedLinkDays: count("Links whose app never connected", 7, "days", "The link is removed."),
} as const satisfies Record<string, LimitRule>;

export type LimitName = keyof typeof LIMITS;

/** The limits in force, by name, each in the unit its name ends with. */
export type Limits = { readonly [Name in LimitName]: number };

/** Returns the limits as the product spec has them. */
export function defaultLimits(): Limits {
  const entries = Object.entries(LIMITS).map(([name, rule]) => [name, rule.value]);
  // Built from the table's own keys, so every name is there.
  return Object.fromEntries(entries) as Limits;
}

/** Returns the environment variable that sets a limit: `callsInFlight` → `RELAY_CALLS_IN_FLIGHT`. */
export function limitEnvName(name: LimitName): string {
  return `RELAY_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Writes a number of seconds for a person: `180 seconds`, `1 second`, `0.5 seconds`. */
export function secondsText(value: number): string {
  return value === 1 ? "1 second" : `${value} seconds`;
}
