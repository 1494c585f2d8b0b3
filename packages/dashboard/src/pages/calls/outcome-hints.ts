import type { Outcome } from "@relay/protocol";

/** What a developer can do about calls that end this way. */
export const OUTCOME_HINTS: Readonly<Record<Outcome, string>> = {
  ok: "The app answered. Nothing to do.",
  tool_error:
    "The app said that the tool failed, or its answer broke a rule; the host was told the app’s own words.",
  timeout:
    "The app got the call and did not answer in time. Look for work that hangs, or a dialog nobody answered.",
  cancelled:
    "The host gave up or the person stopped it. Many of these: the tool is slower than the host’s patience; send progress.",
  disconnected:
    "The app’s socket closed while the tool ran. Look at the link’s socket history: the close code says who closed it.",
  offline:
    "The app was not connected: closed, asleep, or in a loop of failing reconnects. A run of these on one link is worth a look at its sockets.",
  paused: "The person, or you, paused the link. Resume it to let calls through.",
  busy: "Too many calls were running on the link at once. Answer faster, or let the host call less at a time.",
  rate_limited:
    "The link had its calls for this minute. Raise calls a minute in the settings if the person needs more.",
  invalid_input:
    "The host’s arguments did not fit the tool’s inputSchema. Clearer descriptions of the fields help the model.",
  unknown_tool:
    "The host asked for a tool the app does not have, from an older list as a rule. It passes when the host lists again.",
  cap_reached: "This month’s spend cap is reached. Raise it on the Usage page to go on.",
  quota_exceeded: "The allowance is used up and the balance can’t pay. Add credit to go on.",
};
