import { translateError } from "./connection.ts";
import { errorOf } from "./failure.ts";
import type { ListArgs, ListResult, ListVerb } from "./lists.ts";
import type { FromReader, ToReader } from "./reader-messages.ts";
import type { StoreThread } from "./store-thread.ts";
import { StoreError } from "./store.ts";

/** Past so many lists that wait, new ones are refused. */
const WAITING_MAX = 1_000;

type ReaderThread = StoreThread<ToReader, FromReader>;
type Waiting = {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
};

/**
 * The lists that wait for the reader thread, which reads one after the other. The thread is started
 * by the first list, and again by the first one after it died.
 */
export class ListQueue {
  readonly #start: () => Promise<ReaderThread>;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Promise<ReaderThread> | null = null;
  #isClosed = false;
  #lastId = 0;

  constructor(start: () => Promise<ReaderThread>) {
    this.#start = start;
  }

  async read<Verb extends ListVerb>(
    verb: Verb,
    ...args: ListArgs[Verb]
  ): Promise<ListResult[Verb]> {
    if (this.#isClosed) throw new StoreError("closed", "The store is closed.");
    if (this.#waiting.size >= WAITING_MAX) {
      throw new StoreError("unavailable", "Too many lists are waiting to be read.");
    }
    const id = (this.#lastId += 1);
    const answer = new Promise<ListResult[Verb]>((resolve, reject) => {
      // The reader thread answers a verb with that verb's result.
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
    });
    this.#thread ??= this.#startThread();
    this.#thread.then(
      (thread) => thread.post({ type: "list", id, call: { verb, args } }),
      (error: unknown) => this.#end(error),
    );
    return answer;
  }

  /** Refuses what comes from now on and ends the thread, which first reads what was asked before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const starting = this.#thread;
    if (starting === null) return;
    try {
      const thread = await starting;
      if (this.#thread !== null) await thread.close({ type: "close" });
    } catch (error) {
      this.#end(error);
    }
  }

  async #startThread(): Promise<ReaderThread> {
    const thread = await this.#start();
    thread.listen({
      message: (message) => this.#answered(message),
      died: (error) => this.#end(error),
    });
    return thread;
  }

  #answered(message: FromReader): void {
    if (message.type !== "read" && message.type !== "refused") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "read") waiting?.resolve(message.result);
    else waiting?.reject(errorOf(message.failure));
  }

  /** The thread is gone, or never came. */
  #end(cause: unknown): void {
    this.#thread = null;
    const error = translateError(cause);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
