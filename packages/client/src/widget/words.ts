/** What the widget says, in English; `element.words = {…}` replaces any of it. */
export const WORDS = {
  "panel.label": "Connection of {app}",

  "state.none": "Not set up",
  "state.none.detail": "The app has not started its connection yet.",
  "state.idle": "Off",
  "state.idle.detail": "AI hosts can’t reach {app} until you connect it.",
  "state.connecting": "Connecting",
  "state.connecting.detail": "This takes a moment.",
  "state.online": "Connected",
  "state.online.detail": "AI hosts that have the URL can use {app}. Tools: {tools}.",
  "state.paused": "Paused",
  "state.paused.detail": "AI hosts that call {app} are told that it is paused.",
  "state.standby": "Connected elsewhere",
  "state.standby.detail":
    "Another tab or window of {app} is connected. This one takes over when that one closes.",
  "state.waiting": "Not connected",
  "state.closed": "Not connected",
  "state.dead": "The link has ended",

  "reason.1006": "The connection to Relay was lost.",
  "reason.1012": "Relay is restarting.",
  "reason.4001": "Another copy of {app} took the connection over.",
  "reason.4400": "Relay does not accept what {app} sent: {message}",
  "reason.4401": "The link is unknown or was revoked. A new link has a new URL for your AI hosts.",
  "reason.4403": "{app} may not connect from this address. Its developer can allow it.",
  "reason.4410": "The link was revoked. A new link has a new URL for your AI hosts.",
  "reason.4423": "{app} is suspended. Its developer can find out why.",
  "reason.4429": "Too many connections at once.",
  "reason.NETWORK": "Relay can’t be reached. Is this device online?",
  "reason.RATE_LIMITED": "Too many links were made from this network in the last minute.",
  "reason.LIMIT_REACHED": "{app} has no room for another link. Its developer can make some.",
  "reason.ORIGIN_NOT_ALLOWED":
    "{app} may not connect from this address. Its developer can allow it.",
  "reason.PROJECT_SUSPENDED": "{app} is suspended. Its developer can find out why.",
  "reason.UNAUTHORIZED": "{app} has a wrong key. Its developer can replace it.",
  "reason.STORE": "The link can’t be read or kept on this device: {message}",
  "reason.other": "{message}",

  "retry.in": "Next try in {seconds} s.",
  "retry.now": "Trying again now.",

  "act.start": "Connect",
  "act.again": "Try again",
  "act.wake": "Try now",
  "act.lead": "Connect here",
  "act.relink": "Make a new link",

  "url.heading": "MCP URL",
  "url.note": "Treat it like a password: whoever has it can use {app}’s tools.",
  "url.none": "It appears here once {app} has connected for the first time.",
  "url.hidden": "hidden",
  "url.copy": "Copy URL",
  "url.show": "Show",
  "url.hide": "Hide",
  "url.qr": "QR code",
  "url.qr.label": "QR code of the MCP URL",

  "hosts.heading": "Add to an AI host",
  "hosts.open": "Open {host}",
  "hosts.copy": "Copy command",
  "hosts.url": "Copy URL",
  "hosts.unreachable": "can’t reach this URL",
  "hosts.device": "This Relay runs on this computer: only hosts on it can reach {app}.",
  "hosts.network": "This Relay is in a private network: hosts outside of it can’t reach {app}.",
  "hosts.unencrypted": "This Relay has no https, which hosts in the cloud ask for.",

  "calls.heading": "Last calls",
  "calls.none": "No calls yet.",
  "calls.elsewhere": "Calls show where {app} is connected.",
  "call.asking": "asks you",
  "call.running": "running",
  "call.done": "done",
  "call.failed": "failed",
  "call.denied": "denied",
  "call.cancelled": "cancelled",
  "call.lost": "connection lost",

  "control.heading": "Control",
  "control.pause": "Pause",
  "control.resume": "Resume",
  "control.rotate": "Get a new URL…",
  "control.revoke": "End the link…",
  "control.offline": "Works while connected.",

  "rotate.question": "Get a new URL?",
  "rotate.breaks":
    "The URL there is stops working at once. Every AI host that has it loses {app} until you give it the new one.",
  "rotate.yes": "Get a new URL",
  "revoke.question": "End the link for good?",
  "revoke.breaks":
    "AI hosts can’t use {app} any more, and calls that are running are lost. This can’t be undone: to connect again, you make a new link and give its URL to every host.",
  "revoke.yes": "End the link",
  "confirm.no": "Cancel",

  "said.copied": "Copied.",
  "said.copy_failed": "This page may not copy. Select the URL above and copy it yourself.",
  "said.paused": "Paused.",
  "said.resumed": "Resumed.",
  "said.rotated": "The URL is new. Give it to your AI hosts.",
  "said.failed": "That did not work: {message}",
} as const satisfies Record<string, string>;

export type WordKey = keyof typeof WORDS;
export type Words = Readonly<Record<WordKey, string>>;

/** Puts values in place of their names in braces, once: a value may hold braces itself. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole));
}
