import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { apiUrl } from "./client.ts";
import { meQuery } from "./session.ts";

/** `asleep`: the page is not looked at, so nothing is sent to it. */
export type LiveState = "connecting" | "live" | "asleep";

/** What is done with each event by its name; `open` when the stream is there, or there again. */
export type StreamListeners = {
  readonly open?: () => void;
  readonly events: Readonly<Record<string, (data: string) => void>>;
};

/** A stream that was refused is asked for again after so long, then after twice as long, and so on. */
const AGAIN_FIRST_MS = 2_000;
const AGAIN_MAX_MS = 60_000;

/** Holds a stream of Relay's events while the page is looked at; says how it stands. */
export function useStream(path: string, listeners: StreamListeners): LiveState {
  const client = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const newest = useRef(listeners);
  useEffect(() => {
    newest.current = listeners;
  });
  useEffect(() => {
    const stream = new SeenStream(path, newest.current, {
      open: () => newest.current.open?.(),
      event: (name, data) => newest.current.events[name]?.(data),
      state: setState,
      // A refusal can't be read from a stream; if it is the session that is over, the sign-in shows.
      refused: () => void client.invalidateQueries({ queryKey: meQuery.queryKey }),
    });
    return () => stream.close();
  }, [path, client]);
  return state;
}

type Heard = {
  readonly open: () => void;
  readonly event: (name: string, data: string) => void;
  readonly state: (state: LiveState) => void;
  readonly refused: () => void;
};

/** An `EventSource` for the times when the page is seen, which comes back after a refusal too. */
class SeenStream {
  readonly #path: string;
  readonly #names: readonly string[];
  readonly #heard: Heard;
  readonly #seenOrNot = (): void => this.#update();
  #source: EventSource | null = null;
  #again: ReturnType<typeof setTimeout> | undefined;
  #againMs = AGAIN_FIRST_MS;

  constructor(path: string, { events }: StreamListeners, heard: Heard) {
    this.#path = path;
    this.#names = Object.keys(events);
    this.#heard = heard;
    this.#update();
    document.addEventListener("visibilitychange", this.#seenOrNot);
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.#seenOrNot);
    this.#leave();
  }

  #update(): void {
    this.#leave();
    this.#againMs = AGAIN_FIRST_MS;
    if (document.hidden) this.#heard.state("asleep");
    else this.#enter();
  }

  #leave(): void {
    clearTimeout(this.#again);
    this.#source?.close();
    this.#source = null;
  }

  #enter(): void {
    const source = new EventSource(apiUrl(this.#path));
    this.#source = source;
    this.#heard.state("connecting");
    for (const name of this.#names) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) =>
        this.#heard.event(name, data),
      );
    }
    source.addEventListener("open", () => {
      this.#againMs = AGAIN_FIRST_MS;
      this.#heard.state("live");
      this.#heard.open();
    });
    source.addEventListener("error", () => {
      this.#heard.state("connecting");
      // What was only cut off the browser asks for again by itself; what was refused it does not.
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return;
      this.#heard.refused();
      this.#again = setTimeout(() => this.#enter(), this.#againMs);
      this.#againMs = Math.min(AGAIN_MAX_MS, this.#againMs * 2);
    });
  }
}
