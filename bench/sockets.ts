/** What 10,000 apps cost: the rate at which they come back after a restart, and memory each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { relayTargets } from "./calls.ts";
import { Child } from "./child.ts";
import type { StormJob, StormResult } from "./storm.ts";

const SOCKETS = 10_000;
const AT_ONCE = 256;
/** Opened first, so that what is loaded once is not counted as a socket's. */
const WARM_UP = 200;

/** Prints hellos a second in a storm, and the memory of an idle socket with 6 tools. */
export async function benchSockets(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "relay-bench-"));
  const relay = new Child("bench/relay-server.ts", [], {
    RELAY_PORT: "0",
    RELAY_DATA_DIR: dataDir,
    RELAY_LOG_LEVEL: "warn",
    RELAY_LINKS_PER_IP_PER_MINUTE: "100000",
    RELAY_LINKS_PER_PROJECT: "20000",
    RELAY_SOCKETS_PER_PROJECT: "20000",
    RELAY_PENDING_SOCKETS_PER_IP: "20000",
  });
  const apps = new Child("bench/storm.ts");
  try {
    const targets = await relayTargets(relay, dataDir, SOCKETS + WARM_UP);
    const storm = (some: typeof targets): Promise<StormResult> =>
      apps.ask<StormResult>({ targets: some, atOnce: AT_ONCE } satisfies StormJob);
    await storm(targets.slice(SOCKETS));
    const before = await relay.ask<{ rss: number; heapUsed: number }>("gc");
    const { seconds } = await storm(targets.slice(0, SOCKETS));
    const after = await relay.ask<{ rss: number; heapUsed: number }>("gc");
    console.log(`\n${SOCKETS} apps with 6 tools, the same manifest each\n`);
    console.log(
      `  storm: ${seconds.toFixed(2)} s from the first SYN to the last ready, ${(SOCKETS / seconds).toFixed(0)} a second`,
    );
    const each = (bytes: number): string => (bytes / SOCKETS / 1024).toFixed(1);
    console.log(
      `  idle:  ${each(after.rss - before.rss)} KB a socket (RSS), of which ${each(after.heapUsed - before.heapUsed)} KB heap\n`,
    );
  } finally {
    relay.kill();
    apps.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
