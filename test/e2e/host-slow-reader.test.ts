/** A host that does not read: what waits for it is bounded, and its answer still comes (SPEC 6). */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { CallStream } from "../../packages/server/src/host/sse.ts";
import { mintRequestId } from "../../packages/server/src/ids.ts";
import { Waits } from "../../packages/server/src/waits.ts";
import { RawConnection, requestText } from "./host-raw.ts";

const BACKLOG_MAX = 64 * 1024;

test("progress is dropped while 64 KiB wait for the host, and the answer comes behind what it got", async () => {
  const server = createServer();
  after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const host = new RawConnection(address.port);
  const asked = new Promise<ServerResponse>((resolve) =>
    server.once("request", (_request, response) => resolve(response)),
  );
  host.send(requestText(address.port, "GET", "/", { Connection: "close" }));
  const response = await asked;
  // Its own time, so that the rate of progress is not what bounds it here.
  let now = 0;
  const clock = { monotonic: () => now, wall: () => now, after: () => () => undefined };
  const stream = new CallStream(response, {
    clock,
    openings: new Waits(clock, 20),
    keepAliveMs: 15_000,
    requestId: mintRequestId(now),
    progressToken: '"t"',
  });
  stream.open();
  const message = "m".repeat(1_000);
  // Nothing is sent before this turn of the event loop ends.
  for (let progress = 1; progress <= 1_000; progress += 1) {
    now += 1_000;
    stream.progress({ progress, total: null, message });
  }
  const waiting = response.writableLength;
  assert.ok(waiting > BACKLOG_MAX && waiting < BACKLOG_MAX + 2_000, String(waiting));
  stream.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  const text = await host.closed;
  const values = [...text.matchAll(/"progress":(\d+)/g)].map(([, value]) => Number(value));
  assert.deepEqual(
    values,
    values.map((_, at) => at + 1),
  );
  assert.ok(values.length < 100);
  assert.match(text, /data: \{"jsonrpc":"2.0","id":1,"result":\{\}\}\n\n/);
});
