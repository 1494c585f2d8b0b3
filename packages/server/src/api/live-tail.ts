import type { LinkId, ProjectId } from "@relay/protocol";
import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";
import type { LinkNews, LiveProjects, Watcher } from "../relay/live.ts";
import type { CallRow } from "../store/store.ts";
import type { EventStream } from "./event-stream.ts";
import { callView } from "./project.ts";

/** How often a stream says that it is there and asks whether its visitor may still look. */
export const BEAT_MS = 15_000;
/** Calls are left out while more than this waits for a page that does not read. */
const BACKLOG_BYTES_MAX = 64 * 1024;
/** Links whose latest state waits for such a page. */
const HELD_LINKS_MAX = 1_000;

type TailDeps = { readonly live: LiveProjects; readonly clock: Clock; readonly log: Log };

/**
 * What happens in one project, written to one stream. A page that does not read misses calls, and is
 * told how many; of links it misses only what came in between. Ends with the visitor's right to look.
 */
export class LiveTail implements Watcher {
  readonly #deps: TailDeps;
  readonly #stream: EventStream;
  readonly #mayLook: () => Promise<boolean>;
  readonly #heldLinks = new Map<LinkId, LinkNews>();
  #droppedCalls = 0;
  #stopWatching: () => void = () => undefined;
  #stopBeat: () => void = () => undefined;

  constructor(deps: TailDeps, stream: EventStream, mayLook: () => Promise<boolean>) {
    this.#deps = deps;
    this.#stream = stream;
    this.#mayLook = mayLook;
  }

  /** Begins to look; false when too many do. */
  start(projectId: ProjectId): boolean {
    const stop = this.#deps.live.watch(projectId, this);
    if (stop === null) return false;
    this.#stopWatching = stop;
    this.#beatLater();
    return true;
  }

  /** The stream is closed. */
  stop(): void {
    this.#stopWatching();
    this.#stopBeat();
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

  /** Whether the page reads; if it does again, it is told first what it missed. */
  #catchesUp(): boolean {
    if (this.#stream.backlog > BACKLOG_BYTES_MAX) return false;
    if (this.#droppedCalls > 0) {
      this.#stream.send("dropped", JSON.stringify({ calls: this.#droppedCalls }));
      this.#droppedCalls = 0;
    }
    for (const link of this.#heldLinks.values()) this.#stream.send("link", JSON.stringify(link));
    this.#heldLinks.clear();
    return true;
  }

  #beatLater(): void {
    this.#stopBeat = this.#deps.clock.after(BEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    try {
      if (!(await this.#mayLook())) return this.ended();
    } catch (error) {
      // Who can't be asked may go on: whatever is away now will be asked again.
      this.#deps.log.warn({ err: error }, "a live stream could not ask for its session");
    }
    if (this.#stream.isOver) return;
    if (this.#catchesUp()) this.#stream.comment("keep-alive");
    this.#beatLater();
  }
}
