import { strict as assert } from "node:assert";
import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "./connection.ts";
import { failureOf } from "./failure.ts";
import { readList } from "./lists.ts";
import type { FromReader, ReaderSettings, ToReader } from "./reader-messages.ts";

/*
 * The thread for lists and sums: what may look at thousands of rows does not hold up the calls
 * that pass through the main thread.
 */

const CACHE_KIB = 8_192;
const BUSY_MS = 1_000;

const port = parentPort;
assert(port !== null, "runs as a worker thread");
const say = (message: FromReader): void => port.postMessage(message);
try {
  // Both ends of this channel are this folder's own.
  const { path } = workerData as ReaderSettings;
  const db = new Connection(path, { readOnly: true, cacheKiB: CACHE_KIB, busyMs: BUSY_MS });
  port.on("message", (message: ToReader) => {
    if (message.type === "close") {
      db.close();
      port.close();
      return;
    }
    const { id, call } = message;
    try {
      say({ type: "read", id, result: readList(db, call) });
    } catch (error) {
      say({ type: "refused", id, failure: failureOf(error) });
    }
  });
  say({ type: "opened" });
} catch (error) {
  say({ type: "failed", failure: failureOf(error) });
  port.close();
}
