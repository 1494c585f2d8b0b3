/**
 * Writes `docs/reference` from the tables in code. `npm run docs:reference` writes the pages;
 * `test/reference.test.ts` fails when one of them is not what the tables say.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLOSE_CODES,
  FRAME_ERRORS,
  LIMITS,
  OUTCOMES,
  REST_ERRORS,
  RPC_ERRORS,
  RPC_TEXTS,
  TOOL_ERROR_TEXTS,
  limitEnvName,
} from "@relay/protocol";
import type { CloseRule, LimitName, LimitRule } from "@relay/protocol";
import { SETTINGS } from "../packages/server/src/config.ts";
import { METRICS } from "../packages/server/src/observe/metric-table.ts";
import type { MetricRule } from "../packages/server/src/observe/metric-table.ts";

const NOTE = "<!-- Written by `npm run docs:reference` from the tables in code. -->";

/** Every reference page: its file name and its text. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ["limits.md", limitsPage()],
    ["outcomes.md", outcomesPage()],
    ["close-codes.md", closeCodesPage()],
    ["errors.md", errorsPage()],
    ["configuration.md", configurationPage()],
    ["metrics.md", metricsPage()],
  ]);
}

function limitsPage(): string {
  const names = Object.keys(LIMITS) as LimitName[];
  const rows = names.map((name) => {
    const rule: LimitRule = LIMITS[name];
    const setting = rule.settable ? `\`${limitEnvName(name)}\`` : "fixed";
    return [rule.title, `${number(rule.value)} ${rule.unit}`, rule.past, setting];
  });
  return page(
    "Limits",
    "Every limit Relay enforces. Characters are Unicode code points; bytes are those of the raw text as UTF-8.",
    table(["Limit", "Value", "Past the limit", "Set by"], rows),
  );
}

function outcomesPage(): string {
  const counted = { always: "Yes", never: "No", sent: "Yes, if it had reached the app" } as const;
  const outcomes = Object.entries(OUTCOMES).map(([name, rule]) => [
    `\`${name}\``,
    rule.meaning,
    counted[rule.counted],
  ]);
  const texts = [
    ["`rate_limited`", TOOL_ERROR_TEXTS.rate_limited("Notes", 12)],
    ["`paused`", TOOL_ERROR_TEXTS.paused("Notes")],
    ["`offline`", TOOL_ERROR_TEXTS.offline("Notes")],
    ["`busy`", TOOL_ERROR_TEXTS.busy("Notes")],
    ["`cap_reached`", TOOL_ERROR_TEXTS.cap_reached("Notes")],
    ["`quota_exceeded`", TOOL_ERROR_TEXTS.quota_exceeded("Notes")],
    ["`tool_error`, from the app", "The app's message"],
    ["`tool_error`, an unusable answer", TOOL_ERROR_TEXTS.unacceptable("&lt;reason&gt;")],
    ["`timeout`", TOOL_ERROR_TEXTS.timeout("Notes", LIMITS.callTimeoutSeconds.value)],
    ["`disconnected`", TOOL_ERROR_TEXTS.disconnected("Notes")],
    ["`cancelled`", TOOL_ERROR_TEXTS.cancelled()],
  ];
  return page(
    "Outcomes",
    "Each call ends in exactly one outcome. Only counted calls use allowance or credit.",
    table(["Outcome", "Meaning", "Counted"], outcomes),
    "## What the model is told",
    "These are tool results with `isError: true`. `Notes` stands for the app's name from its last hello, or the project's name before it. Branch on `isError`, never on the wording.",
    table(["Outcome", "Text"], texts),
  );
}

function closeCodesPage(): string {
  const rules: readonly (readonly [string, CloseRule])[] = Object.entries(CLOSE_CODES);
  return page(
    "Close codes",
    "What Relay closes an app's socket with. A connection that is dropped without a close frame is 1006 for the app: reconnect with backoff.",
    table(
      ["Code", "Meaning", "Reconnect"],
      rules.map(([code, rule]) => [code, rule.meaning, rule.reconnect ? "Yes" : "No"]),
    ),
  );
}

function errorsPage(): string {
  const rest = Object.entries(REST_ERRORS).map(([code, { status, meaning }]) => [
    `\`${code}\``,
    String(status),
    meaning,
  ]);
  const frames = Object.entries(FRAME_ERRORS).map(([code, meaning]) => [`\`${code}\``, meaning]);
  const rpc = Object.values(RPC_ERRORS).map(({ code, meaning }) => [String(code), meaning]);
  const messages = [
    RPC_TEXTS.unknownTool("&lt;name&gt;"),
    RPC_TEXTS.invalidArguments("&lt;name&gt;", "…"),
    RPC_TEXTS.methodNotFound("&lt;method&gt;"),
    RPC_TEXTS.disabled(),
  ];
  return page(
    "Errors",
    "Where an error shows depends on who asked: a developer's HTTP request, an app's frame, or a host's message.",
    "## REST",
    'Every refusal is `{ "error": { "code", "message", "requestId" } }`; the request id is in `X-Request-Id` too.',
    table(["Code", "Status", "Meaning"], rest),
    "## Error frames",
    "Sent to the app on its socket; the close codes have a page of their own.",
    table(["Code", "Meaning"], frames),
    "## JSON-RPC",
    `A request that is wrong in itself. It never reaches the app and never counts. Messages: ${messages.map((text) => `\`${text}\``).join(", ")}.`,
    table(["Code", "Meaning"], rpc),
  );
}

function configurationPage(): string {
  const rows = SETTINGS.map((setting) => [
    `\`${setting.env}\``,
    `\`${setting.flag}\``,
    setting.default === "" ? "not set" : `\`${setting.default}\``,
    setting.choices === undefined
      ? setting.doc
      : `${setting.doc} One of ${setting.choices.map((choice) => `\`${choice}\``).join(", ")}.`,
  ]);
  return page(
    "Configuration",
    "Every setting is an environment variable or a flag; a flag wins. An unknown `RELAY_…` variable, a bad value, or two values that contradict each other stop the start.",
    table(["Variable", "Flag", "Default", "For"], rows),
  );
}

function metricsPage(): string {
  const rules: readonly (readonly [string, MetricRule])[] = Object.entries(METRICS);
  const code = (text: string): string => `\`${text}\``;
  const rows = rules.map(([name, { type, help, labels }]) => [
    code(name),
    type,
    help,
    Object.keys(labels).map(code).join(", "),
  ]);
  const labels = rules.flatMap(([name, rule]) =>
    Object.entries(rule.labels).map(([label, values]) => [
      code(name),
      code(label),
      typeof values === "string" ? values : values.map(code).join(", "),
    ]),
  );
  return page(
    "Metrics",
    "`GET /metrics` is Prometheus's text format. It answers the machine Relay runs on, and through a proxy or from another machine whoever has the operator's token; `RELAY_METRICS` turns it off. Labels never hold a token, an id, a tool's name or anything else that a stranger chooses. `docs/grafana/relay.json` is a Grafana dashboard of these metrics.",
    table(["Metric", "Type", "What it says", "Labels"], rows),
    "## Labels",
    table(["Metric", "Label", "Values"], labels),
    "## Traces",
    "With `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_TRACES_EXPORTER=otlp` set, each HTTP request is a span, sent over OTLP/HTTP (as JSON), with the app's part of a call as a span inside it. Spans carry the route's template, the status and the call's outcome; a `traceparent` header of the caller is followed. The other `OTEL_…` variables for the exporter, the batches, the sampler and the resource have their usual meaning; `OTEL_SDK_DISABLED=true` turns traces off.",
  );
}

function page(title: string, ...parts: readonly string[]): string {
  return `# ${title}\n\n${NOTE}\n\n${parts.join("\n\n")}\n`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, "reference");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of referencePages()) writeFileSync(join(folder, name), text);
}
