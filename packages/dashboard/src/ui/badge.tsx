import type { Outcome } from "@relay/protocol";
import type { ReactNode } from "react";
import type { Link } from "../api/shapes.ts";
import { classes } from "./classes.ts";
import type { Tone } from "./notice.tsx";

const TONES: Readonly<Record<Tone | "plain", string>> = {
  plain: "bg-hover text-quiet",
  info: "bg-info-soft text-info",
  good: "bg-accent-soft text-accent",
  warn: "bg-warn-soft text-warn",
  danger: "bg-danger-soft text-danger",
};

export function Badge({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone | "plain";
  readonly children: ReactNode;
}) {
  return (
    <span
      className={classes(
        "inline-flex h-5 items-center rounded px-1.5 text-xs font-medium whitespace-nowrap",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** Written out, so that the classes are in the style sheet. */
export const OUTCOME_COLOURS: Readonly<Record<Outcome, string>> = {
  ok: "bg-(--ok)",
  tool_error: "bg-(--tool_error)",
  timeout: "bg-(--timeout)",
  cancelled: "bg-(--cancelled)",
  disconnected: "bg-(--disconnected)",
  offline: "bg-(--offline)",
  paused: "bg-(--paused)",
  busy: "bg-(--busy)",
  rate_limited: "bg-(--rate_limited)",
  invalid_input: "bg-(--invalid_input)",
  unknown_tool: "bg-(--unknown_tool)",
  cap_reached: "bg-(--cap_reached)",
  quota_exceeded: "bg-(--quota_exceeded)",
};

/** How a call ended: its colour and its name. */
export function OutcomeChip({ outcome }: { readonly outcome: Outcome }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <span
        aria-hidden
        className={classes("size-2 shrink-0 rounded-xs", OUTCOME_COLOURS[outcome])}
      />
      <code>{outcome}</code>
    </span>
  );
}

export type LinkState = "online" | "offline" | "paused" | "never" | "revoked";

export function stateOf(link: Link): LinkState {
  if (link.revoked) return "revoked";
  if (link.paused) return "paused";
  if (link.connected) return "online";
  return link.lastSeenAt === null ? "never" : "offline";
}

const STATE_WORDS: Readonly<Record<LinkState, string>> = {
  online: "Online",
  offline: "Offline",
  paused: "Paused",
  never: "Never connected",
  revoked: "Revoked",
};
const STATE_DOTS: Readonly<Record<LinkState, string>> = {
  online: "bg-accent",
  offline: "border-2 border-(--offline)",
  paused: "bg-warn",
  never: "border border-dashed border-(--offline)",
  revoked: "bg-danger",
};

/** Whether a link's app can be reached; a paused link also says whether its app is there. */
export function LinkStateLabel({ link }: { readonly link: Link }) {
  const state = stateOf(link);
  const more = state === "paused" ? (link.connected ? ", app online" : ", app offline") : "";
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <span aria-hidden className={classes("size-2 shrink-0 rounded-full", STATE_DOTS[state])} />
      {STATE_WORDS[state]}
      {more}
    </span>
  );
}
