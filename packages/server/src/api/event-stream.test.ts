import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { EventStream } from "./event-stream.ts";
import { OpenStream, contextOf } from "./test/open-stream.ts";

test(
  "a stream is closed once, also for one who left before it was opened",
  { timeout: 20_000 },
  async () => {
    for (const leavesFirst of [true, false]) {
      const left = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<number>();
      const server = createServer((_incoming, response) => {
        let count = 0;
        const onClose = (): void => {
          count += 1;
          setImmediate(() => closed.resolve(count));
        };
        const open = (): EventStream => new EventStream(contextOf(response), onClose);
        if (leavesFirst) response.once("close", open);
        else open();
        left.resolve();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      // A server that listens on a port has an address.
      const { port } = server.address() as AddressInfo;
      const client = request({ port, host: "127.0.0.1" }).on("error", () => undefined);
      client.end();
      await left.promise;
      client.destroy();
      assert.equal(await closed.promise, 1);
      await new Promise((resolve) => server.close(resolve));
    }
  },
);

test("what is only offered is left out while the client does not read, and comes again after", async () => {
  using open = await OpenStream.open();
  const { stream } = open;
  stream.offer("health", "first");
  await open.fill();
  const { backlog } = stream;
  for (let count = 0; count < 1_000; count += 1) stream.offer("health", "lost");
  assert.equal(stream.backlog, backlog);
  const reading = open.readUntil("data: last");
  while (stream.isBehind) await new Promise((resolve) => setImmediate(resolve));
  stream.offer("health", "last");
  const text = await reading;
  assert.deepEqual(text.match(/data: \w+/g), ["data: first", "data: last"]);
});
