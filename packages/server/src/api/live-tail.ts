import type { LinkId, ProjectId } from "@relay/protocol";
import type { LinkNews, LiveProjects, Watcher } from "../relay/live.ts";
import type { CallRow } from "../store/store.ts";
import type { Checklists } from "./checklists.ts";
import type { EventStream } from "./event-stream.ts";
import { callView } from "./project.ts";

/** Links whose latest state waits for such a page. */
const HELD_LINKS_MAX = 1_000;

type TailDeps = { readonly live: LiveProjects; readonly checklists: Checklists };

/**
 * What happens in one project, written to one stream. A page that does not read misses calls, and is
 * told how many; of links and of the checklist it misses only what came in between.
 */
export class LiveTail implements Watcher {
  readonly #deps: TailDeps;
  readonly #stream: EventStream;
  readonly #heldLinks = new Map<LinkId, LinkNews>();
  #heldChecklist: string | null = null;
  #droppedCalls = 0;
  #stopWatching: () => void = () => undefined;
  #leaveChecklist: () => void = () => undefined;

  constructor(deps: TailDeps, stream: EventStream) {
    this.#deps = deps;
    this.#stream = stream;
  }

  /** Begins to look; false when too many do. */
  start(projectId: ProjectId): boolean {
    const { live, checklists } = this.#deps;
    const stop = live.watch(projectId, this);
    if (stop === null) return false;
    this.#stopWatching = stop;
    const leave = checklists.watch(projectId, (text) => this.#checklistChanged(text));
    if (leave === null) return false;
    this.#leaveChecklist = leave;
    return true;
  }

  /** The stream is closed. */
  stop(): void {
    this.#stopWatching();
    this.#leaveChecklist();
  }

  callEnded(call: CallRow): void {
    if (this.#catchesUp()) this.#stream.send("call", JSON.stringify(callView(call)));
    else this.#droppedCalls += 1;
  }

  linkChanged(link: LinkNews): void {
    if (this.#catchesUp()) this.#stream.send("link", JSON.stringify(link));
    else if (this.#heldLinks.size < HELD_LINKS_MAX || this.#heldLinks.has(link.linkId)) {
      this.#heldLinks.set(link.linkId, link);
    }
  }

  ended(): void {
    this.#stream.end();
    this.stop();
  }

  /** Says that the stream is there. */
  keepAlive(): void {
    if (this.#catchesUp()) this.#stream.comment("keep-alive");
  }

  #checklistChanged(checklistText: string): void {
    if (this.#catchesUp()) this.#stream.send("checklist", checklistText);
    else this.#heldChecklist = checklistText;
  }

  /** Whether the page reads; if it does again, it is told first what it missed. */
  #catchesUp(): boolean {
    if (this.#stream.isBehind) return false;
    if (this.#droppedCalls > 0) {
      this.#stream.send("dropped", JSON.stringify({ calls: this.#droppedCalls }));
      this.#droppedCalls = 0;
    }
    for (const link of this.#heldLinks.values()) this.#stream.send("link", JSON.stringify(link));
    this.#heldLinks.clear();
    if (this.#heldChecklist !== null) this.#stream.send("checklist", this.#heldChecklist);
    this.#heldChecklist = null;
    return true;
  }
}
