import type { RelayState } from "../relay.ts";
import type { LoggedCall } from "./call-log.ts";
import type { WordKey, Words } from "./words.ts";
import { fill } from "./words.ts";
import type { StateAction } from "./state-words.ts";

/** A command of the person's that Relay answers. */
export type PersonCommand = "pause" | "resume" | "rotate" | "revoke";

/** All that is to be seen, at one moment. */
export type Facts = {
  /** Null without a relay. */
  readonly state: RelayState | null;
  readonly isPaused: boolean;
  readonly appName: string;
  readonly toolCount: number;
  /** Null while it is not known, and when it leads nowhere any more. */
  readonly mcpUrl: string | null;
  readonly isDead: boolean;
  readonly calls: readonly LoggedCall[];
  /** Whether the URL may be seen. */
  readonly isShown: boolean;
  readonly isQrShown: boolean;
  /** The command that Relay has not answered yet. */
  readonly pending: PersonCommand | null;
  readonly headingLevel: number;
  /** A BCP 47 tag for times; undefined is the browser's own. */
  readonly language: string | undefined;
  readonly now: number;
  readonly words: Words;
};

/** What a person asked for. */
export type Acts = {
  readonly state: (action: StateAction) => void;
  readonly command: (command: PersonCommand) => void;
  readonly copy: (text: string) => void;
  readonly show: (isShown: boolean) => void;
  readonly showQr: (isQrShown: boolean) => void;
};

/** A piece of the panel, which shows the facts again each time they change. */
export type Part = {
  readonly node: HTMLElement;
  readonly show: (facts: Facts) => void;
};

/** A text of the facts' words, filled in. */
export function say(
  facts: Facts,
  key: WordKey,
  more: Readonly<Record<string, string>> = {},
): string {
  return fill(facts.words[key], { app: facts.appName, tools: facts.toolCount, ...more });
}
