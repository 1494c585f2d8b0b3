/** How numbers, sizes and times are written for a person. */
const COUNT = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });

const STEPS = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
] as const;

export function count(value: number): string {
  return COUNT.format(value);
}

/** `1.2K` above ten thousand, where only the size of a number matters. */
export function shortCount(value: number): string {
  return value < 10_000 ? COUNT.format(value) : COMPACT.format(value);
}

/** `1 link`, `2 links`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${COUNT.format(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`;
  const kilobytes = value / 1_024;
  return kilobytes < 1_024
    ? `${kilobytes.toFixed(kilobytes < 10 ? 1 : 0)} KB`
    : `${(kilobytes / 1_024).toFixed(1)} MB`;
}

/** `840 ms`, `12.4 s`, `3 min 5 s`, `2 h 10 min`, `4 d`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

/** `just now`, `5 min. ago`, `in 2 days`. */
export function relativeTime(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  const step = STEPS.find((candidate) => Math.abs(ms) >= candidate.ms);
  return step === undefined ? "just now" : RELATIVE.format(Math.round(ms / step.ms), step.unit);
}

/** In the person's own time zone, to the second. */
export function fullTime(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
  });
}

export function clockTime(iso: string): string {
  return new Date(iso).toLocaleTimeString("en-GB", { hour12: false });
}

/** Micro-units of the currency that the operator's prices are in: `12.50`, `0.001`. */
export function money(micros: number): string {
  return (micros / 1_000_000).toLocaleString("en", {
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  });
}

/** Marks that change the direction of what follows, so that code reads as what it is not. */
const TURNING_MARKS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** A value as indented JSON in which every mark of direction is written out, as JSON may. */
export function jsonLines(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    TURNING_MARKS,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The first block of an id, enough to tell it from its neighbours. */
export function shortId(id: string): string {
  return id.length > 13 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}
