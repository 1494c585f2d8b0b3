import type { SoakReport } from "./soak.ts";
import type { Vitals } from "./server.ts";

/** How much the heap and what is outside of it grew from the middle to the end, in percent. */
export function growthPercent({ vitals }: SoakReport): number {
  return (memoryOf(vitals.end) / memoryOf(vitals.middle) - 1) * 100;
}

/** What a soak found, for people. */
export function reportText(report: SoakReport): string {
  const { book, vitals } = report;
  const outcomes = [...report.outcomes].toSorted(([, a], [, b]) => b - a);
  const lines = [
    "",
    `${report.calls} calls in ${report.seconds.toFixed(0)} s (${(report.calls / report.seconds).toFixed(0)} a second), ${report.socketsOpened} sockets opened, ${report.storms} storms`,
    ...outcomes.map(([outcome, calls]) => `  ${outcome.padEnd(15)} ${String(calls).padStart(8)}`),
    `unexplained: ${book.unexplained}`,
    `timed out because this machine let the app sleep: ${book.answeredTooLate}`,
    ...book.faults.map((fault) => `  ${fault}`),
    `counted: ${report.counted} in rows, ${report.usageCounted} in the usage, ${report.metricsCounted} in the metrics; spent ${report.spentMicros} millionths`,
    memoryLine("start", vitals.start),
    memoryLine("middle", vitals.middle),
    memoryLine("end", vitals.end),
    `heap + external from the middle to the end: ${growthPercent(report).toFixed(1)} %`,
    delayLine("to the middle", vitals.middle),
    delayLine("to the end", vitals.end),
    "",
  ];
  return lines.join("\n");
}

function memoryOf({ heapUsed, external }: Vitals): number {
  return heapUsed + external;
}

function memoryLine(when: string, vitals: Vitals): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1).padStart(6);
  return `memory at the ${when.padEnd(6)}  heap ${megabytes(vitals.heapUsed)} MB  external ${megabytes(vitals.external)} MB  RSS ${megabytes(vitals.rss)} MB`;
}

function delayLine(when: string, { delayMs }: Vitals): string {
  const { p50, p99, p999, max } = delayMs;
  return `event loop late, ${when}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, p99.9 ${p999.toFixed(1)} ms, max ${max.toFixed(0)} ms`;
}
