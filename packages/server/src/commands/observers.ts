import process from "node:process";
import type { AppSockets } from "../app/sockets.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Log } from "../observe/log.ts";
import { Metrics } from "../observe/metrics.ts";
import { openTracing } from "../observe/tracing.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { RelayNode } from "../relay/node.ts";
import type { SqliteStore } from "../store/sqlite.ts";
import { VERSION } from "./version.ts";

/** A collector that does not answer may hold up the end this long. */
const LAST_TRACES_MS = 1_000;

/** What is read at a scrape. */
export type Observed = {
  readonly node: RelayNode;
  readonly sockets: AppSockets;
  readonly store: SqliteStore;
};

/** Opens what watches a Relay: metrics unless they are off, traces if the environment wants them. */
export async function openObservers(config: Config, log: Log): Promise<Observers> {
  const metrics = config.metrics ? new Metrics(VERSION) : undefined;
  return new Observers(metrics, await openTracing(process.env, VERSION, log), log);
}

export class Observers {
  readonly meter: Metrics | undefined;
  readonly #tracing: Tracing | null;
  readonly #log: Log;

  constructor(metrics: Metrics | undefined, tracing: Tracing | null, log: Log) {
    this.meter = metrics;
    this.#tracing = tracing;
    this.#log = log;
  }

  get tracer(): Tracing["tracer"] | undefined {
    return this.#tracing?.tracer;
  }

  /** Returns what makes the text of `/metrics`; undefined when metrics are off. */
  scraperOf({ node, sockets, store }: Observed): (() => Promise<string>) | undefined {
    const metrics = this.meter;
    if (metrics === undefined) return undefined;
    return () => {
      const { writes, groups } = store.counts;
      return metrics.scrape({
        relay_sockets_open: sockets.count,
        relay_links_connected: node.registry.connectedCount,
        relay_receive_buffer_bytes: sockets.unfinishedBytes,
        relay_send_buffer_bytes: sockets.unsentBytes,
        relay_calls_in_flight: node.inFlight,
        relay_store_unwritten_rows: node.settler.unwritten,
        relay_store_write_delay_seconds: store.writeDelayMs() / 1000,
        relay_store_writes_total: writes,
        relay_store_commits_total: groups,
      });
    };
  }

  /** Sends the last traces, for at most a second. */
  async close(clock: Clock): Promise<void> {
    this.meter?.close();
    if (this.#tracing === null) return;
    const isSent = await Promise.race([
      this.#tracing.close().then(() => true),
      new Promise<boolean>((resolve) => clock.after(LAST_TRACES_MS, () => resolve(false))),
    ]).catch((error: unknown) => {
      this.#log.warn({ err: error }, "the last traces were not sent");
      return true;
    });
    if (!isSent) this.#log.warn({}, "the last traces were not sent in time");
  }
}
