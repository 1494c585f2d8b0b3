import process from "node:process";
import { OUTCOME_NAMES, isCounted } from "@relay/protocol";
import type { CloseCode, Outcome } from "@relay/protocol";
import { Counter, Gauge, Registry } from "prom-client";
import { EventLoop } from "./event-loop.ts";
import type { CallTimes, Meter, SocketEnd, StatusClass } from "./meter.ts";
import { METRICS, METRIC_NAMES } from "./metric-table.ts";
import type { MetricName, MetricRule, PartsMetric } from "./metric-table.ts";
import { TalliedCounter, TalliedHistogram } from "./tallies.ts";

/** What Relay's parts say of themselves at a scrape, by the metric it becomes. */
export type Readings = Readonly<Record<PartsMetric, number>>;

/**
 * The metrics of one Relay as Prometheus reads them: counts what it is told and reads the rest at a
 * scrape. Every name and every value of a label is of the table `METRICS`.
 */
export class Metrics implements Meter {
  readonly #registry = new Registry();
  readonly #eventLoop = new EventLoop();
  readonly #requests = new TalliedCounter<string, StatusClass>(
    this.#counter("relay_http_requests_total"),
    ["route", "status"],
  );
  readonly #upgradesRefused = this.#counter("relay_upgrades_refused_total");
  readonly #socketsOpened = this.#counter("relay_sockets_opened_total");
  readonly #socketsClosed = this.#counter("relay_sockets_closed_total");
  readonly #hellosAccepted = this.#counter("relay_hellos_accepted_total");
  readonly #hellosRefused = this.#counter("relay_hellos_refused_total");
  readonly #calls = new TalliedCounter<Outcome, "true" | "false">(
    this.#counter("relay_calls_total"),
    ["outcome", "counted"],
  );
  readonly #callDuration = this.#histogram<Outcome>("relay_call_duration_seconds", "outcome");
  readonly #appDuration = this.#histogram<Outcome>("relay_call_app_duration_seconds", "outcome");
  readonly #settleDelay = this.#histogram("relay_settle_delay_seconds", null);
  readonly #loopDelay = this.#gauge("relay_event_loop_delay_seconds");
  /** The metrics that are one number, read at a scrape. */
  readonly #read = new Map<string, Counter | Gauge>();

  constructor(version: string) {
    this.#gauge("relay_build_info").set({ version }, 1);
    for (const name of METRIC_NAMES) {
      const { from, type, labels } = METRICS[name];
      if (from === "event" || Object.keys(labels).length > 0) continue;
      this.#read.set(name, type === "counter" ? this.#counter(name) : this.#gauge(name));
    }
    // What has not happened yet is 0, so that its first time shows as an increase.
    const { code: helloCodes } = METRICS.relay_hellos_refused_total.labels;
    for (const code of helloCodes) this.#hellosRefused.inc({ code }, 0);
    for (const outcome of OUTCOME_NAMES) {
      for (const sent of [true, false]) {
        this.#calls.add(outcome, isCounted(outcome, sent) ? "true" : "false", 0);
      }
    }
  }

  exchangeEnded(route: string, status: StatusClass): void {
    this.#requests.add(route, status);
  }

  upgradeRefused(status: number): void {
    this.#upgradesRefused.inc({ status });
  }

  socketOpened(): void {
    this.#socketsOpened.inc();
  }

  socketClosed({ code, by }: SocketEnd): void {
    this.#socketsClosed.inc({ code: KNOWN_CLOSE_CODES.has(String(code)) ? code : "other", by });
  }

  helloAccepted(): void {
    this.#hellosAccepted.inc();
  }

  helloRefused(code: CloseCode): void {
    this.#hellosRefused.inc({ code });
  }

  callEnded(outcome: Outcome, counted: boolean): void {
    this.#calls.add(outcome, counted ? "true" : "false");
  }

  callAnswered(outcome: Outcome, { wholeMs, appMs }: CallTimes): void {
    this.#callDuration.observe(wholeMs / 1000, outcome);
    this.#appDuration.observe(appMs / 1000, outcome);
  }

  rowWritten(delayMs: number): void {
    this.#settleDelay.observe(delayMs / 1000);
  }

  /** Returns all of it in Prometheus's text format. */
  scrape(readings: Readings): Promise<string> {
    this.#requests.show();
    this.#calls.show();
    const { p50, p99, max, busy } = this.#eventLoop.read();
    this.#loopDelay.set({ quantile: "0.5" }, p50);
    this.#loopDelay.set({ quantile: "0.99" }, p99);
    this.#loopDelay.set({ quantile: "1" }, max);
    const all = { ...readings, ...processReadings(), relay_event_loop_utilization_ratio: busy };
    for (const [name, value] of Object.entries(all)) show(this.#read.get(name), value);
    return this.#registry.metrics();
  }

  close(): void {
    this.#eventLoop.close();
  }

  #counter(name: MetricName): Counter {
    return new Counter(this.#definition(name));
  }

  #gauge(name: MetricName): Gauge {
    return new Gauge(this.#definition(name));
  }

  #histogram<Label extends string = never>(
    name: MetricName,
    label: string | null,
  ): TalliedHistogram<Label> {
    const { help, buckets = [] }: MetricRule = METRICS[name];
    return new TalliedHistogram<Label>({ name, help }, buckets, label, this.#registry);
  }

  #definition(name: MetricName) {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: Object.keys(labels), registers: [this.#registry] };
  }
}

const KNOWN_CLOSE_CODES: ReadonlySet<string> = new Set(
  METRICS.relay_sockets_closed_total.labels.code,
);

function show(metric: Counter | Gauge | undefined, value: number): void {
  if (metric instanceof Gauge) metric.set(value);
  if (!(metric instanceof Counter)) return;
  metric.reset();
  metric.inc(value);
}

function processReadings(): Readonly<Record<string, number>> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    process_cpu_seconds_total: (user + system) / 1e6,
    process_resident_memory_bytes: rss,
    process_start_time_seconds: performance.timeOrigin / 1000,
    nodejs_heap_size_used_bytes: heapUsed,
    nodejs_external_memory_bytes: external,
  };
}
