/**
 * The apps' side of a storm, a process of its own: opens sockets as fast as it may and says hello on
 * each. Reads one job a line from stdin; writes the seconds from the first SYN to the last `ready`.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Target } from "./load.ts";

export type StormJob = { readonly targets: readonly Target[]; readonly atOnce: number };
export type StormResult = { readonly seconds: number; readonly ready: number };

for await (const line of createInterface({ input: process.stdin })) {
  const { targets, atOnce } = JSON.parse(line) as StormJob;
  const startedAt = performance.now();
  let next = 0;
  let ready = 0;
  const worker = async (): Promise<void> => {
    for (let target = targets[next]; target !== undefined; target = targets[next]) {
      next += 1;
      await open(target);
      ready += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(JSON.stringify({ seconds, ready } satisfies StormResult));
}
process.exit(0);

/**
 * Opens a WebSocket with as few bytes and as little work as the protocol allows, sends the hello and
 * resolves with `ready`. The socket stays open; pings are answered.
 */
function open(target: Target): Promise<void> {
  const url = new URL(target.socketUrl ?? "");
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    let isOpen = false;
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      if (!isOpen) {
        isOpen = true;
        socket.write(textFrame(target.hello ?? ""));
        return;
      }
      // A ping from the server: 0x89 and a length; its pong is the same with a mask of zeros.
      if (chunk[0] === 0x89) socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
      if (chunk.includes('"type":"ready"')) resolve();
    });
  });
}

/** A masked text frame; the mask is zero, so that the payload is itself. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}
