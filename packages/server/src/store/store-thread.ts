import { Worker } from "node:worker_threads";
import { errorOf } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { StoreError } from "./store.ts";

/** What every thread of the store says first: its database is open, or why not. */
type Greeting =
  | { readonly type: "opened" }
  | { readonly type: "failed"; readonly failure: Failure };

/** What a thread tells its owner about. */
export type ThreadListener<FromThread> = {
  readonly message: (message: FromThread) => void;
  /** Called once, when the thread ends without having been asked to. */
  readonly died: (error: StoreError) => void;
};

/** One thread of the store, from the side of the thread that started it. */
export class StoreThread<ToThread extends { readonly type: string }, FromThread> {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #isClosing = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#exited = new Promise((resolve) => worker.once("exit", () => resolve()));
  }

  /** Starts the thread and waits for its database; rejects with what kept it from opening. */
  static async start<ToThread extends { readonly type: string }, FromThread>(
    script: URL,
    settings: object,
  ): Promise<StoreThread<ToThread, FromThread>> {
    const worker = new Worker(script, { workerData: settings });
    const thread = new StoreThread<ToThread, FromThread>(worker);
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new StoreError("unavailable", "A thread did not start.")));
    });
    worker.removeAllListeners("message");
    worker.removeAllListeners("error");
    if (greeting.type === "opened") return thread;
    await thread.#exited;
    throw errorOf(greeting.failure);
  }

  /** Begins to listen; must be called in the turn in which `start` resolved. */
  listen(listener: ThreadListener<FromThread>): void {
    let cause: unknown;
    this.#worker.on("message", listener.message);
    this.#worker.on("error", (error) => (cause = error));
    this.#worker.once("exit", () => {
      if (this.#isClosing) return;
      listener.died(
        new StoreError("unavailable", "A thread of the store has ended by itself.", { cause }),
      );
    });
  }

  post(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    this.#worker.postMessage(message);
  }

  /** Lets the thread finish what it was sent and close its database. */
  async close(message: ToThread): Promise<void> {
    this.#isClosing = true;
    this.post(message);
    await this.#exited;
  }
}
