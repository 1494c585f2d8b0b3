import type { CloseCode, ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";

/** An origin whose requests were refused: how often, and when last, in ms since 1970. */
export type RefusedOrigin = {
  readonly origin: string;
  readonly at: number;
  readonly count: number;
};

/** The newest reason why an app could not connect. `text` is what the app was told, if anything. */
export type Fault = { readonly at: number } & (
  | { readonly what: "hello"; readonly code: CloseCode; readonly text: string | null }
  | { readonly what: "origin"; readonly origin: string }
);

const HOUR_MS = 3_600_000;
const PROJECTS_MAX = 2_000;
const ORIGINS_MAX = 20;
/** A browser's origin is shorter; what a stranger's program sends is cut. */
const ORIGIN_CHARS_MAX = 256;

type Kept = { readonly origins: Map<string, RefusedOrigin>; fault: Fault | null };

/**
 * What was refused in the last hour, by project, so that its developer can see why an app does not
 * connect. In memory alone; at most 2,000 projects and 20 origins each, the oldest of which go.
 */
export class Refusals {
  readonly #clock: Pick<Clock, "wall">;
  readonly #projects = new Map<ProjectId, Kept>();

  constructor(clock: Pick<Clock, "wall">) {
    this.#clock = clock;
  }

  /** An origin that the project's list does not hold was turned away. */
  originRefused(projectId: ProjectId, asSent: string): void {
    const origin = asSent.slice(0, ORIGIN_CHARS_MAX);
    const at = this.#clock.wall();
    const kept = this.#keep(projectId);
    const count = (kept.origins.get(origin)?.count ?? 0) + 1;
    // Put in anew, so that the first is the one that was seen longest ago.
    kept.origins.delete(origin);
    dropFirst(kept.origins, ORIGINS_MAX - 1);
    kept.origins.set(origin, { origin, at, count });
    kept.fault = { what: "origin", origin, at };
  }

  /** A hello of one of the project's links was answered by closing with `code`. */
  helloRefused(projectId: ProjectId, code: CloseCode, text: string | null): void {
    this.#keep(projectId).fault = { what: "hello", code, text, at: this.#clock.wall() };
  }

  /** The origins refused in the last hour, the newest first. */
  originsOf(projectId: ProjectId): readonly RefusedOrigin[] {
    const since = this.#clock.wall() - HOUR_MS;
    const origins = this.#projects.get(projectId)?.origins.values() ?? [];
    return [...origins].filter(({ at }) => at > since).toReversed();
  }

  /** What was refused last in the last hour; null when nothing was. */
  lastFault(projectId: ProjectId): Fault | null {
    const fault = this.#projects.get(projectId)?.fault ?? null;
    return fault !== null && fault.at > this.#clock.wall() - HOUR_MS ? fault : null;
  }

  forget(projectId: ProjectId): void {
    this.#projects.delete(projectId);
  }

  #keep(projectId: ProjectId): Kept {
    const kept = this.#projects.get(projectId) ?? { origins: new Map(), fault: null };
    this.#projects.delete(projectId);
    dropFirst(this.#projects, PROJECTS_MAX - 1);
    this.#projects.set(projectId, kept);
    return kept;
  }
}

/** Drops the entries that were put in first until `left` are left. */
function dropFirst<Key>(map: Map<Key, unknown>, left: number): void {
  for (const key of map.keys()) {
    if (map.size <= left) return;
    map.delete(key);
  }
}
