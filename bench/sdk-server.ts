/**
 * The official SDK's stateless server (v1), called directly, with the same tool: what a host would
 * talk to if the app could be reached. It is installed with the test clients.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const clients = createRequire(new URL("../test/clients/package.json", import.meta.url));
const load = async (name: string): Promise<Record<string, never>> =>
  (await import(pathToFileURL(clients.resolve(name)).href)) as Record<string, never>;

const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = await load(
  "@modelcontextprotocol/sdk/server/streamableHttp.js",
);
const z = await load("zod");

// The SDK's own types are not installed here: what is used of them is this.
type Server = {
  registerTool(name: string, definition: unknown, run: () => Promise<unknown>): void;
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
};
type Transport = {
  handleRequest(request: unknown, response: unknown, body: unknown): Promise<void>;
};
type Make<Made> = new (...options: readonly unknown[]) => Made;

function newServer(): Server {
  const server = new (McpServer as unknown as Make<Server>)({ name: "Notes", version: "1" });
  const { string, number } = z as unknown as {
    string: (this: void) => { min(n: number): { max(n: number): unknown } };
    number: (this: void) => {
      int(): { min(n: number): { max(n: number): { optional(): unknown } } };
    };
  };
  const definition = {
    description: "Full-text search of the person's notes",
    inputSchema: {
      query: string().min(1).max(200),
      limit: number().int().min(1).max(100).optional(),
    },
  };
  server.registerTool("search_notes", definition, async () => ({
    content: [
      { type: "text", text: "3 notes match: Q3 invoices, Invoice template, Unpaid invoices." },
    ],
  }));
  return server;
}

const http = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    // Stateless, as the SDK's documentation has it: a server and a transport for every request.
    const transport = new (StreamableHTTPServerTransport as unknown as Make<Transport>)({
      sessionIdGenerator: undefined,
    });
    const server = newServer();
    response.on("close", () => void server.close());
    void server
      .connect(transport)
      .then(() => transport.handleRequest(request, response, JSON.parse(body)));
  });
});
http.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: (http.address() as AddressInfo).port }));
});
