import type { Locks } from "../runtime.ts";

type Request = {
  readonly grant: () => void;
  readonly isWaiting: () => boolean;
};

/** Web Locks of one browser, for tabs that are objects of one test. */
export class FakeLocks implements Locks {
  readonly #holders = new Map<string, { readonly steal: () => void }>();
  readonly #queues = new Map<string, Request[]>();
  /** While true, every request is refused, as in a sandboxed frame. */
  isRefusing = false;

  request(
    name: string,
    options: Parameters<Locks["request"]>[1],
    callback: Parameters<Locks["request"]>[2],
  ): Promise<unknown> {
    if (this.isRefusing) return Promise.reject(new DOMException("no locks here", "SecurityError"));
    return new Promise((resolve, reject) => {
      const run = (): void => {
        const holder = { steal: () => reject(new DOMException("stolen", "AbortError")) };
        this.#holders.set(name, holder);
        const free = (): void => {
          if (this.#holders.get(name) !== holder) return;
          this.#holders.delete(name);
          this.#grantNext(name);
        };
        void Promise.resolve(callback({ name })).then(resolve, reject).finally(free);
      };
      // Answers come later than the request, as a browser's do.
      queueMicrotask(() => {
        const holder = this.#holders.get(name);
        if (options.signal?.aborted === true) return reject(new DOMException("", "AbortError"));
        if (holder === undefined) return run();
        if (options.steal === true) {
          holder.steal();
          return run();
        }
        if (options.ifAvailable === true) return resolve(callback(null));
        let isWaiting = true;
        options.signal?.addEventListener("abort", () => {
          isWaiting = false;
          reject(new DOMException("", "AbortError"));
        });
        const queue = this.#queues.get(name) ?? [];
        this.#queues.set(name, queue);
        queue.push({ grant: run, isWaiting: () => isWaiting });
      });
    });
  }

  #grantNext(name: string): void {
    const queue = this.#queues.get(name) ?? [];
    const next = queue.shift();
    if (next === undefined) return;
    if (next.isWaiting()) next.grant();
    else this.#grantNext(name);
  }
}
