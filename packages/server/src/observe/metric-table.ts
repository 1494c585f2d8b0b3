import { CLOSE_CODES, OUTCOME_NAMES } from "@relay/protocol";

/** One metric: what it is called, what it counts, and the labels it has. */
export type MetricRule = {
  readonly type: "counter" | "gauge" | "histogram";
  /** Told as it happens (`event`), or read at a scrape from Relay's `parts` or from the `process`. */
  readonly from: "event" | "parts" | "process";
  readonly help: string;
  /** Each label with every value it may take, or a sentence where the code has no list of them. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>;
  /** Upper bounds of a histogram's buckets, in the metric's unit. */
  readonly buckets?: readonly number[];
};

/** From what a bare round trip takes to beyond the longest call there is by default. */
const CALL_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240,
] as const;
const WRITE_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
] as const;

/** The outcomes a call that was handed to an app can have. */
const OUTCOMES_AFTER_SENDING = [
  "ok",
  "tool_error",
  "timeout",
  "cancelled",
  "disconnected",
] as const satisfies readonly (typeof OUTCOME_NAMES)[number][];

/** Codes an app or a network ends a socket with; any other one that an app makes up is `other`. */
const OTHER_CLOSE_CODES = ["1000", "1001", "1005", "1006", "other"] as const;

/** What a hello is refused with. */
const HELLO_CLOSE_CODES = ["1011", "4400", "4401", "4403", "4423", "4429"] as const;

/** What Relay tells about sockets, hellos and HTTP. */
const EDGE_METRICS = {
  relay_http_requests_total: {
    type: "counter",
    from: "event",
    help: "HTTP requests that were answered, or whose client left before the answer was whole.",
    labels: {
      route: "The route's template, such as `/v1/mcp/{urlToken}`; `other` for unknown addresses.",
      status: ["2xx", "3xx", "4xx", "5xx", "aborted"],
    },
  },
  relay_upgrades_refused_total: {
    type: "counter",
    from: "event",
    help: "WebSocket upgrades that were refused, by HTTP status.",
    labels: { status: ["400", "421", "503"] },
  },
  relay_sockets_opened_total: {
    type: "counter",
    from: "event",
    help: "Sockets of apps that were opened.",
    labels: {},
  },
  relay_sockets_closed_total: {
    type: "counter",
    from: "event",
    help: "Sockets of apps that ended, by close code and by who ended them. 1006 by relay is a dropped connection.",
    labels: {
      code: [...Object.keys(CLOSE_CODES), ...OTHER_CLOSE_CODES],
      by: ["relay", "app", "network"],
    },
  },
  relay_sockets_open: {
    type: "gauge",
    from: "parts",
    help: "Sockets of apps that are open, with those that have not said hello.",
    labels: {},
  },
  relay_links_connected: {
    type: "gauge",
    from: "parts",
    help: "Links whose app is connected.",
    labels: {},
  },
  relay_hellos_accepted_total: {
    type: "counter",
    from: "event",
    help: "Hellos that made their socket the link's.",
    labels: {},
  },
  relay_hellos_refused_total: {
    type: "counter",
    from: "event",
    help: "Sockets that were refused at their hello, by the close code they got.",
    labels: { code: HELLO_CLOSE_CODES },
  },
  relay_receive_buffer_bytes: {
    type: "gauge",
    from: "parts",
    help: "Bytes of messages that apps have begun and not ended.",
    labels: {},
  },
  relay_send_buffer_bytes: {
    type: "gauge",
    from: "parts",
    help: "Bytes that wait to be sent to apps.",
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricRule>>;

/** What Relay tells about calls and about writing them down. */
const CALL_METRICS = {
  relay_calls_total: {
    type: "counter",
    from: "event",
    help: "Tool calls by outcome, and whether they use allowance or credit.",
    labels: { outcome: OUTCOME_NAMES, counted: ["true", "false"] },
  },
  relay_calls_in_flight: {
    type: "gauge",
    from: "parts",
    help: "Calls that are in an app or wait for their quota decision.",
    labels: {},
  },
  relay_call_duration_seconds: {
    type: "histogram",
    from: "event",
    help: "Calls that reached an app: from their start to the release of the answer, the row's write with it.",
    labels: { outcome: OUTCOMES_AFTER_SENDING },
    buckets: CALL_BUCKETS,
  },
  relay_call_app_duration_seconds: {
    type: "histogram",
    from: "event",
    help: "The app's part of a call: from the frame's sending to the outcome.",
    labels: { outcome: OUTCOMES_AFTER_SENDING },
    buckets: CALL_BUCKETS,
  },
  relay_settle_delay_seconds: {
    type: "histogram",
    from: "event",
    help: "From a call's outcome to its row on disk.",
    labels: {},
    buckets: WRITE_BUCKETS,
  },
  relay_store_unwritten_rows: {
    type: "gauge",
    from: "parts",
    help: "Rows of calls that are not on disk yet; at 10,000 new calls are turned away.",
    labels: {},
  },
  relay_store_write_delay_seconds: {
    type: "gauge",
    from: "parts",
    help: "The age of the oldest write that is not committed, 0 when there is none.",
    labels: {},
  },
  relay_store_writes_total: {
    type: "counter",
    from: "parts",
    help: "Writes the store has committed.",
    labels: {},
  },
  relay_store_commits_total: {
    type: "counter",
    from: "parts",
    help: "Groups of writes, each committed at once.",
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricRule>>;

/** What the process tells about itself; names that are not Relay's are the usual ones. */
const PROCESS_METRICS = {
  relay_event_loop_delay_seconds: {
    type: "gauge",
    from: "process",
    help: "How late timers ran since the last scrape; quantile 1 is the worst.",
    labels: { quantile: ["0.5", "0.99", "1"] },
  },
  relay_event_loop_utilization_ratio: {
    type: "gauge",
    from: "process",
    help: "The share of time since the last scrape in which the event loop was busy.",
    labels: {},
  },
  relay_build_info: {
    type: "gauge",
    from: "process",
    help: "Always 1; says which version runs.",
    labels: { version: "Relay's version." },
  },
  process_cpu_seconds_total: {
    type: "counter",
    from: "process",
    help: "Processor time the process has used, all threads.",
    labels: {},
  },
  process_resident_memory_bytes: {
    type: "gauge",
    from: "process",
    help: "Memory of the process that is in RAM.",
    labels: {},
  },
  nodejs_heap_size_used_bytes: {
    type: "gauge",
    from: "process",
    help: "Bytes of JavaScript objects on the main thread's heap.",
    labels: {},
  },
  nodejs_external_memory_bytes: {
    type: "gauge",
    from: "process",
    help: "Bytes held outside the heap for objects on it, buffers with them.",
    labels: {},
  },
  process_start_time_seconds: {
    type: "gauge",
    from: "process",
    help: "When the process started, in seconds since 1970 UTC.",
    labels: {},
  },
} as const satisfies Readonly<Record<string, MetricRule>>;

/** Every metric of `/metrics`, by name: the registry and the reference page are made from this. */
export const METRICS = { ...EDGE_METRICS, ...CALL_METRICS, ...PROCESS_METRICS } as const;

export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES: readonly MetricName[] =
  // The table's own keys.
  Object.keys(METRICS) as MetricName[];

/** The metrics that are read from Relay's parts at a scrape. */
export type PartsMetric = {
  [Name in MetricName]: (typeof METRICS)[Name]["from"] extends "parts" ? Name : never;
}[MetricName];
