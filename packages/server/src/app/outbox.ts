/** A connection with frames that wait to leave. */
interface Holder {
  flush(): void;
}

/**
 * Lets the frames of one turn of the event loop leave together, one write after the other. Written
 * one by one, between the calls that cause them, each would wake an app's side that has just gone to
 * sleep, which costs more than the write.
 */
export class Outbox {
  #holders: Holder[] = [];

  /** `holder` is flushed at the end of this turn, in the order in which holders came. */
  add(holder: Holder): void {
    if (this.#holders.length === 0) setImmediate(() => this.#flush());
    this.#holders.push(holder);
  }

  #flush(): void {
    const holders = this.#holders;
    this.#holders = [];
    for (const holder of holders) holder.flush();
  }
}
