/** A collector of traces as OpenTelemetry's exporters see one: OTLP over HTTP, kept in memory. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "./harness.ts";

export type CollectedSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
};

export type Collector = {
  readonly url: string;
  /** Where the exporter posted, and what. */
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  readonly spans: readonly CollectedSpan[];
  readonly resource: Readonly<Record<string, unknown>>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a collector on a free port. */
export async function openCollector(): Promise<Collector> {
  const paths: string[] = [];
  const bodies: string[] = [];
  const spans: CollectedSpan[] = [];
  const resource: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      paths.push(request.url ?? "");
      bodies.push(body);
      for (const batch of (JSON.parse(body) as JsonObject)["resourceSpans"]) {
        Object.assign(resource, attributesOf(batch.resource));
        for (const scope of batch.scopeSpans) spans.push(...scope.spans.map(spanOf));
      }
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const url = `http://127.0.0.1:${port}`;
  return { url, paths, bodies, spans, resource, [Symbol.asyncDispose]: close };
}

function spanOf(span: JsonObject): CollectedSpan {
  return {
    name: String(span["name"]),
    traceId: String(span["traceId"]),
    spanId: String(span["spanId"]),
    parentSpanId: String(span["parentSpanId"] ?? ""),
    kind: Number(span["kind"]),
    attributes: attributesOf(span),
    isError: span["status"]?.code === 2,
    startNanos: BigInt(span["startTimeUnixNano"]),
    endNanos: BigInt(span["endTimeUnixNano"]),
  };
}

function attributesOf(carrier: JsonObject): Record<string, unknown> {
  const entries = (carrier["attributes"] as JsonObject[]).map((attribute) => [
    attribute["key"],
    Object.values(attribute["value"] as JsonObject)[0],
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}
