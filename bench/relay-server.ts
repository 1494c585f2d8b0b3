/**
 * A Relay whose memory can be asked for: prints its address, and for each line on stdin the bytes it
 * keeps after a forced collection (run with `--expose-gc`).
 */
import { createInterface } from "node:readline";
import { startRelay } from "../packages/server/src/commands/serve.ts";
import { readConfig } from "../packages/server/src/config.ts";
import { openLog } from "../packages/server/src/observe/log.ts";

const reading = readConfig(process.env);
if (!reading.ok) throw new Error(reading.faults.join("; "));
const relay = await startRelay(reading.config, openLog("warn"));
console.log(`Relay is running at ${relay.urls.public}`);

for await (const question of createInterface({ input: process.stdin })) {
  if (question === "") continue;
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  console.log(JSON.stringify({ rss, heapUsed, external }));
}
