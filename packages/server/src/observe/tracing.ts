import type { IncomingMessage } from "node:http";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Outcome } from "@relay/protocol";
import type { Log } from "./log.ts";
import type { RequestTrace, Tracer } from "./trace.ts";

/** Traces that are sent to a collector; `close` sends what is left. */
export type Tracing = { readonly tracer: Tracer; close(): Promise<void> };

type Variables = Readonly<Record<string, string | undefined>>;
type Api = typeof OpenTelemetry;

/** The usual variables that say where traces go: without one of them nothing is loaded. */
const ENDPOINT_VARIABLES = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_TRACES_EXPORTER",
];

/**
 * Opens traces over OTLP/HTTP if the usual `OTEL_…` variables ask for them; null if they don't, or
 * ask for a way of sending that Relay does not have. The exporter, the batches, the sampler and the
 * resource read their own variables from the process's environment.
 */
export async function openTracing(
  env: Variables,
  version: string,
  log: Log,
): Promise<Tracing | null> {
  if (!wantsTraces(env)) return null;
  const unknown = unknownWay(env);
  if (unknown !== null) {
    log.warn({ setting: unknown }, "traces are off: Relay sends them over OTLP/HTTP only");
    return null;
  }
  const [api, sdk, exporter, resources] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-node"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  reportTo(log, api);
  const own = { "service.name": "relay", "service.version": version };
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes(own))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  log.info({}, "requests are traced");
  return {
    tracer: new OpenTelemetryTracer(api, provider.getTracer("relay", version)),
    close: () => provider.shutdown(),
  };
}

function wantsTraces(env: Variables): boolean {
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  if (env["OTEL_TRACES_EXPORTER"]?.trim() === "none") return false;
  return ENDPOINT_VARIABLES.some((name) => (env[name] ?? "").trim() !== "");
}

/** The variable that asks for another exporter than OTLP, or another protocol than HTTP. */
function unknownWay(env: Variables): string | null {
  const exporter = env["OTEL_TRACES_EXPORTER"]?.trim() || "otlp";
  if (exporter !== "otlp") return "OTEL_TRACES_EXPORTER";
  for (const name of ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const protocol = env[name]?.trim() || null;
    if (protocol !== null) return protocol.startsWith("http/") ? null : name;
  }
  return null;
}

/** OpenTelemetry's own trouble, such as a collector that is away, ends up in the log. */
function reportTo(log: Log, { diag, DiagLogLevel }: Api): void {
  const say = (detail: string): void => log.warn({ detail }, "OpenTelemetry has trouble");
  const ignore = (): void => undefined;
  const sink = { error: say, warn: say, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(sink, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

class OpenTelemetryTracer implements Tracer {
  readonly #api: Api;
  readonly #tracer: OpenTelemetry.Tracer;

  constructor(api: Api, tracer: OpenTelemetry.Tracer) {
    this.#api = api;
    this.#tracer = tracer;
  }

  begin(request: IncomingMessage): RequestTrace {
    const method = METHODS.has(request.method ?? "") ? (request.method ?? "") : "_OTHER";
    const parent = contextOf(this.#api, request.headers["traceparent"]);
    const options = {
      kind: this.#api.SpanKind.SERVER,
      attributes: { "http.request.method": method },
    };
    const span = this.#tracer.startSpan(method, options, parent);
    return new RequestSpan(this.#api, this.#tracer, span, method);
  }
}

class RequestSpan implements RequestTrace {
  readonly #api: Api;
  readonly #tracer: OpenTelemetry.Tracer;
  readonly #span: OpenTelemetry.Span;
  readonly #method: string;
  #app: OpenTelemetry.Span | null = null;

  constructor(api: Api, tracer: OpenTelemetry.Tracer, span: OpenTelemetry.Span, method: string) {
    this.#api = api;
    this.#tracer = tracer;
    this.#span = span;
    this.#method = method;
  }

  callSent(): void {
    const inside = this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, this.#span);
    this.#app = this.#tracer.startSpan("app", { kind: this.#api.SpanKind.CLIENT }, inside);
  }

  callEnded(outcome: Outcome): void {
    this.#span.setAttribute("relay.outcome", outcome);
    this.#app?.setAttribute("relay.outcome", outcome);
    if (outcome === "timeout" || outcome === "disconnected") {
      this.#app?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    this.#app?.end();
  }

  ended(route: string, status: number, whole: boolean): void {
    this.#span.updateName(`${this.#method} ${route}`);
    this.#span.setAttributes({ "http.route": route, "http.response.status_code": status });
    if (!whole) this.#span.setAttribute("relay.aborted", true);
    if (status >= 500) this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    this.#span.end();
  }
}

/** Methods as OpenTelemetry names them; a client may send others. */
const METHODS: ReadonlySet<string> = new Set([
  "CONNECT",
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
  "TRACE",
]);

/** Version 00, or a later one, which may have more behind it. */
const TRACEPARENT =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

/** The caller's place in a trace by the W3C header; a trace of its own where there is none. */
function contextOf(api: Api, header: string | string[] | undefined): OpenTelemetry.Context {
  const [, traceId, spanId, flags] =
    TRACEPARENT.exec(typeof header === "string" ? header : "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return api.ROOT_CONTEXT;
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  if (!api.isSpanContextValid(caller)) return api.ROOT_CONTEXT;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, caller);
}
