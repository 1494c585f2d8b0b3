import type { RelayState } from "../relay.ts";
import { fill } from "./words.ts";
import type { WordKey, Words } from "./words.ts";

/** What a person may do about the state. */
export type StateAction = "start" | "wake" | "lead" | "relink";

/** How the state is to be felt, for its color. */
export type Tone = "off" | "busy" | "good" | "warn" | "bad";

export type StateWords = {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  readonly action: { readonly does: StateAction; readonly label: string } | null;
};

export type StateFacts = {
  /** Null without a relay. */
  readonly state: RelayState | null;
  readonly isPaused: boolean;
  readonly appName: string;
  readonly toolCount: number;
};

/** The codes of a link that no host's URL leads to any more. */
const DEAD: readonly (number | string)[] = [4401, 4410];
/** What only the app's developer can mend: trying again is no use. */
const DEVELOPERS: readonly (number | string)[] = [
  4403,
  "ORIGIN_NOT_ALLOWED",
  "UNAUTHORIZED",
  "INVALID_MANIFEST",
];

/** Tells whether the link has ended, so that its URL is nobody's. */
export function isDead(state: RelayState | null): boolean {
  return state?.status === "closed" && DEAD.includes(state.reason.code);
}

/** Says in words where the app stands, and what a person can do about it. */
export function stateWords(facts: StateFacts, words: Words): StateWords {
  const { state, isPaused, appName, toolCount } = facts;
  const say = (key: WordKey, more: Readonly<Record<string, string>> = {}): string =>
    fill(words[key], { app: appName, tools: toolCount, ...more });
  const plain = (
    tone: Tone,
    key: "none" | "idle" | "connecting" | "online" | "paused" | "standby",
    action: StateWords["action"] = null,
  ): StateWords => ({
    tone,
    title: say(`state.${key}`),
    detail: say(`state.${key}.detail`),
    action,
  });
  switch (state?.status) {
    case undefined:
      return plain("off", "none");
    case "idle":
      return plain("off", "idle", { does: "start", label: say("act.start") });
    case "connecting":
      return plain("busy", "connecting");
    case "online":
      return isPaused ? plain("warn", "paused") : plain("good", "online");
    case "standby":
      return plain("off", "standby", { does: "lead", label: say("act.lead") });
    case "waiting":
    case "closed": {
      const { reason } = state;
      return {
        tone: state.status === "waiting" ? "warn" : "bad",
        title: say(isDead(state) ? "state.dead" : `state.${state.status}`),
        detail: say(reasonKey(reason.code, words), { message: reason.message }),
        action: actionOf(state, say),
      };
    }
  }
}

function reasonKey(code: number | string, words: Words): WordKey {
  const key = `reason.${code}`;
  // `in` says that it is one of the keys.
  return Object.hasOwn(words, key) ? (key as WordKey) : "reason.other";
}

function actionOf(
  state: Extract<RelayState, { readonly status: "waiting" | "closed" }>,
  say: (key: WordKey) => string,
): StateWords["action"] {
  if (state.status === "waiting") return { does: "wake", label: say("act.wake") };
  if (isDead(state)) return { does: "relink", label: say("act.relink") };
  if (DEVELOPERS.includes(state.reason.code)) return null;
  return { does: "start", label: say("act.again") };
}

/** When the next try is, in words; null while none is waited for. `now` is in ms since the epoch. */
export function countdown(state: RelayState | null, now: number, words: Words): string | null {
  if (state?.status !== "waiting") return null;
  const seconds = Math.ceil((state.retryAt - now) / 1000);
  return seconds > 0 ? fill(words["retry.in"], { seconds }) : words["retry.now"];
}
