import type { LinkId, ProjectId } from "@relay/protocol";
import type { CallRow, Client, Link } from "../store/store.ts";

/** How a link stands: whether its app is connected, and whether it is paused or revoked. */
export type LinkNews = {
  readonly linkId: LinkId;
  readonly connected: boolean;
  readonly paused: boolean;
  readonly revoked: boolean;
};

type LinkFacts = Pick<Link, "linkId" | "projectId" | "ownerNode" | "paused" | "revokedAt">;

/** Somebody who looks at a project. Called while the event is dealt with: must be quick. */
export interface Watcher {
  /** A call ended; its row may still be on its way into the store. */
  callEnded(call: CallRow): void;
  linkChanged(link: LinkNews): void;
  /** A host named itself to a link; what the store keeps of it is written late. */
  hostNoted?(client: Client): void;
  /** Nothing more will come: the project is gone, or this Relay is stopping. */
  ended(): void;
}

/** Projects × people who look at them; past that a new one has to wait. */
const WATCHERS_MAX = 10_000;

/**
 * What happens in a project right now, for those who look at it. Keeps nothing: where nobody looks,
 * telling it costs one look at an empty map. Knows of what passes through this node alone.
 */
export class LiveProjects {
  readonly #watchers = new Map<ProjectId, Set<Watcher>>();
  readonly #atClose: (() => void)[] = [];
  #count = 0;

  /** Tells `watcher` of the project from now on; returns what ends that, null when there are too many. */
  watch(projectId: ProjectId, watcher: Watcher): (() => void) | null {
    if (this.#count >= WATCHERS_MAX) return null;
    const watchers = this.#watchers.get(projectId) ?? new Set();
    this.#watchers.set(projectId, watchers.add(watcher));
    this.#count += 1;
    return () => {
      if (!watchers.delete(watcher)) return;
      this.#count -= 1;
      if (watchers.size === 0 && this.#watchers.get(projectId) === watchers) {
        this.#watchers.delete(projectId);
      }
    };
  }

  callEnded(call: CallRow): void {
    if (this.#count === 0) return;
    for (const watcher of this.#watchers.get(call.projectId) ?? []) watcher.callEnded(call);
  }

  /** `link` as it stands now; `connected` where its record does not say it yet. */
  linkChanged(link: LinkFacts, connected: boolean = link.ownerNode !== null): void {
    if (this.#count === 0) return;
    const watchers = this.#watchers.get(link.projectId);
    if (watchers === undefined) return;
    const revoked = link.revokedAt !== null;
    const { linkId, paused } = link;
    const news = { linkId, connected: connected && !revoked, paused, revoked };
    for (const watcher of watchers) watcher.linkChanged(news);
  }

  hostNoted(projectId: ProjectId, client: Client): void {
    if (this.#count === 0) return;
    for (const watcher of this.#watchers.get(projectId) ?? []) watcher.hostNoted?.(client);
  }

  /** Ends all who look at a project. */
  projectGone(projectId: ProjectId): void {
    for (const watcher of this.#watchers.get(projectId) ?? []) watcher.ended();
  }

  /** Runs `end` when all is ended: for streams that are of no project. */
  atClose(end: () => void): void {
    this.#atClose.push(end);
  }

  /** Ends all. */
  close(): void {
    for (const projectId of this.#watchers.keys()) this.projectGone(projectId);
    for (const end of this.#atClose) end();
  }
}
