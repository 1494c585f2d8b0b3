import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { AppWebSocket } from "./app-web-socket.ts";
import { Outbox } from "./outbox.ts";

/** Connects an app, lets `act` do things with the relay's end, returns what the app saw. */
async function seen(t: TestContext, act: (socket: AppWebSocket) => void): Promise<string[]> {
  const outbox = new Outbox();
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, WebSocket: AppWebSocket });
  t.after(() => server.close());
  await once(server, "listening");
  server.on("connection", (socket, request) => {
    socket.sendBy(request.socket, outbox);
    act(socket);
  });
  // A TCP server's address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const app = new WebSocket(`ws://127.0.0.1:${port}`);
  const events: string[] = [];
  app.on("message", (data: Buffer) => events.push(`text ${data.toString("utf8")}`));
  app.on("ping", (data) => events.push(`ping ${data.toString("utf8")}`));
  const [code] = (await once(app, "close")) as [number];
  return [...events, `close ${code}`];
}

test("held frames leave in their order, before a ping and before a close", async (t) => {
  const events = await seen(t, (socket) => {
    socket.sendText("1");
    socket.sendText("2");
    socket.ping("3");
    socket.sendText("4");
    socket.close(4001, "x");
  });
  assert.deepEqual(events, ["text 1", "text 2", "ping 3", "text 4", "close 4001"]);
});

test("a connection that is dropped has sent what it held", async (t) => {
  const events = await seen(t, (socket) => {
    socket.sendText("1");
    socket.terminate();
  });
  assert.deepEqual(events, ["text 1", "close 1006"]);
});

test("what is held counts as unsent until the turn ends, and leaves then by itself", async (t) => {
  const unsent: number[] = [];
  const events = await seen(t, (socket) => {
    socket.sendText("12345678");
    unsent.push(socket.unsentBytes);
    setImmediate(() => {
      unsent.push(socket.unsentBytes);
      socket.close(4001, "x");
    });
  });
  assert.deepEqual(events, ["text 12345678", "close 4001"]);
  assert.deepEqual(unsent, [10, 0], "a header of two bytes and eight of text");
});

test("holders are flushed once each, in the order they came", async () => {
  const flushed: string[] = [];
  const outbox = new Outbox();
  outbox.add({ flush: () => flushed.push("a") });
  outbox.add({ flush: () => flushed.push("b") });
  assert.deepEqual(flushed, []);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.deepEqual(flushed, ["a", "b"]);
});
