import { secondsText } from "./limits.ts";

/**
 * `always` and `never` are the product spec's; `sent` counts a call if and only if its frame was
 * handed to the app's socket (SPEC 7).
 */
export type Counted = "always" | "never" | "sent";

/** The outcome of a call, what it means, and whether it uses allowance or credit. */
export const OUTCOMES = {
  ok: { counted: "always", meaning: "The app answered with a `result`." },
  tool_error: { counted: "always", meaning: "The app answered with `error`." },
  timeout: { counted: "always", meaning: "No answer within 180 seconds." },
  cancelled: {
    counted: "sent",
    meaning: "The host cancelled the call or went away after it reached the app.",
  },
  disconnected: { counted: "never", meaning: "The app's socket closed during the call." },
  offline: { counted: "never", meaning: "The app was not connected." },
  paused: { counted: "never", meaning: "The link was paused." },
  busy: { counted: "never", meaning: "8 calls were already in flight on the link." },
  rate_limited: { counted: "never", meaning: "Over the link's calls per minute." },
  invalid_input: {
    counted: "never",
    meaning: "The arguments did not match the tool's `inputSchema`.",
  },
  unknown_tool: { counted: "never", meaning: "The tool is not in the app's list." },
  cap_reached: {
    counted: "never",
    meaning: "The call would have passed the project's spend cap.",
  },
  quota_exceeded: {
    counted: "never",
    meaning: "The allowance was used up and the balance could not pay.",
  },
} as const satisfies Record<string, { counted: Counted; meaning: string }>;

export type Outcome = keyof typeof OUTCOMES;
export const OUTCOME_NAMES: readonly Outcome[] = Object.freeze(
  // The table's own keys.
  Object.keys(OUTCOMES) as Outcome[],
);

/** Tells whether a call that ended with `outcome` counts; `sent` says whether the app was handed it. */
export function isCounted(outcome: Outcome, sent: boolean): boolean {
  const rule: Counted = OUTCOMES[outcome].counted;
  return rule === "always" || (rule === "sent" && sent);
}

/**
 * The sentence a model can say for each way a call can end without the app's own answer. `app` is
 * the app's name from its last hello, or the project's name before the app has connected.
 */
export const TOOL_ERROR_TEXTS = {
  rate_limited: (app: string, waitSeconds: number): string =>
    `${app} is rate limited: too many calls this minute. Try again in ${secondsText(waitSeconds)}.`,
  paused: (app: string): string => `${app} is paused in the app. Resume it there and try again.`,
  offline: (app: string): string => `${app} is not running on your device. Open it and try again.`,
  busy: (app: string): string => `${app} is busy with other calls. Try again in a moment.`,
  cap_reached: (app: string): string =>
    `${app} is unavailable: spend cap reached for this month. The developer can raise it.`,
  quota_exceeded: (app: string): string =>
    `${app} is unavailable: allowance used up; the developer needs to add credits.`,
  unacceptable: (reason: string): string =>
    `The app sent an answer the relay could not accept: ${reason}`,
  timeout: (app: string, timeoutSeconds: number): string =>
    `${app} did not answer within ${secondsText(timeoutSeconds)}.`,
  disconnected: (app: string): string =>
    `The relay lost the connection to ${app} while running the tool; it may or may not have completed.`,
  cancelled: (): string => "The call was cancelled.",
} as const;

const TOOL_NAME_IN_TEXT_CHARS = 64;

/** The messages of the JSON-RPC errors that end a call before it reaches the app. */
export const RPC_TEXTS = {
  unknownTool: (name: string): string => `Unknown tool: ${cutToolName(name)}`,
  invalidArguments: (name: string, why: string): string =>
    `Invalid arguments for tool ${cutToolName(name)}: ${why}`,
  methodNotFound: (method: string): string => `Method not found: ${cutToolName(method)}`,
  disabled: (): string => "This connector is disabled",
} as const;

/** Cuts a tool or method name, which a host may choose freely, to the 64 code points one can have. */
export function cutToolName(name: string): string {
  const points = Array.from(name.slice(0, 2 * TOOL_NAME_IN_TEXT_CHARS + 2));
  return points.length > TOOL_NAME_IN_TEXT_CHARS
    ? points.slice(0, TOOL_NAME_IN_TEXT_CHARS).join("")
    : name;
}

/** What `initialize` tells the model before the app's first hello. */
export function notConnectedYetText(projectName: string): string {
  return `${projectName} has not connected yet; open it on your device and its tools appear.`;
}
