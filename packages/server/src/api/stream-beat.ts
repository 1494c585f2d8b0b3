import type { Clock } from "../clock.ts";
import type { Log } from "../observe/log.ts";

/** How often a stream says that it is there and asks whether its visitor may still look. */
export const BEAT_MS = 15_000;

type BeatDeps = { readonly clock: Clock; readonly log: Log };

/** Whose heart beats: a stream that somebody looks at. */
export type Beating = {
  /** Whether the visitor still has the right to look. */
  readonly mayLook: () => Promise<boolean>;
  /** Says that the stream is there. */
  readonly keepAlive: () => void;
  /** The right is gone. */
  readonly ended: () => void;
};

/** Keeps one stream alive for as long as its visitor may look, and no longer. */
export class StreamBeat {
  readonly #deps: BeatDeps;
  readonly #beating: Beating;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  constructor(deps: BeatDeps, beating: Beating) {
    this.#deps = deps;
    this.#beating = beating;
    this.#later();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #later(): void {
    this.#cancel = this.#deps.clock.after(BEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    let mayLook = true;
    try {
      mayLook = await this.#beating.mayLook();
    } catch (error) {
      // Who can't be asked may go on: whatever is away now will be asked again.
      this.#deps.log.warn({ err: error }, "a live stream could not ask for its session");
    }
    if (this.#isStopped) return;
    if (!mayLook) return this.#beating.ended();
    this.#beating.keepAlive();
    this.#later();
  }
}
