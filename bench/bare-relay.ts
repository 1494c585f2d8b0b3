/**
 * The platform's limit: a relay of node:http and ws that checks nothing, counts nothing and keeps
 * nothing. `POST /{n}` goes to the app that said it is `n`, and its answer comes back as one event.
 */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";

const apps = new Map<string, WebSocket>();
const waiting = new Map<string, ServerResponse>();
let lastId = 0;

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    const message = JSON.parse(body) as { params: { name: string; arguments: unknown } };
    const id = String((lastId += 1));
    waiting.set(id, response);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const { name, arguments: args } = message.params;
    apps
      .get(request.url ?? "")
      ?.send(JSON.stringify({ type: "call", id, tool: name, arguments: args }));
  });
});
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (app) => {
    apps.set(request.url ?? "", app);
    app.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as { id: string; content: unknown };
      const response = waiting.get(frame.id);
      waiting.delete(frame.id);
      const result = { jsonrpc: "2.0", id: 1, result: { content: frame.content, isError: false } };
      response?.end(`event: message\ndata: ${JSON.stringify(result)}\n\n`);
    });
  });
});
server.listen(0, "127.0.0.1", () => {
  // A TCP server's address is an AddressInfo.
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
