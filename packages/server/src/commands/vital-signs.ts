import { statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Vitals } from "../api/operator-health.ts";
import type { AppSockets } from "../app/sockets.ts";
import type { Clock } from "../clock.ts";
import { EventLoop } from "../observe/event-loop.ts";
import { DATABASE_FILE } from "../store/sqlite.ts";

/** The event loop is watched for so long after somebody looked: a timer is not free. */
const WATCH_MS = 60_000;

type SignDeps = {
  readonly sockets: AppSockets;
  readonly dataDir: string;
  readonly clock: Clock;
};

/** What an operator asks of a process that the parts of Relay can't know themselves. */
export class VitalSigns {
  readonly #deps: SignDeps;
  readonly #startedAt: number;
  #eventLoop: EventLoop | null = null;
  #stopForgetting: () => void = () => undefined;

  constructor(deps: SignDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.wall();
  }

  read(): Vitals {
    return {
      startedAt: this.#startedAt,
      nodeVersion: process.versions.node,
      memoryBytes: process.memoryUsage.rss(),
      openSockets: this.#deps.sockets.count,
      storeBytes: storeBytes(this.#deps.dataDir),
      eventLoop: this.#readEventLoop(),
    };
  }

  close(): void {
    this.#stopForgetting();
    this.#eventLoop?.close();
    this.#eventLoop = null;
  }

  #readEventLoop(): Vitals["eventLoop"] {
    this.#stopForgetting();
    this.#stopForgetting = this.#deps.clock.after(WATCH_MS, () => this.close());
    const watched = this.#eventLoop?.read() ?? null;
    this.#eventLoop ??= new EventLoop();
    if (watched === null) return null;
    const { p50, p99, max, busy } = watched;
    return { p50Ms: inMs(p50), p99Ms: inMs(p99), maxMs: inMs(max), busy };
  }
}

function inMs(seconds: number): number {
  return Math.round(seconds * 1e5) / 100;
}

/** The database with its log. */
function storeBytes(dataDir: string): number {
  const path = join(dataDir, DATABASE_FILE);
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }));
  return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0);
}
