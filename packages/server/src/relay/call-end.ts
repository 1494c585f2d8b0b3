import { TOOL_ERROR_TEXTS } from "@relay/protocol";
import type { Outcome } from "@relay/protocol";

/** How a call ended, and what its host is told. */
export type CallEnd = {
  readonly outcome: Outcome;
  readonly contentText: string;
  readonly structuredText: string | null;
  readonly isError: boolean;
};

/** What the sentences of `endText` are made of; `reason` is why an answer was unacceptable. */
export type TextFacts = {
  readonly app: string;
  readonly timeoutSeconds: number;
  readonly waitSeconds: number;
  readonly reason: string;
};

/** The sentence of each outcome that is not the app's own answer. */
export function endText(outcome: Outcome, facts: TextFacts): string {
  switch (outcome) {
    case "timeout":
      return TOOL_ERROR_TEXTS.timeout(facts.app, facts.timeoutSeconds);
    case "rate_limited":
      return TOOL_ERROR_TEXTS.rate_limited(facts.app, facts.waitSeconds);
    case "paused":
    case "offline":
    case "busy":
    case "cap_reached":
    case "quota_exceeded":
    case "disconnected":
      return TOOL_ERROR_TEXTS[outcome](facts.app);
    case "cancelled":
      return TOOL_ERROR_TEXTS.cancelled();
    case "ok":
    case "tool_error":
    case "invalid_input":
    case "unknown_tool":
      return TOOL_ERROR_TEXTS.unacceptable(facts.reason);
  }
}
