import type { ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { LiveProjects, Watcher } from "../relay/live.ts";
import type { Fault, Refusals } from "../relay/refusals.ts";
import type { CallRow, Client, ProjectStart, Store } from "../store/store.ts";
import { checklistView, isComplete } from "./checklist.ts";

/** A checklist with an open step is looked at this often, and read from the store no more often. */
const LOOK_EVERY_MS = 1_000;
/** What happened before a checklist was first looked at is in the store by then. */
const SETTLED_AFTER_MS = 3_000;

type ChecklistDeps = {
  readonly store: Pick<Store, "projectStart">;
  readonly live: LiveProjects;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly log: Log;
};

/** Takes a checklist as JSON. Called while others are told too: must be quick. */
type Tell = (checklistText: string) => void;

/** The checklists that are looked at, one for each project, however many look at it. */
export class Checklists {
  readonly #deps: ChecklistDeps;
  readonly #watched = new Map<ProjectId, WatchedChecklist>();

  constructor(deps: ChecklistDeps) {
    this.#deps = deps;
  }

  /**
   * Tells the project's checklist soon, and again whenever it has changed, until its last step is
   * done. Returns what ends that; null when too many projects are looked at.
   */
  watch(projectId: ProjectId, tell: Tell): (() => void) | null {
    const checklist = this.#watched.get(projectId) ?? new WatchedChecklist(this.#deps, projectId);
    if (!checklist.add(tell)) return null;
    this.#watched.set(projectId, checklist);
    return () => {
      if (checklist.remove(tell) && this.#watched.get(projectId) === checklist) {
        this.#watched.delete(projectId);
      }
    };
  }
}

/**
 * One project's checklist. Calls and hosts are taken as they are told, for the store has them late;
 * of links it is only noted that the store must be read again. So a busy project costs no reading,
 * and one whose steps are all done costs nothing.
 */
class WatchedChecklist implements Watcher {
  readonly #deps: ChecklistDeps;
  readonly #projectId: ProjectId;
  /** Who looks, and what each was told last. */
  readonly #told = new Map<Tell, string | null>();
  #stopWatching: (() => void) | null = null;
  #cancelLook: () => void = () => undefined;
  #start: ProjectStart | null = null;
  #host: Client | null = null;
  #call: ProjectStart["firstCall"] = null;
  #fault: Fault | null = null;
  #text: string | null = null;
  #isComplete = false;
  #isStale = true;
  #isReading = false;
  #readAt = 0;
  #settledAt = 0;

  constructor(deps: ChecklistDeps, projectId: ProjectId) {
    this.#deps = deps;
    this.#projectId = projectId;
  }

  /** One more looks; false when too many do. */
  add(tell: Tell): boolean {
    const { live, clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#stopWatching === null) {
      this.#stopWatching = live.watch(this.#projectId, this);
      if (this.#stopWatching === null) return false;
      this.#settledAt = now + SETTLED_AFTER_MS;
    }
    this.#told.set(tell, null);
    if (now - this.#readAt >= LOOK_EVERY_MS) this.#isStale = true;
    if (!this.#isReading) void this.#look();
    return true;
  }

  /** One looks no more; true when nobody is left. */
  remove(tell: Tell): boolean {
    this.#told.delete(tell);
    if (this.#told.size > 0) return false;
    this.ended();
    return true;
  }

  callEnded({ outcome, startedAt }: CallRow): void {
    if (this.#isComplete) return;
    const call = betterCall(this.#call, { outcome, at: startedAt });
    if (call === this.#call) return;
    this.#call = call;
    this.#text = null;
  }

  hostNoted(client: Client): void {
    if (this.#isComplete || this.#host !== null) return;
    this.#host = client;
    this.#text = null;
  }

  linkChanged(): void {
    if (!this.#isComplete) this.#isStale = true;
  }

  ended(): void {
    this.#stopWatching?.();
    this.#told.clear();
    this.#cancelLook();
  }

  /** Tells what has changed; then again in a second while there is a step to wait for. */
  async #look(): Promise<void> {
    const { clock } = this.#deps;
    this.#cancelLook();
    if (this.#isStale || clock.monotonic() < this.#settledAt) await this.#read();
    if (this.#told.size === 0) return;
    this.#tell();
    if (this.#isComplete && !this.#isStale) return;
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #read(): Promise<void> {
    const { store, clock, log } = this.#deps;
    this.#isReading = true;
    this.#isStale = false;
    this.#readAt = clock.monotonic();
    try {
      this.#start = await store.projectStart(this.#projectId);
      this.#text = null;
    } catch (error) {
      this.#isStale = true;
      log.warn({ err: error, projectId: this.#projectId }, "a checklist could not be read");
    } finally {
      this.#isReading = false;
    }
  }

  #tell(): void {
    const text = this.#textNow();
    if (text === null) return;
    for (const [tell, told] of this.#told) {
      if (told === text) continue;
      this.#told.set(tell, text);
      tell(text);
    }
  }

  /** The checklist as it is now; null before it could be read. */
  #textNow(): string | null {
    if (this.#start === null) return null;
    const fault = this.#deps.refusals.lastFault(this.#projectId);
    if (this.#text !== null && this.#fault === fault) return this.#text;
    this.#fault = fault;
    const firstHost = this.#start.firstHost ?? this.#host;
    const firstCall = betterCall(this.#start.firstCall, this.#call);
    const view = checklistView({ ...this.#start, firstHost, firstCall }, fault);
    this.#isComplete = isComplete(view);
    this.#text = JSON.stringify(view);
    return this.#text;
  }
}

type FirstCall = ProjectStart["firstCall"];

/** Of two calls the one that the checklist shows: the first that went well, or the newest. */
function betterCall(one: FirstCall, other: FirstCall): FirstCall {
  if (one === null || other === null) return one ?? other;
  if (one.outcome === "ok") return one;
  return other.outcome === "ok" || other.at > one.at ? other : one;
}
