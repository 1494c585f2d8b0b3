import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";

export type Log = Logger;

const SECRET = /\b(lt|ut|sk|op)_[0-9A-Za-z]{6,}/g;

/** Cuts every secret token in `text` to its prefix: the last net behind never logging one (SPEC 2). */
export function redact(text: string): string {
  return text.replaceAll(SECRET, "$1_***");
}

/**
 * Makes the process's logger: one JSON line each with a constant message and its data in fields, to
 * stderr unless told otherwise. Tokens, arguments, results and manifests are never logged.
 */
export function openLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redact },
    },
    destination ?? process.stderr,
  );
}
