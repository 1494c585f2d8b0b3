import type { TestLink } from "../e2e/harness.ts";
import { Register } from "./register.ts";

/** A link, and what Relay has said of it. */
export type KnownLink = {
  readonly link: TestLink;
  /** The path of its MCP URL; null while a rotation was begun and its answer never came. */
  urlPath: string | null;
  /** Paths that must be dead. */
  readonly oldPaths: string[];
  /** The path before a rotation in doubt. */
  pathInDoubt: string | null;
  readonly paused: Register<boolean>;
  readonly revoked: Register<boolean>;
  readonly label: Register<string | null>;
  isTouched: boolean;
};

export function knownLink(link: TestLink): KnownLink {
  return {
    link,
    urlPath: new URL(link.mcpUrl).pathname,
    oldPaths: [],
    pathInDoubt: null,
    paused: new Register<boolean>(false),
    revoked: new Register<boolean>(false),
    label: new Register<string | null>(link.label),
    isTouched: true,
  };
}

export type KnownKey = {
  readonly keyId: string;
  readonly secret: string;
  readonly live: Register<boolean>;
};

/** Everything Relay has acknowledged, in the words of those whom it told. */
export class Known {
  readonly links: KnownLink[] = [];
  readonly keys: KnownKey[] = [];
  /** Request ids of calls whose counted answer a host has read. */
  readonly answered = new Set<string>();
  /** Ids of calls that an app was sent. */
  readonly received = new Set<string>();
  /** Credits by source key; false while nobody knows whether it was booked. */
  readonly credits = new Map<string, boolean>();
  readonly callsPerMinute = new Register<number>(6_000);
}

export const CREDIT_MICROS = 50_000;
